// Every dialect x kind in one place.
#pragma once

#include <span>

#include <holdfast/capabilities.hpp>
#include <holdfast/options.hpp>

#include "redis/dialects/recipe.hpp"

namespace holdfast::dialects {

// The recipe of the native mutex, with or without fencing tokens. Lives for ever.
const recipe& native_mutex(fencing how) noexcept;

// The recipe of all native locks that several may hold: claims of it say their demand.
const recipe& native_shared_lock() noexcept;

// The recipes of the native latch and of the barrier, where a client that has passed holds nothing.
const recipe& native_latch() noexcept;
const recipe& native_barrier() noexcept;

// A row of the catalogue, for users, documentation and tests.
struct catalog_entry {
  capability what;
  const recipe* how;                             // null for values, which nobody holds or waits for
  std::span<const resp::script* const> scripts;  // all that it may send, but those of a user
};
std::span<const catalog_entry> catalog();

// Those that a client loads when it logs in.
std::span<const resp::script* const> login_scripts() noexcept;

// Scripts sent beside it to look at locks of any kind.
std::span<const resp::script* const> viewer_scripts() noexcept;

// And those that break them.
std::span<const resp::script* const> operator_scripts() noexcept;

// Scripts that clients send beside it to look for deadlocks.
std::span<const resp::script* const> deadlock_scripts() noexcept;

// And to keep an audit trail.
std::span<const resp::script* const> audit_scripts() noexcept;

}  // namespace holdfast::dialects
