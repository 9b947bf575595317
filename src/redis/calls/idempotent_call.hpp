// Asking as often as it takes, and changing a value at the server at most once all the same.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <variant>

#include "redis/dialects/holdfast/once.hpp"
#include "redis/locks/blocking_request.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::calls {

using redis_locks::bound;

// Until connect_timeout and twice response_timeout have passed: of a call that asks several times,
// all of them together.
bound usual_bound(runtime::client_core& core);

// Thread safety: any thread. The first two send a request again when its answer is lost. All throw
// failure when the usual bound is over, or what they are given, if that is less: `unavailable` (or
// what that says), or `cancelled` after a stop, the client's own where none is given. They look at
// it also while they wait for an answer.

// For what changes nothing. An error reply is an answer.
resp::value ask_again(runtime::client_core& core, std::uint16_t slot,
                      const std::function<void(resp::writer&)>& write, const bound& within = {});

// The server executes at most one of the copies, and none after this has returned or thrown. Only
// after a stop it may still execute one, until `within` would have ended. The failure says when a
// copy may have been executed. Throws also what the server refuses.
substrate::once_answer ask_once(runtime::client_core& core, const dialects::once_call& asked,
                                const bound& within = {});

// For a request that is sent once and has no id. The server executes it `response_timeout` after it
// was sent at the latest, or refuses it as late (parts/only_in_time.lua), and then it is sent
// again; not when its answer is lost, or given up. The failure says when the server may have
// executed it. An error reply is an answer.
resp::value ask_in_time(runtime::client_core& core, std::uint16_t slot,
                        const std::function<void(resp::writer&, server_time not_after)>& write,
                        const bound& within = {});

// The value of what a reader returned; throws failure for a refusal.
template <typename Verdict>
auto accept(Verdict verdict) {
  if (auto* why = std::get_if<substrate::refused>(&verdict)) throw failure{why->code, why->detail};
  return std::get<0>(std::move(verdict));
}

}  // namespace holdfast::calls
