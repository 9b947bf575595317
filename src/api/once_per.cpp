#include <holdfast/client.hpp>
#include <holdfast/once_per.hpp>

#include <algorithm>
#include <utility>

#include "api/checks.hpp"
#include "api/native_locks.hpp"
#include "api/options_in_full.hpp"
#include "base/printable.hpp"
#include "net/clock.hpp"
#include "runtime/client_core.hpp"
#include "runtime/lock_access.hpp"
#include "values/run_record.hpp"

namespace holdfast {
namespace {

using detail::lock_access;
using std::chrono::milliseconds;

// As good as never, and far from where the arithmetic ends.
constexpr milliseconds longest_wait = std::chrono::hours{24 * 365 * 10};

// As ShedLock writes it: the lock itself stays for so long, so there is no record.
dialect kept_for(const once_per_options& options, const dialect& how) {
  auto kept = lock_access::recipe(how)->kept_for(options.at_least_for);
  api::refuse(kept == nullptr,
              "of all dialects shedlock alone has jobs that run once per interval");
  api::refuse(options.interval > milliseconds{0} || options.run_again != run_again::never,
              "ShedLock knows no slots, and not how a run ended: give at_least_for alone");
  if (options.at_least_for <= milliseconds{0} || options.at_least_for > std::chrono::hours{24}) {
    throw failure{errc::invalid_argument, "at_least_for must be more than 0, and at most 24 h"};
  }
  return lock_access::in(std::move(kept));
}

milliseconds time_until(monotonic_time ends) {
  if (ends == monotonic_time::max()) return longest_wait;
  return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(ends - net::now()));
}

result<lease> has_run_instead_of_busy(result<lease> held) {
  if (held || held.error().reason() != errc::busy) return held;
  return failure{errc::has_run, std::string{"the lock is not free: the job runs, or has run"}};
}

}  // namespace

struct once_per::state {
  result<lease> begin(milliseconds timeout, std::stop_token stop) const;
  result<lease> begin_recorded(milliseconds timeout, const std::stop_token& stop) const;
  result<lease> acquire_unless_run(server_time asked, monotonic_time ends,
                                   const std::stop_token& stop) const;

  lock target;
  bool runs_again = false;
  std::optional<values::run_record> record{};  // nothing: the lock says it all
};

result<lease> once_per::state::begin(milliseconds timeout, std::stop_token stop) const {
  auto& core = *lock_access::core(target);
  core.check_process();
  stop = core.engine().stop_of_call(std::move(stop));
  api::check_timeout(timeout);
  if (record) return begin_recorded(timeout, stop);
  return has_run_instead_of_busy(target.try_acquire({}, stop));
}

result<lease> once_per::state::begin_recorded(milliseconds timeout,
                                              const std::stop_token& stop) const {
  const auto ends = timeout < longest_wait ? net::now() + timeout : monotonic_time::max();
  // Without time to wait it asks once.
  const bool waits = timeout > milliseconds{0};
  const auto asked = record->look({waits ? ends : monotonic_time::max(), stop, errc::timed_out});
  if (!asked) return asked.error();
  auto held = acquire_unless_run(*asked, ends, stop);
  if (!held) return held;
  // The server executes it only while the lock is ours, and a stop does not leave it in doubt.
  const auto begun = record->begin(held->token(), *asked,
                                   {net::now() + held->remaining(), std::stop_token{}, errc::lost});
  if (!begun) return begun.error();
  if (!held->held()) return failure{errc::lost, "the run was recorded, and is not begun"};
  return held;
}

// Hosts that ask at the same moment all find that the job may run. Those who do not get the lock
// need not wait for the end of the run that has begun meanwhile, so they look again now and then.
result<lease> once_per::state::acquire_unless_run(server_time asked, monotonic_time ends,
                                                  const std::stop_token& stop) const {
  constexpr milliseconds longest_pause{2000};
  auto left = time_until(ends);
  for (milliseconds pause{20};; pause = std::min(2 * pause, longest_pause)) {
    auto held = target.try_acquire({.timeout = runs_again ? left : std::min(left, pause)}, stop);
    if (held || runs_again) return held;
    const auto why = held.error().reason();
    const bool may_pass = why == errc::busy || why == errc::timed_out || why == errc::unavailable;
    if (!may_pass) return held;
    const auto unless_run = record->look({monotonic_time::max(), stop}, asked);
    if (!unless_run) return unless_run.error();
    left = time_until(ends);
    if (left == milliseconds{0}) return held;
  }
}

once_per client::once_per(std::string_view name, const once_per_options& options,
                          const dialect& how) const {
  using state = holdfast::once_per::state;
  auto of_lock = api::in_full(options);
  if (how == dialect{}) {
    values::run_record record{core_, name, options};
    return holdfast::once_per{std::make_shared<const state>(
        state{api::make_mutex(core_, name, of_lock, how), options.run_again != run_again::never,
              std::move(record)})};
  }
  const auto kept = kept_for(options, how);
  // The lock must not end before.
  if (!of_lock.lease) {
    of_lock.lease = std::max(core_->engine().options().default_lease, options.at_least_for);
  }
  return holdfast::once_per{
      std::make_shared<const state>(state{.target = api::make_mutex(core_, name, of_lock, kept)})};
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
  // Also of a run whose lock was lost: nobody else need run then.
  const auto ended = state_->record->end(run.token(), how);
  auto released = run.release();
  return released ? ended : released;
}

}  // namespace holdfast
