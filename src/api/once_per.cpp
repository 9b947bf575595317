#include <holdfast/client.hpp>
#include <holdfast/once_per.hpp>

#include <algorithm>
#include <utility>

#include "api/checks.hpp"
#include "api/native_locks.hpp"
#include "api/options_in_full.hpp"
#include "net/clock.hpp"
#include "redis/locks/blocking_request.hpp"
#include "runtime/client_core.hpp"
#include "runtime/lock_access.hpp"
#include "values/run_record.hpp"
#include "values/run_watch.hpp"

namespace holdfast {
namespace {

using detail::lock_access;
using std::chrono::milliseconds;

// As ShedLock writes it: the lock itself stays for so long, so there is no record.
dialect kept_for(const once_per_options& options, const dialect& how) {
  auto kept = lock_access::recipe(how)->kept_for(options.at_least_for);
  api::refuse(kept == nullptr,
              "of all dialects shedlock alone has jobs that run once per interval");
  api::refuse(options.interval > milliseconds{0} || options.run_again != run_again::never,
              "ShedLock knows no intervals, and not how a run ended: give at_least_for alone");
  if (options.at_least_for <= milliseconds{0} || options.at_least_for > std::chrono::hours{24}) {
    throw failure{errc::invalid_argument, "at_least_for must be more than 0, and at most 24 h"};
  }
  return lock_access::in(std::move(kept));
}

milliseconds time_until(monotonic_time ends) {
  if (ends == monotonic_time::max()) return net::longest_wait;
  return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(ends - net::now()));
}

result<lease> has_run_instead_of_busy(result<lease> held) {
  if (held || held.error().reason() != errc::busy) return held;
  return failure{errc::has_run, std::string{"it runs, or began less than lockAtLeastFor ago"}};
}

// A member of `state` itself would be exported with the class around it.
struct recurring_job {
  result<lease> begin(milliseconds timeout, std::stop_token stop) const;
  result<lease> begin_recorded(milliseconds timeout, const std::stop_token& stop) const;
  result<lease> acquire_unless_run(server_time asked, monotonic_time ends,
                                   const std::stop_token& stop) const;

  lock target;
  milliseconds whole_lease{0};
  bool runs_again = false;
  std::optional<values::run_record> record{};  // nothing: the lock says it all
};

result<lease> recurring_job::begin(milliseconds timeout, std::stop_token stop) const {
  auto& core = *lock_access::core(target);
  core.check_process();
  stop = core.engine().stop_of_call(std::move(stop));
  api::check_timeout(timeout);
  if (record) return begin_recorded(timeout, stop);
  return has_run_instead_of_busy(target.try_acquire({}, stop));
}

result<lease> recurring_job::begin_recorded(milliseconds timeout,
                                            const std::stop_token& stop) const {
  const auto ends = net::end_of_wait(timeout);
  // Without time to wait it asks once.
  const bool waits = timeout > milliseconds{0};
  const auto asked = record->look({waits ? ends : monotonic_time::max(), stop, errc::timed_out});
  if (!asked) return asked.error();
  auto held = acquire_unless_run(*asked, ends, stop);
  if (!held) return held;
  // A lock that was handed over is ours for a moment only, until it is confirmed in the background.
  if (held->remaining() < whole_lease / 2) {
    if (const auto extended = held->extend(whole_lease); !extended) return extended.error();
  }
  // The server refuses it after the lease. No stop ends it: that would leave in doubt whether the
  // run was recorded.
  const auto begun = record->begin(
      held->token(), *asked, redis_locks::unstoppable(net::now() + held->remaining(), errc::lost));
  if (!begun) return begun.error();
  if (held->held()) return held;
  (void)record->end(held->token(), run_end::not_started);
  return failure{errc::lost,
                 "the work was not begun: the lock was lost while the run was being recorded"};
}

result<lease> recurring_job::acquire_unless_run(server_time asked, monotonic_time ends,
                                                const std::stop_token& stop) const {
  auto held = target.try_acquire({}, stop);
  const auto reason = [&] { return held ? errc{} : held.error().reason(); };
  const bool may_pass = reason() == errc::busy || reason() == errc::unavailable;
  if (const auto left = time_until(ends); may_pass && left > milliseconds{0}) {
    if (runs_again) return target.try_acquire({.timeout = left}, stop);
    values::run_watch watch(*record, asked, stop);
    held = target.try_acquire({.timeout = left}, watch.stop());
    if (auto found = watch.end(); found && !held) return *found;
  }
  const bool is_taken = reason() == errc::busy || reason() == errc::timed_out;
  if (runs_again || !is_taken) return held;
  const auto looked = record->look({monotonic_time::max(), stop}, asked);
  if (!looked && looked.error().reason() == errc::has_run) return looked.error();
  return held;
}

}  // namespace

struct once_per::state : recurring_job {};

once_per client::once_per(std::string_view name, const once_per_options& options,
                          const dialect& how) const {
  using state = holdfast::once_per::state;
  auto of_lock = api::in_full(options);
  const auto usual = core_->engine().options().default_lease;
  if (how == dialect{}) {
    values::run_record record{core_, name, options};
    return holdfast::once_per{std::make_shared<const state>(
        state{{api::make_mutex(core_, name, of_lock, how), of_lock.lease.value_or(usual),
               options.run_again != run_again::never, std::move(record)}})};
  }
  const auto kept = kept_for(options, how);
  // The lease must be at least as long.
  if (!of_lock.lease) of_lock.lease = std::max(usual, options.at_least_for);
  return holdfast::once_per{std::make_shared<const state>(
      state{{.target = api::make_mutex(core_, name, of_lock, kept)}})};
}

const std::string& once_per::name() const noexcept { return state_->target.name(); }

result<lease> once_per::try_begin(const acquire_options& options, std::stop_token stop) const {
  return state_->begin(options.timeout.value_or(milliseconds{0}), std::move(stop));
}

std::optional<lease> once_per::begin(const acquire_options& options, std::stop_token stop) const {
  const auto usual = lock_access::core(state_->target)->engine().options().default_timeout;
  auto run = state_->begin(options.timeout.value_or(usual), std::move(stop));
  if (!run && run.error().reason() == errc::has_run) return std::nullopt;
  return std::move(run).value();
}

result<void> once_per::finish(lease& run, run_end how) const {
  lock_access::core(state_->target)->check_process();
  if (!state_->record) return run.release();
  // Also if the lock was lost: then nobody need run it again.
  const auto ended = state_->record->end(run.token(), how);
  const auto released = run.release();
  if (!released) return released;
  if (ended || ended.error().reason() != errc::lost) return ended;
  return failure{errc::server_error, "the server has forgotten this run: the job may run again"};
}

}  // namespace holdfast
