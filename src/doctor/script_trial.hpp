// Whether the scripts of a lock run.
#pragma once

#include <functional>

#include <holdfast/inspector.hpp>

#include "base/lock_key.hpp"
#include "base/request_id.hpp"
#include "redis/calls/ask.hpp"
#include "redis/resp/value.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::doctor {

// Runs every script of the mutex the way it runs in earnest, and those that operators need, on a
// lock that nobody uses. `ask` sends one of them to whoever has the lock; no answer is an error
// reply as well.
finding try_every_script(runtime::client_core& core, const lock_key& key, const request_id& owner,
                         const std::function<resp::value(const calls::writing&)>& ask);

}  // namespace holdfast::doctor
