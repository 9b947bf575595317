#include <holdfast/lease.hpp>

#include <utility>

#include "api/checks.hpp"
#include "runtime/client_core.hpp"
#include "runtime/executor.hpp"
#include "runtime/lock_site.hpp"

namespace holdfast {

lease::lease(std::shared_ptr<runtime::client_core> core, std::shared_ptr<runtime::lock_site> site,
             runtime::grant&& got) noexcept
    : core_(std::move(core)),
      site_(std::move(site)),
      tenure_(std::move(got.of)),
      token_(got.token) {}

lease::lease(lease&&) noexcept = default;

lease& lease::operator=(lease&& other) noexcept {
  if (this != &other) {
    give_up();
    core_ = std::move(other.core_);
    site_ = std::move(other.site_);
    tenure_ = std::move(other.tenure_);
    token_ = other.token_;
  }
  return *this;
}

lease::~lease() { give_up(); }

// Releases without waiting. In the child of a fork the lock is the parent's: nothing is sent.
void lease::give_up() noexcept {
  if (!tenure_) return;
  if (core_->engine().is_in_its_process()) site_->release(std::move(tenure_), {});
  tenure_.reset();
}

const std::string& lease::name() const noexcept { return site_->spec().key.name(); }

fencing_token lease::token() const noexcept { return fencing_token{token_}; }

std::chrono::milliseconds lease::remaining() const noexcept {
  return std::chrono::floor<std::chrono::milliseconds>(tenure_ ? tenure_->remaining()
                                                               : std::chrono::nanoseconds{0});
}

bool lease::held() const noexcept { return tenure_ && tenure_->held(); }

std::stop_token lease::lost() const {
  core_->check_process();
  return tenure_ ? tenure_->lost() : std::stop_token{};
}

result<void> lease::release() {
  if (!tenure_) return {};
  core_->check_process();
  redis::waiter self{redis::waiter::kind::caller};
  const auto mine = std::exchange(tenure_, nullptr);
  if (!site_->release(mine, {.sleeper = &self})) return {};
  core_->connection().drive(self);
  auto outcome = mine->take_released();
  if (!outcome) core_->connection().forget(self);  // it may still be tried
  return outcome;
}

release_awaitable lease::async_release() { return release_awaitable{*this}; }

result<void> lease::extend(std::chrono::milliseconds duration) {
  api::check_lease(duration, "the duration");
  if (!tenure_) return errc::lost;
  core_->check_process();
  return tenure_->extend(duration);
}

release_awaitable::release_awaitable(lease& held) noexcept
    : core_(held.core_), site_(held.site_), tenure_(std::exchange(held.tenure_, nullptr)) {}

release_awaitable::~release_awaitable() {
  if (tenure_ && !begun_ && core_->engine().is_in_its_process()) site_->release(tenure_, {});
}

bool release_awaitable::await_suspend(std::coroutine_handle<> coroutine) {
  waiting = coroutine;
  if (!tenure_) return false;
  core_->check_process();
  auto* const executor = runtime::executor::current();
  if (executor != nullptr) executor->will_drive(core_);
  begun_ = true;
  const auto alive = tenure_;
  const auto site = site_;
  if (site->release(alive, {.completion = this, .executor = executor})) return true;
  tenure_.reset();  // no answer is needed
  return false;
}

result<void> release_awaitable::await_resume() {
  return tenure_ ? tenure_->take_released() : result<void>{};
}

}  // namespace holdfast
