/// \file
/// A barrier: a number of parties go on together, again and again.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include <holdfast/detail/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

/// A cyclic barrier for a number of parties: threads, coroutines or processes. Made by
/// `client::barrier()`. All parties must say the same number.
///
/// A party that arrives waits until all parties have arrived. The last one lets all go on at once,
/// in one step of the server, and the next generation begins. An arrival counts once, however often
/// its answer is lost, also when the barrier has opened meanwhile. A party that gives up (time-out,
/// `stop`) is no longer counted, unless the barrier opened in that very moment. A party that dies
/// is not counted either. When the last party arrives, the server counts only parties whose
/// connection is there or, if they poll, which asked within 5 s.
///
/// Waiting parties are notified at once when the barrier has opened. Nothing depends on that
/// message, since each party asks again within a bound. The server remembers for one minute which
/// parties have passed the barrier. For the last four generations it remembers them for ten
/// minutes.
///
/// Cost: one command for each arrival, two for one that gives up. While waiting, each party asks
/// again after 2 s (the first) to 60 s. The keys end when nobody waits. At most 10,000 parties that
/// have passed are remembered, with about 150 bytes each. The last arrival lets all parties go on
/// in one step, in which the server serves nobody else: under 1 ms for 100 parties, and 6 to 40 ms
/// for 1,000, the most there may be.
///
/// What can be lost:
///
/// - A party of which the server has not heard for two minutes (a frozen process) is taken for dead
///   when the last one arrives. If the others then go on without it, because another took its
///   place, it gets `errc::lost`.
/// - A party may be counted twice if it has had no answer at all for more than a minute while the
///   others went on four times. This may happen sooner where more than 10,000 parties go on within
///   `response_timeout` (two parties: 2,500 times a second). That drives out even the youngest that
///   are remembered.
/// - A party that gave up while the server could not be reached may be counted for up to two
///   minutes.
/// - When the server loses its data, the waiting parties arrive again by themselves.
///
/// Errors: those of `lock`, and `lost` (see above); `invalid_argument` when others wait there for
/// another number of parties.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class HOLDFAST_EXPORT barrier {
 public:
  /// The name with which it was made.
  [[nodiscard]] const std::string& name() const noexcept { return gate_.name(); }
  [[nodiscard]] std::uint32_t parties() const noexcept;  ///< How many parties must arrive.

  /// Waits until all parties have arrived. Returns the generation: the same number for all of them,
  /// and greater than those of the generations before (but not by one). Throws `failure` for
  /// everything else, as `lock::acquire` does.
  std::uint64_t arrive_and_wait(const acquire_options& options = {},
                                std::stop_token stop = {}) const;

  /// As `arrive_and_wait`, with busy, timed out and cancelled as values. Without a timeout it goes
  /// on if it is the last that is missing, and has not arrived otherwise (`errc::busy`).
  result<std::uint64_t> try_arrive_and_wait(const acquire_options& options = {},
                                            std::stop_token stop = {}) const;

  /// As `arrive_and_wait`, for coroutines: `co_await` it. Nothing happens before that.
  detail::acquire_awaitable<std::uint64_t> async_arrive_and_wait(acquire_options options = {},
                                                                 std::stop_token stop = {}) const;
  /// As `try_arrive_and_wait`, for coroutines.
  detail::acquire_awaitable<result<std::uint64_t>> async_try_arrive_and_wait(
      acquire_options options = {}, std::stop_token stop = {}) const;

 private:
  friend class client;
  explicit barrier(lock gate) noexcept : gate_(std::move(gate)) {}

  lock gate_;
};

}  // namespace holdfast
