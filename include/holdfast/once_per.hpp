/// \file
/// Jobs that many machines schedule and one of them runs, once per interval.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <holdfast/detail/export.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

/// After which runs a job may run again in the same interval.
enum class run_again : std::uint8_t {
  never,   ///< After none: the job begins at most once in each interval. The default.
  failed,  ///< After one that has failed, as `once_per::finish` was told.
  lost,    ///< Also after one whose end was not recorded: its holder died or lost the lock.
};

/// How a run ended.
enum class run_end : std::uint8_t {
  succeeded,    ///< The work is done.
  failed,       ///< The work was begun and is not done.
  not_started,  ///< The work was never begun: the run counts for nothing.
};

/// When a job may run. All machines should give the same; each call is judged by its own options.
struct once_per_options {
  /// The length of an interval: zero (the default: there are none) or 100 ms to 366 days. One
  /// begins at each multiple of it since 1970, in UTC and by the server's clock: those of 1 h at
  /// each full hour, those of 24 h at midnight, those of 7 days on Thursdays.
  std::chrono::milliseconds interval{0};

  /// How much later intervals begin: zero (the default), or less than `interval`.
  std::chrono::milliseconds offset{0};

  /// No other run begins for this long after one began, not even in a new interval. A run that
  /// `run_again` allows is the exception. Zero (the default) to 366 days; this or `interval` must
  /// be more than zero.
  std::chrono::milliseconds at_least_for{0};

  /// After which runs the job may run again in the same interval.
  holdfast::run_again run_again = run_again::never;

  /// How long the server keeps the lock after the holder has died, 10 ms to 24 h; renewed while it
  /// lives. Unset: the client's `default_lease`.
  std::optional<std::chrono::milliseconds> lease{};
};

/// A job that many machines schedule and one of them runs, once in each interval. Made by
/// `client::once_per()`.
///
/// A run begins under the mutex of the same name. One script looks whether the job has run and, if
/// not, records the run at `hf:run:{NAME}`, by the server's clock. So clocks of machines do not
/// matter, and a machine that comes later finds `errc::has_run`. Without `run_again` it finds that
/// also while the job runs.
///
/// The promise, as long as the server keeps its data: the job begins at most once in each interval,
/// and not within `at_least_for` after it began. A run that `run_again` allows is the exception
/// from both. A caller runs the job, or finds that a run has begun in that interval or since, or
/// gives up waiting for the lock.
///
/// If a holder dies or loses the lock after its run was recorded, that run may have done nothing.
/// By default that interval gets no other. With `run_again::lost` it does, when the lease has
/// ended. A frozen holder that goes on may then be at work beside the next one: check
/// `lease::token()` where it writes.
///
/// A caller asks for the interval in which it asks. If it has to wait for the lock until a later
/// one, a run that began meanwhile counts for it. If there was none, it runs, in the interval that
/// is then.
///
/// The server cannot refuse what it has forgotten. It forgets the record after FLUSHALL, a restart
/// without persistence, a failover to a replica that has not heard of it, or the eviction of its
/// key. Then the job may run once more in that interval. An embedded server forgets it half a
/// minute after its last program has ended.
///
/// If the server's clock steps back, the job does not run until it has passed that time again. If
/// it had jumped ahead past the next interval, the job may run twice: the record outlives its
/// interval by one more, and by a minute at least.
///
/// Cost: a run has five commands, two of them those of the mutex; a call that finds `has_run` has
/// one. A run leaves two keys of about 100 bytes for 7 s, as in `counter`.
///
/// As ShedLock writes it (`dialect::shedlock()`): there are no intervals, and the lock itself stays
/// for `at_least_for`, which ShedLock calls `lockAtLeastFor`. The dialect's own `at_least_for` does
/// not count. `lease` is its `lockAtMostFor`. A call that does not get the lock finds `has_run`,
/// and never waits. How a run ended is not recorded, and a run that was not started counts as well.
///
/// Not over a quorum, and not in memory.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads. All calls
/// block.
class HOLDFAST_EXPORT once_per {
 public:
  [[nodiscard]] const std::string& name() const noexcept;  ///< The name with which it was made.

  /// Begins a run, unless the job has run. The lease means that this caller runs the job: do the
  /// work, then call `finish`. Waits for the lock up to the timeout. Without one, or with zero, it
  /// asks once.
  ///
  /// Errors: `has_run`; those of a `lock`; `foreign_key` when the record's key holds something
  /// else; `lost` when the lock was lost before the run was recorded, or meanwhile. Then the
  /// library gives the interval back, as far as it can. After `unavailable` and `lost` the interval
  /// may be taken all the same, by a run that was not started.
  ///
  /// While it waits for the lock, a thread of its own looks whether a run has begun meanwhile: more
  /// and more rarely, but at least every 2 s. With `run_again` it waits for the end of that run
  /// instead.
  ///
  /// A request to stop ends the waiting with `cancelled`. It is not heeded while a run is being
  /// recorded, which takes at most `connect_timeout` and twice `response_timeout`.
  ///
  /// Throws only for errors of the programmer, as `lock::try_acquire` does.
  [[nodiscard]] result<lease> try_begin(const acquire_options& options = {},
                                        std::stop_token stop = {}) const;

  /// The same, but waits for the client's `default_timeout` when no timeout is given. Returns
  /// nothing for `has_run`, and throws all other errors as `failure`.
  [[nodiscard]] std::optional<lease> begin(const acquire_options& options = {},
                                           std::stop_token stop = {}) const;

  /// Records how the run ended and releases its lock. Waits for the answers. A lease that is
  /// destroyed without it leaves a run that counts as lost. After `run_end::not_started` the run
  /// before counts again, if there was one.
  ///
  /// Errors:
  ///
  /// - `lost` when the lock was lost before. The end is recorded all the same, unless another run
  /// has
  ///   begun.
  /// - `server_error` when the server has forgotten the run: the job may run again.
  /// - `unavailable` and what the server refuses: the run counts as lost, if its end was not
  ///   recorded.
  ///
  /// A second call with the same end is a success. Throws `forked` in the child of a fork.
  result<void> finish(lease& run, run_end how) const;

 private:
  friend class client;
  struct state;
  explicit once_per(std::shared_ptr<const state> one) noexcept : state_(std::move(one)) {}

  std::shared_ptr<const state> state_;
};

/// Calls `work(const lease&)` (or `work()`) if the job is due. Returns whether it was called. A
/// `work` that throws has failed, and what it throws is passed on.
///
/// Waits as `once_per::begin` does, and throws what that throws. Throws `failure{errc::lost}` if
/// the lock was lost before `work` returned: long work should watch `lease::lost()`. If the end of
/// `work` cannot be recorded for another reason, the call returns true, and the run counts as lost.
///
/// Thread safety: may be called from any thread.
template <typename Work>
bool call_once(const once_per& job, Work&& work, const acquire_options& options = {},
               std::stop_token stop = {}) {
  auto run = job.begin(options, std::move(stop));
  if (!run) return false;
  try {
    if constexpr (std::is_invocable_v<Work, const lease&>) {
      std::invoke(std::forward<Work>(work), std::as_const(*run));
    } else {
      std::invoke(std::forward<Work>(work));
    }
  } catch (...) {
    try {
      (void)job.finish(*run, run_end::failed);
    } catch (const failure&) {  // what `work` has thrown goes first
    }
    throw;
  }
  const auto ended = job.finish(*run, run_end::succeeded);
  if (!ended && ended.error().reason() == errc::lost) throw ended.error();
  return true;
}

}  // namespace holdfast
