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

// Runs every script of the mutex as locks do, and those that operators need, on a lock that nobody
// uses. `ask` sends one of them to the server that has the lock; no answer counts as an error
// reply.
finding try_every_script(runtime::client_core& core, const lock_key& key, const request_id& owner,
                         const std::function<resp::value(const calls::writing&)>& ask);

}  // namespace holdfast::doctor
