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

result<lease> has_run_instead_of_busy(result<lease> held) {
  if (held || held.error().reason() != errc::busy) return held;
  return failure{errc::has_run, std::string{"the lock is not free: the job runs, or has run"}};
}

}  // namespace

struct once_per::state {
  // Recorded: with a record of the last run; otherwise the lock says it all.
  result<lease> begin(milliseconds timeout, const std::stop_token& stop) const;

  lock target;
  std::optional<values::run_record> record;
};

result<lease> once_per::state::begin(milliseconds timeout, const std::stop_token& stop) const {
  lock_access::core(target)->check_process();
  api::check_timeout(timeout);
  if (!record) return has_run_instead_of_busy(target.try_acquire({}, stop));
  const bool waits = timeout > milliseconds{0};
  const auto ends = waits && timeout < longest_wait ? net::now() + timeout : monotonic_time::max();
  const auto asked = record->look({ends, stop, errc::timed_out});
  if (!asked) return asked.error();
  if (ends != monotonic_time::max()) {
    timeout = std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(ends - net::now()));
  }
  auto held = target.try_acquire({.timeout = timeout}, stop);
  if (!held) return held;
  // The server executes it only while the lock is ours, and a stop does not leave it in doubt.
  const auto begun =
      record->begin(held->token(), *asked, {net::now() + held->remaining(), {}, errc::lost});
  if (!begun) return begun.error();
  if (!held->held()) return failure{errc::lost, "the run was recorded, and is not begun"};
  return held;
}

once_per client::once_per(std::string_view name, const once_per_options& options,
                          const dialect& how) const {
  using state = holdfast::once_per::state;
  auto of_lock = api::in_full(options);
  if (how == dialect{}) {
    values::run_record record{core_, name, options};
    return holdfast::once_per{std::make_shared<const state>(
        state{api::make_mutex(core_, name, of_lock, how), std::move(record)})};
  }
  const auto kept = kept_for(options, how);
  // The lock must not end before.
  if (!of_lock.lease) {
    of_lock.lease = std::max(core_->engine().options().default_lease, options.at_least_for);
  }
  return holdfast::once_per{std::make_shared<const state>(
      state{api::make_mutex(core_, name, of_lock, kept), std::nullopt})};
}

const std::string& once_per::name() const noexcept { return state_->target.name(); }

result<lease> once_per::try_begin(const acquire_options& options, std::stop_token stop) const {
  return state_->begin(options.timeout.value_or(milliseconds{0}), stop);
}

std::optional<lease> once_per::begin(const acquire_options& options, std::stop_token stop) const {
  const auto usual = lock_access::core(state_->target)->engine().options().default_timeout;
  auto run = state_->begin(options.timeout.value_or(usual), stop);
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
