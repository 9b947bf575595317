#include "runtime/local_waiter.hpp"

#include <new>
#include <utility>

#include "runtime/engine.hpp"
#include "runtime/local_lock.hpp"

namespace holdfast::runtime {

local_waiter::local_waiter(std::shared_ptr<local_lock> at, leasing::patience patience,
                           identity thread)
    : waiter(thread != 0),
      local_(std::move(at)),
      mutex_(local_->guard()),
      patience_(patience),
      thread_(thread),
      sleeper_(net::waiter::kind::caller, &local_->owner().source_of(local_->spec().key.slot())) {}

local_waiter::~local_waiter() {
  const bool may_have_timer = patience_.give_up_at != monotonic_time::max();
  auto& engine = local_->owner();
  if (may_have_timer && engine.is_in_its_process()) engine.timers().disarm(*this);
}

void local_waiter::begin(std::stop_token stop, const listener& who) noexcept {
  listener_ = who;
  stop_ = stop;
  if (stop.stop_possible()) stop_callback_.emplace(std::move(stop), stopper{this});
  local_->join(*this);
}

void local_waiter::enter_line() {
  self_ = shared_from_this();
  if (patience_.give_up_at != monotonic_time::max()) {
    local_->owner().timers().arm(*this, patience_.give_up_at);
  }
}

local_waiter::news local_waiter::look() {
  auto found = local_->look(*this);
  // Waits for a callback that is running: it may still use the client, which the caller may close.
  if (!std::holds_alternative<std::monostate>(found)) stop_callback_.reset();
  if (std::holds_alternative<out_of_memory>(found)) throw std::bad_alloc();
  return found;
}

void local_waiter::abandon() {
  stop_callback_.reset();
  if (local_->leave(*this, {}, false)) return;
  const auto had = local_->look(*this);
  if (const auto* const got = std::get_if<grant>(&had); got != nullptr && got->of) {
    got->of->give_back({});
  } else if (const auto* const asks = std::get_if<std::shared_ptr<lock_driver>>(&had)) {
    (*asks)->abandon();
    local_->failed(**asks);
  }
}

std::shared_ptr<local_waiter> local_waiter::end(news how) noexcept {
  news_ = std::move(how);
  return std::move(self_);
}

void local_waiter::tell() const { listener_.tell(local_->owner()); }

void local_waiter::ask(lock_driver& by, bool drives) const noexcept {
  by.acquire(stop_, listener_, drives);
}

void local_waiter::on_timer(monotonic_time) {
  give_up({.code = errc::timed_out, .detail = "another thread of this process still had the lock"});
}

void local_waiter::give_up(leasing::outcome why) {
  if (!local_->owner().is_in_its_process()) return;
  if (const auto alive = weak_from_this().lock()) local_->leave(*this, std::move(why), true);
}

}  // namespace holdfast::runtime
