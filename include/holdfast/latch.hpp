/// \file
/// A latch: many wait until it has been counted down.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include <holdfast/detail/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

/// A number on the server that is counted down to zero, and its waiters. Made by `client::latch()`.
///
/// Set it with `try_set` before anybody waits. A latch that is not set is open, and nobody waits
/// for it. When it opens, all waiters go on, and it can be set again. A client that has waited
/// since before the opening goes on even if the latch is set again before it hears of that. There
/// is one exception: its very first question may never be answered, since the connection broke. If
/// the latch then opens and is set again before the client asks anew, the client waits for the next
/// opening.
///
/// Waiters stand in a queue, as for a lock, and are notified at once when the latch has opened.
/// Nothing depends on that message, since each waiter asks again within a bound. A waiter that dies
/// is forgotten. Each count counts exactly once, however often its answer is lost (see `counter`).
/// If a process should have counted and died, nobody counts for it: the latch stays until it is
/// counted down.
///
/// Cost: one command for each call. A `wait` that gives up costs one more. While somebody waits,
/// each waiter asks again after 2 s (the first) to 60 s (from the 464th on). The key of a latch
/// lives until it is counted down. The keys that remain then end after ten minutes.
///
/// When the server loses its data, the latch is open. After a failover that lost the last counts,
/// they must be made again.
///
/// With Redisson's latches (see `client::latch`) the number may be larger than 32 bits; it is then
/// reported as the largest 32-bit number. One that was set to zero there is open, and set.
///
/// Errors: those of `lock` for waiting, those of `counter` for the others.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class HOLDFAST_EXPORT latch {
 public:
  /// The name with which it was made.
  [[nodiscard]] const std::string& name() const noexcept { return gate_.name(); }

  /// Sets it to `count` if it is open. False: it is set already, and stays as it is.
  /// Throws `failure{invalid_argument}` when `count` is zero.
  [[nodiscard]] bool try_set(std::uint32_t count) const;

  /// Counts it down, not below zero. Returns what is left; zero: it is open.
  /// Throws `failure{invalid_argument}` when `by` is zero.
  std::uint32_t count_down(std::uint32_t by = 1) const;

  /// What is left; zero: it is open.
  [[nodiscard]] std::uint32_t count() const;

  /// Waits until it is open. Throws `failure` for everything else, as `lock::acquire` does.
  void wait(const acquire_options& options = {}, std::stop_token stop = {}) const;

  /// Asks once (`errc::busy`: not open), or waits up to `options.timeout`.
  result<void> try_wait(const acquire_options& options = {}, std::stop_token stop = {}) const;

  /// As `wait`, for coroutines: `co_await` it. Nothing happens before that.
  detail::acquire_awaitable<void> async_wait(acquire_options options = {},
                                             std::stop_token stop = {}) const;
  /// As `try_wait`, for coroutines.
  detail::acquire_awaitable<result<void>> async_try_wait(acquire_options options = {},
                                                         std::stop_token stop = {}) const;

 private:
  friend class client;
  explicit latch(lock gate) : gate_(std::move(gate)) {}

  lock gate_;
};

}  // namespace holdfast
