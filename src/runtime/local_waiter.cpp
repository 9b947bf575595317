#include <algorithm>
#include <new>
#include <utility>

#include "net/clock.hpp"
#include "runtime/engine.hpp"
#include "runtime/lock_site.hpp"

namespace holdfast::runtime {

local_waiter::local_waiter(std::shared_ptr<lock_site> at, leasing::patience patience,
                           identity thread)
    : site_(std::move(at)),
      patience_(patience),
      thread_(thread),
      unplaced_(1),
      sleeper_(redis::waiter::kind::caller, &site_->engine_.connection(site_->spec_.key.slot())) {}

local_waiter::~local_waiter() {
  if (has_timer_ && site_->engine_.is_in_its_process()) site_->engine_.timers().disarm(*this);
}

void local_waiter::begin(std::stop_token stop, listener who) noexcept {
  stop_ = stop;
  if (stop.stop_possible()) stop_callback_.emplace(std::move(stop), stopper{this});
  auto& site = *site_;
  scoped_mutex lock(site.mutex_);
  listener_ = who;
  if (state_ == state::over) return listener_.tell(site.engine_);  // stopped before it began
  begun_ = true;
  place_ = unplaced_.begin();
  *place_ = shared_from_this();
  site.waiters_.splice(site.waiters_.end(), unplaced_);
  if (patience_.give_up_at != monotonic_time::max()) {
    has_timer_ = true;
    site.engine_.timers().arm(*this, patience_.give_up_at);
  }
  // It was given back since we looked.
  std::shared_ptr<tenure> spent;
  if (site.state_ == lock_site::state::idle && !site.may_pass_on(net::now())) {
    spent = site.detach();
  }
  if (site.state_ == lock_site::state::idle) {
    const auto woken = site.pass_on(net::now());
    lock.unlock();
    return woken.wake();
  }
  if (site.state_ != lock_site::state::free) return;
  const auto next = site.promote_next();
  lock.unlock();
  if (spent) site.give_back(*spent, {});
  if (next) next->ask(next.get() == this && listener_.drives());
}

local_waiter::news local_waiter::look() {
  auto found = find_out();
  // Waits for a callback that is running: it may still use the client, which the caller may close.
  if (found.got || found.asks || found.over || found.failed) stop_callback_.reset();
  if (found.failed) throw std::bad_alloc();
  return found;
}

local_waiter::news local_waiter::find_out() {
  auto& site = *site_;
  scoped_mutex lock(site.mutex_);
  switch (state_) {
    case state::granted:
      return {.got = std::move(got_)};
    case state::asking:
      return {.asks = asks_};
    case state::over:
      if (was_out_of_memory_) return {.failed = true};
      return {.over = std::move(over_)};
    case state::waiting:
      break;
  }
  const auto now = net::now();
  sleeper_.clear_done();
  const bool is_first = site.waiters_.front().get() == this;
  if (!is_first || site.state_ != lock_site::state::idle) {
    ready_ = is_first;
    return {};
  }
  if (!site.may_pass_on(now)) {
    // Its time is nearly over: back with it, and we ask for a new one.
    const auto spent = site.detach();
    const auto next = site.promote_next();
    lock.unlock();
    site.give_back(*spent, {});
    if (next) next->ask(next.get() == this && listener_.drives());
    return {.asks = asks_, .failed = asks_ == nullptr};
  }
  const auto self = std::move(site.waiters_.front());
  site.waiters_.pop_front();
  state_ = state::granted;
  site.begin_slice(now);
  return {.got = site.take(thread_)};
}

bool local_waiter::abandon() {
  stop_callback_.reset();
  std::shared_ptr<tenure> asks;
  std::optional<grant> got;
  bool untold = false;
  {
    auto& site = *site_;
    const scoped_mutex lock(site.mutex_);
    switch (state_) {
      case state::waiting:
        if (begun_) site.waiters_.erase(place_);
        state_ = state::over;
        untold = true;
        break;
      case state::granted:
        got = std::move(got_);
        break;
      case state::asking:
        asks = asks_;
        break;
      case state::over:
        break;
    }
  }
  if (got && got->of) got->of->give_back({});
  if (asks) {
    untold = asks->abandon();
    site_->failed(*asks);
  }
  return untold;
}

// Whoever waits throws std::bad_alloc then.
void local_waiter::fail() noexcept {
  state_ = state::over;
  was_out_of_memory_ = true;
  listener_.tell(site_->engine_);
}

void local_waiter::on_timer(monotonic_time) { give_up(errc::timed_out); }

void local_waiter::give_up(errc code) {
  if (!site_->engine_.is_in_its_process()) return;
  const auto alive = weak_from_this().lock();
  if (!alive) return;
  auto& site = *site_;
  scoped_mutex lock(site.mutex_);
  if (state_ != state::waiting) return;
  state_ = state::over;
  over_.code = code;
  if (code == errc::timed_out) over_.detail = "another thread of this process still had the lock";
  if (!begun_) return;
  site.waiters_.erase(place_);
  lock_site::succession next;
  // Maybe it was he who had been woken to take it: nobody else knows that he may.
  if (site.state_ == lock_site::state::idle) next = site.hand_on({});
  listener_.tell(site.engine_);
  lock.unlock();
  site.carry_out(next, {});
}

}  // namespace holdfast::runtime
