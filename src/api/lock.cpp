#include <holdfast/lock.hpp>

#include <utility>

#include "api/checks.hpp"
#include "base/printable.hpp"
#include "net/clock.hpp"
#include "runtime/client_core.hpp"
#include "runtime/executor.hpp"
#include "runtime/lock_source.hpp"
#include "runtime/observed_call.hpp"

namespace holdfast {
namespace {

using milliseconds = std::chrono::milliseconds;

leasing::patience patience_for(milliseconds timeout) {
  api::check_timeout(timeout);
  if (timeout == milliseconds{0}) return {};
  return {.waits = true, .give_up_at = net::end_of_wait(timeout)};
}

failure failure_of(const leasing::outcome& outcome, const std::string& name) {
  const auto subject = "lock '" + printable(name) + "'";
  return failure{*outcome.code, outcome.detail.empty() ? subject : subject + ": " + outcome.detail};
}

}  // namespace

lock::lock(std::shared_ptr<runtime::client_core> core, std::shared_ptr<runtime::lock_source> source)
    : core_(std::move(core)), source_(std::move(source)) {}

// The old members are destroyed in order: the client last, as this may be its last handle.
lock& lock::operator=(lock other) noexcept {
  core_.swap(other.core_);
  source_.swap(other.source_);
  return *this;
}

const std::string& lock::name() const noexcept { return source_->name(); }

result<lease> lock::wait_for_lease(std::stop_token stop, milliseconds timeout) const {
  const auto patience = patience_for(timeout);
  core_->check_process();
  auto& engine = core_->engine();
  stop = engine.stop_of_call(std::move(stop));
  auto outcome = engine.is_observed()
                     ? runtime::wait_observed(engine, *source_, patience, std::move(stop))
                     : source_->wait(patience, std::move(stop));
  if (auto* const got = std::get_if<runtime::grant>(&outcome)) return lease{core_, std::move(*got)};
  return failure_of(std::get<leasing::outcome>(outcome), name());
}

lease lock::acquire(const acquire_options& options, std::stop_token stop) const {
  const auto patience = options.timeout.value_or(core_->engine().options().default_timeout);
  return wait_for_lease(std::move(stop), patience).value();
}

result<lease> lock::try_acquire(const acquire_options& options, std::stop_token stop) const {
  return wait_for_lease(std::move(stop), options.timeout.value_or(milliseconds{0}));
}

detail::acquire_awaitable<lease> lock::async_acquire(acquire_options options,
                                                     std::stop_token stop) const {
  using operation = detail::acquire_operation;
  return detail::acquire_awaitable<lease>{
      operation{*this, options, std::move(stop), operation::patience::waits}};
}

detail::acquire_awaitable<result<lease>> lock::async_try_acquire(acquire_options options,
                                                                 std::stop_token stop) const {
  using operation = detail::acquire_operation;
  return detail::acquire_awaitable<result<lease>>{
      operation{*this, options, std::move(stop), operation::patience::asks_once}};
}

namespace detail {

acquire_operation::acquire_operation(const lock& target, acquire_options options,
                                     std::stop_token stop, patience when_unset)
    : core_(target.core_),
      source_(target.source_),
      options_(options),
      stop_(std::move(stop)),
      when_unset_(when_unset) {}

acquire_operation::~acquire_operation() {
  if (!running_) return;
  if (!core_->engine().is_in_its_process()) {
    (void)running_.release();  // something of the parent's may have been at work on it
    return;
  }
  running_->abandon();
  // It may have ended, and the completion wait for its turn.
  const runtime::listener who{.completion = when_done_, .executor = executor_};
  who.withdraw(core_->engine());
}

acquire_operation::acquire_operation(acquire_operation&&) noexcept = default;

void acquire_operation::start(completion& when_done) {
  // This object may be gone, with the coroutine around it and the last handle of the client, as
  // soon as the attempt has begun.
  const auto core = core_;
  const auto unset =
      when_unset_ == patience::waits ? core->engine().options().default_timeout : milliseconds{0};
  const auto how_long = patience_for(options_.timeout.value_or(unset));
  core->check_process();
  auto* const executor = runtime::executor::current();
  if (executor != nullptr) executor->will_drive(core);
  auto& engine = core->engine();
  running_ = engine.is_observed() ? runtime::ask_observed(engine, source_) : source_->ask();
  when_done_ = &when_done;
  executor_ = executor;
  const runtime::listener who{.completion = &when_done, .executor = executor};
  auto stop = engine.stop_of_call(std::move(stop_));
  if (running_->begin(how_long, std::move(stop), who)) who.tell(engine);
}

result<lease> acquire_operation::finish() {
  const auto running = std::exchange(running_, nullptr);
  auto outcome = running->finish();
  if (auto* const got = std::get_if<runtime::grant>(&outcome)) {
    return lease{core_, std::move(*got)};
  }
  return failure_of(std::get<leasing::outcome>(outcome), source_->name());
}

}  // namespace detail
}  // namespace holdfast
