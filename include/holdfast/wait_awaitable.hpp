/// \file
/// What coroutines await at a latch or a barrier.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include <holdfast/detail/completion.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

namespace detail {
/// The outcome of waiting. Throws the failure where the type cannot hold it.
template <typename Result>
Result passed_as(const result<lease>& how);
template <>
void passed_as<void>(const result<lease>& how);
template <>
result<void> passed_as<result<void>>(const result<lease>& how);
template <>
std::uint64_t passed_as<std::uint64_t>(const result<lease>& how);
template <>
result<std::uint64_t> passed_as<result<std::uint64_t>>(const result<lease>& how);
}  // namespace detail

/// What the `async_` members of `latch` and `barrier` return. Any coroutine type can await it,
/// once. Thread safety: used by one coroutine.
template <typename Result>
class [[nodiscard("co_await it, or nothing is waited for")]] wait_awaitable final
    : private detail::resumption {
 public:
  explicit wait_awaitable(acquire_operation operation) : operation_(std::move(operation)) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) {
    waiting = coroutine;
    operation_.start(*this);
  }
  Result await_resume() { return detail::passed_as<Result>(operation_.finish()); }

 private:
  acquire_operation operation_;
};

}  // namespace holdfast
