#include <holdfast/lock.hpp>

#include <utility>

#include "api/checks.hpp"
#include "base/printable.hpp"
#include "net/clock.hpp"
#include "runtime/client_core.hpp"
#include "runtime/tenure.hpp"

namespace holdfast {
namespace {

using milliseconds = std::chrono::milliseconds;

leasing::patience patience_for(milliseconds timeout) {
  api::check_timeout(timeout);
  if (timeout == milliseconds{0}) return {};
  // As good as never, and far from where the arithmetic ends.
  constexpr milliseconds longest = std::chrono::hours{24 * 365 * 10};
  const auto give_up_at = timeout >= longest ? monotonic_time::max() : net::now() + timeout;
  return {.waits = true, .give_up_at = give_up_at};
}

failure failure_of(const leasing::acquire_outcome& outcome, const std::string& name) {
  const auto subject = "lock '" + printable(name) + "'";
  return failure{*outcome.code, outcome.detail.empty() ? subject : subject + ": " + outcome.detail};
}

std::shared_ptr<runtime::tenure> make_tenure(runtime::client_core& core,
                                             std::shared_ptr<const runtime::lock_spec> spec,
                                             milliseconds timeout) {
  core.check_process();
  return std::make_shared<runtime::tenure>(core.engine(), std::move(spec), patience_for(timeout));
}

// A blocking call on the callback thread would stop the very thread that others need to go on.
void check_may_block(runtime::client_core& core, milliseconds timeout) {
  if (timeout > milliseconds{0} && core.engine().callbacks().is_this_thread()) {
    throw failure{errc::would_deadlock,
                  "waiting for a lock in a callback would stop all callbacks; use async_acquire"};
  }
}

}  // namespace

lock::lock(std::shared_ptr<runtime::client_core> core,
           std::shared_ptr<const runtime::lock_spec> spec)
    : core_(std::move(core)), spec_(std::move(spec)) {}

const std::string& lock::name() const noexcept { return spec_->key.name(); }

result<lease> lock::wait_for_lease(std::stop_token stop, milliseconds timeout) const {
  check_may_block(*core_, timeout);
  auto tenure = make_tenure(*core_, spec_, timeout);
  redis::waiter self{redis::waiter::kind::caller};
  tenure->acquire(std::move(stop), {.sleeper = &self});
  core_->connection().drive(self);
  const auto outcome = tenure->take_acquired();
  if (!outcome.code) return lease{core_, std::move(tenure)};
  core_->connection().forget(self);  // the attempt was given up, its command may be under way
  return failure_of(outcome, name());
}

lease lock::acquire(const acquire_options& options) const {
  const auto patience = options.timeout.value_or(core_->engine().options().default_timeout);
  return wait_for_lease(options.stop, patience).value();
}

result<lease> lock::try_acquire(const acquire_options& options) const {
  return wait_for_lease(options.stop, options.timeout.value_or(milliseconds{0}));
}

acquire_awaitable lock::async_acquire(acquire_options options) const {
  return acquire_awaitable{
      acquire_operation{*this, std::move(options), acquire_operation::patience::waits}};
}

try_acquire_awaitable lock::async_try_acquire(acquire_options options) const {
  return try_acquire_awaitable{
      acquire_operation{*this, std::move(options), acquire_operation::patience::asks_once}};
}

acquire_operation::acquire_operation(lock target, acquire_options options, patience when_unset)
    : target_(std::move(target)), options_(std::move(options)), when_unset_(when_unset) {}

acquire_operation::~acquire_operation() {
  if (tenure_ && target_.core_->engine().is_in_its_process()) tenure_->abandon();
}

acquire_operation::acquire_operation(acquire_operation&&) noexcept = default;

void acquire_operation::start(detail::completion& when_done) {
  const auto& core = target_.core_;
  const auto unset =
      when_unset_ == patience::waits ? core->engine().options().default_timeout : milliseconds{0};
  auto* const executor = runtime::executor::current();
  if (executor != nullptr) executor->will_drive(core);
  tenure_ = make_tenure(*core, target_.spec_, options_.timeout.value_or(unset));
  // This object may be gone, with the coroutine around it, as soon as the attempt has begun.
  const auto alive = tenure_;
  alive->acquire(std::move(options_.stop), {.completion = &when_done, .executor = executor});
}

result<lease> acquire_operation::finish() {
  auto tenure = std::exchange(tenure_, nullptr);
  const auto outcome = tenure->take_acquired();
  if (outcome.code) return failure_of(outcome, target_.name());
  return lease{target_.core_, std::move(tenure)};
}

}  // namespace holdfast
