// What a machine tells the runtime to do next. Plain data: comparable, printable, copyable.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/errc.hpp>

#include "base/time.hpp"
#include "dialects/recipe.hpp"

namespace holdfast::leasing {

// Which command to write for the machine's claim.
enum class ask : std::uint8_t { nothing, acquire, release, withdraw };

// Why no answer came.
enum class missing : std::uint8_t {
  not_sent,  // it never left: nothing can have happened at the server
  unknown,   // it may or may not have been executed
};

// What became of an acquisition, for the caller. `code` is unset when the lock is held.
struct acquire_outcome {
  std::optional<errc> code;
  std::string detail;
  dialects::granted grant;        // when held
  monotonic_time deadline{};      // when held: the lease certainly lasts until then
  friend bool operator==(const acquire_outcome&, const acquire_outcome&) = default;
};

struct step {
  ask send = ask::nothing;
  bool resend = false;                     // an earlier copy may have been executed
  std::optional<monotonic_time> wake_at;   // call on_timer then; replaces what was set before
  std::optional<acquire_outcome> done;     // tell the caller, once
  bool finished = false;                   // nothing will follow; the machine may be destroyed
  friend bool operator==(const step&, const step&) = default;
};

std::string to_string(const step&);

}  // namespace holdfast::leasing
