/// \file
/// What the `async_` members return. Not for users, who only await it.
#pragma once

#include <coroutine>
#include <type_traits>
#include <utility>

#include <holdfast/detail/completion.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

class lease;

namespace detail {

/// What an acquisition is to its caller. Throws the failure where the type cannot hold it.
template <typename Result>
Result outcome_as(result<lease> got);

/// Starts its operation when it is awaited, and resumes the coroutine when that has finished. Any
/// coroutine type can await it, once. If it is not awaited, nothing happens.
///
/// Thread safety: used by one coroutine.
template <typename Operation, typename Result>
class [[nodiscard("co_await it, or nothing happens")]] awaitable final : private resumption {
 public:
  explicit awaitable(Operation operation) : operation_(std::move(operation)) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  auto await_suspend(std::coroutine_handle<> coroutine) {
    waiting = coroutine;
    return operation_.start(*this);
  }
  Result await_resume() {
    if constexpr (std::is_same_v<Result, decltype(operation_.finish())>) {
      return operation_.finish();
    } else {
      return outcome_as<Result>(operation_.finish());
    }
  }

 private:
  Operation operation_;
};

}  // namespace detail
}  // namespace holdfast
