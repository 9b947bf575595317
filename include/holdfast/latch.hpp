/// \file
/// A latch: many wait until it has been counted down.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>
#include <holdfast/result.hpp>
#include <holdfast/wait_awaitable.hpp>

namespace holdfast {

/// A number at the server that is counted down to zero, and those who wait for that. Made by
/// `client::latch()`.
///
/// It is set with `try_set` before anybody waits: a latch that is not set is open, and nobody waits
/// for it. When it opens, all who wait go on, and it can be set again; who has waited since before
/// it opened goes on also when it is set again before he hears of it. Only whose very first
/// question was never answered, since the connection broke, may miss an opening when it is set
/// again before he asks anew: he waits for the next one.
///
/// Who waits stands in a queue, as for a lock, and hears at once that the latch has opened; nothing
/// depends on that message, since he asks again within a bound. Who waits and dies is forgotten.
/// Each count counts exactly once, however often its answer is lost (see `counter`). Who should
/// have counted and died is not counted by anybody: the latch stays until it is counted down.
///
/// Cost: one command for each call; `wait` one, and one more when it gives up. While somebody
/// waits, each asks again after 2 s (the first) to 60 s (from the 464th on). The key of a latch
/// lives until it is counted down; what it leaves behind ends after ten minutes.
///
/// When the server loses its data, the latch is open. After a failover that lost the last counts it
/// must be counted again.
///
/// Of Redisson's latches, see `client::latch`, the number may be larger than 32 bits: it is told as
/// the largest then. One that was set to zero there is open, and set.
///
/// Errors: those of `lock` for waiting, those of `counter` for the others.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class latch {
 public:
  [[nodiscard]] const std::string& name() const noexcept { return gate_.name(); }

  /// Sets it to `count` if it is open. False: it is set already, and stays as it is.
  /// Throws `failure{invalid_argument}` when `count` is zero.
  [[nodiscard]] bool try_set(std::uint32_t count) const;

  /// Counts it down, not below zero. Returns what is left; zero: it is open.
  std::uint32_t count_down(std::uint32_t by = 1) const;

  /// What is left; zero: it is open.
  [[nodiscard]] std::uint32_t count() const;

  /// Waits until it is open. Throws `failure` for everything else, as `lock::acquire`.
  void wait(const acquire_options& options = {}, std::stop_token stop = {}) const;

  /// Asks once (`errc::busy`: not open), or waits up to `options.timeout`.
  result<void> try_wait(const acquire_options& options = {}, std::stop_token stop = {}) const;

  /// `co_await` them. Nothing happens before that.
  [[nodiscard]] wait_awaitable<void> async_wait(acquire_options options = {},
                                                std::stop_token stop = {}) const;
  [[nodiscard]] wait_awaitable<result<void>> async_try_wait(acquire_options options = {},
                                                            std::stop_token stop = {}) const;

 private:
  friend class client;
  explicit latch(lock gate) : gate_(std::move(gate)) {}

  lock gate_;
};

}  // namespace holdfast
