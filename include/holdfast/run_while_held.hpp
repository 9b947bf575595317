/// \file
/// Runs a function under a lock: what a lock annotation on a method is elsewhere.
#pragma once

#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <holdfast/lock.hpp>

namespace holdfast {

/// Acquires `target`, calls `work(const lease&)` (or `work()`), releases, and returns its result.
///
/// Throws what `lock::acquire` throws. If `work` throws, releases and passes that on. If the lease
/// was lost before `work` returned, throws `failure{errc::lost}` instead of returning: the result
/// may rest on a critical section that was not exclusive. Long work should watch `lease::lost()`.
///
/// Thread safety: may be called from any thread.
template <typename Work>
auto run_while_held(const lock& target, Work&& work, const acquire_options& options = {},
                    std::stop_token stop = {}) {
  lease held = target.acquire(options, std::move(stop));
  auto call = [&]() -> decltype(auto) {
    if constexpr (std::is_invocable_v<Work, const lease&>) {
      return std::invoke(std::forward<Work>(work), std::as_const(held));
    } else {
      return std::invoke(std::forward<Work>(work));
    }
  };
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    if (auto released = held.release(); !released && released.error().reason() == errc::lost) {
      throw released.error();
    }
  } else {
    auto value = call();
    if (auto released = held.release(); !released && released.error().reason() == errc::lost) {
      throw released.error();
    }
    return value;
  }
}

}  // namespace holdfast
