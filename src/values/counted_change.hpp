// Changing a number on the server.
#pragma once

#include "redis/calls/idempotent_call.hpp"
#include "redis/dialects/holdfast/counter.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::values {

// Counts once, however often it is asked. Throws failure as calls::ask_once does, and for a key
// that holds no number.
inline dialects::counted change(runtime::client_core& core, const dialects::value_key& key,
                                const dialects::once_call& asked,
                                const redis_locks::bound& within = {}) {
  return calls::accept(dialects::read_counted(key, calls::ask_once(core, asked, within)));
}

}  // namespace holdfast::values
