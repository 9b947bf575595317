// Makes the locks of the holdfast layout.
#pragma once

#include <memory>
#include <string_view>

#include <holdfast/dialect.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>

#include "base/lock_key.hpp"
#include "redis/dialects/foreign_recipe.hpp"
#include "runtime/client_core.hpp"
#include "runtime/local_lock.hpp"
#include "runtime/lock_spec.hpp"

namespace holdfast::api {

// The lock that only one can hold. Throws failure{invalid_name, invalid_argument, forked}.
lock make_mutex(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                const mutex_options& options, const dialect& how);

// The parts of a recursive mutex; all handles of the same mutex get the same. Throws as above.
std::shared_ptr<runtime::local_lock> make_recursive_lock(
    const std::shared_ptr<runtime::client_core>& core, std::string_view name,
    const mutex_options& options, const dialect& how);

// The reader of a read-write lock, also in a layout that has some. Throws also
// failure{unsupported}.
lock make_reader(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                 const mutex_options& options, const dialect& how);

// Permits of a semaphore, also in a layout that has some. Throws also failure{unsupported}.
lock make_semaphore(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                    const mutex_options& options, const dialect& how, substrate::demand wants);

// A lock that several can hold, wanted in this way: without `retain` and with tokens.
lock make_shared_lock(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                      const mutex_options& options, substrate::demand wants);

// How one of several that can hold it wants it, or a barrier's parties. Lives as long as the lock.
const substrate::demand& demand_of(const lock& which);

// Its name, and in which hash slot it is kept. Lives as long as the lock.
const lock_key& key_of(const lock& which);

// How it is written by another library; null: in Holdfast's own way.
const dialects::foreign_recipe* foreign_of(const lock& which);

// The same lock as `like`, wanted in this way.
lock make_alike(const lock& like, substrate::demand wants);

// The parts of `held`. Throws failure{invalid_argument} when it is not a lease of the lock `like`
// in one of the modes `in`; `which` ends the sentence that says so.
std::shared_ptr<runtime::lock_driver> driver_of(const lock& like, const lease& held,
                                                std::string_view in, const char* which);

// A lock that comes in the place of `held` when it is acquired. Throws
// failure{invalid_argument} when `held` is not a lease of the lock `like`, in one of the modes
// `from`.
lock make_change(const lock& like, const lease& held, std::string_view from, char to);

// A latch, also in a layout that has some. Throws also failure{unsupported}.
lock make_latch(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                const dialect& how);

// A latch or a barrier, which clients wait for and do not hold. Its leases are over when they are
// given.
lock make_gate(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
               const dialects::recipe& how, std::shared_ptr<const substrate::demand> wants = {});

}  // namespace holdfast::api
