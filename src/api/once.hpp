// Asking as often as it takes, and changing a value at the server at most once all the same.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <variant>

#include "dialects/holdfast/once.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::api {

// Both send a request again when its answer is lost, until it is answered or connect_timeout and
// twice response_timeout have passed; then they throw failure. Thread safety: any thread.

// For what changes nothing. An error reply is an answer.
resp::value ask_again(runtime::client_core& core, std::uint16_t slot,
                      const std::function<void(resp::writer&)>& write);

// The server executes at most one of the copies, and none after this has returned or thrown. What
// is thrown says when one may have been executed. Throws also what the server refuses.
dialects::once_answer ask_once(runtime::client_core& core, const dialects::once_call& asked);

// The value of what a reader returned; throws failure for a refusal.
template <typename Verdict>
auto accept(Verdict verdict) {
  if (auto* why = std::get_if<dialects::refused>(&verdict)) throw failure{why->code, why->detail};
  return std::get<0>(std::move(verdict));
}

}  // namespace holdfast::api
