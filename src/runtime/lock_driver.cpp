#include "runtime/lock_driver.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "runtime/clock_rate.hpp"
#include "runtime/engine.hpp"
#include "runtime/local_lock.hpp"

namespace holdfast::runtime {

lock_driver::lock_driver(engine& owner, attempt what, const substrate::claim& claim,
                         const leasing::lock_session::terms& terms)
    : engine_(owner),
      spec_(std::move(what.spec)),
      local_(what.local),
      claim_(claim),
      session_(claim_, what.patience, terms, spec_->usual.pauses, owner.next_seed()),
      stop_callback_(what.may_stop ? std::make_unique<stop_callback>() : nullptr) {
  if (auto* const held = spec_->changes()) ++held->changes_;
}

monotonic_time lock_driver::present() noexcept { return follow_clock_rate(net::now()); }

lock_driver::~lock_driver() {
  if (auto* const held = spec_->changes()) --held->changes_;
}

// In a forked child the timers and their mutex are only a picture of the parent's.
void lock_driver::end_timer() noexcept {
  if (is_armed() && engine_.is_in_its_process()) engine_.timers().disarm(*this);
}

// ---- what callers want -------------------------------------------------------------------------

// All that it needs has been made with it: from here on, what must not be half done takes no memory
// that could fail, or ends the process.
void lock_driver::acquire(std::stop_token stop, listener who, bool drives) noexcept {
  std::unique_ptr<stop_callback> stops;
  if (stop.stop_possible()) {
    {
      const scoped_mutex lock(mutex_);
      stops = std::move(stop_callback_);
    }
    if (stops) stops->emplace(std::move(stop), stopper{this});  // it may be called here
  }
  const scoped_mutex lock(mutex_);
  if (session_.is_told()) return;  // abandoned just now: the listener is gone
  // Before the attempt begins: it may end, and the callback be destroyed, while this still runs.
  stop_callback_ = std::move(stops);
  caller_.who = who;
  obey(session().begin(present()), drives);
  caller_.who.together = nullptr;
}

bool lock_driver::abandon() noexcept {
  // Ends outside of the mutex, for which a callback that is running may wait.
  std::unique_ptr<stop_callback> stops;
  auto* const changed = spec_->changes();
  const bool was_held = changed != nullptr && changed->wants_renewal();
  bool untold = false;
  {
    const scoped_mutex lock(mutex_);
    stops = std::move(stop_callback_);
    untold = std::exchange(caller_.who, {}).exists();
    obey(session().abandon(present()));
  }
  if (changed != nullptr) changed->tell_local_lock(was_held);
  return untold;
}

void lock_driver::on_stop() noexcept {
  if (!engine_.is_in_its_process()) return;
  const auto alive = weak_from_this().lock();
  if (!alive) return;
  const scoped_mutex lock(mutex_);
  obey(session().on_stop(present()));
}

// Requests that are to change it ask behind its release.
bool lock_driver::release(listener who) noexcept {
  const bool had_changes = is_being_changed();
  const auto alive = had_changes ? shared_from_this() : nullptr;
  bool is_released = false;
  {
    const scoped_mutex lock(mutex_);
    is_released = session_.can_be_released();
    if (is_released) {
      caller_.who = who;
      obey(session_.release(net::now()), who.drives());
      caller_.who.together = nullptr;
    }
  }
  if (had_changes) engine_.wake_changes_of(*this);
  return is_released;
}

result<void> lock_driver::take_released() {
  const scoped_mutex lock(mutex_);
  if (!session_.is_released()) return failure{errc::unavailable, session_.why_unconfirmed()};
  if (caller_.code == errc{}) return {};
  return failure{caller_.code, caller_.detail ? *caller_.detail : std::string{}};
}

bool lock_driver::give_back(const listener& who) { return local_->release(*this, who); }

result<void> lock_driver::give_back_and_wait() {
  const auto alive = shared_from_this();
  auto& source = engine_.source_of(spec_->key.slot());
  net::waiter self{net::waiter::kind::caller, &source};
  if (!give_back({.sleeper = &self})) return {};
  source.drive(self);
  auto outcome = take_released();
  if (!outcome) source.forget(self);  // it may still be tried
  return outcome;
}

result<void> lock_driver::extend(milliseconds duration) {
  {
    const scoped_mutex lock(mutex_);
    session_.on_extending(duration);
  }
  const auto answer = ask_to_extend(duration);
  if (!answer) return answer.error();
  leasing::outcome how;
  happen([&](leasing::lock_session& its) {
    auto said = its.on_extended(answer->verdict, duration, answer->sent_at, is_being_changed(),
                                answer->answered_at);
    how = std::move(said.how);
    return said.then;
  });
  if (how.code) return failure{*how.code, how.detail};
  return {};
}

// ---- what happens ------------------------------------------------------------------------------

// It knows what has become of the lease that it changes.
leasing::lock_session& lock_driver::session() {
  if (const auto* const held = spec_->changes()) {
    using leasing::lock_session;
    session_.note_changed(held->wants_renewal() ? held->remaining() : lock_session::none_left);
  }
  return session_;
}

void lock_driver::on_timer(monotonic_time at) {
  happen([at](auto& its) { return its.on_timer(at); });
}

void lock_driver::on_change(leasing::change_news what, char other) {
  const scoped_mutex lock(mutex_);
  obey(session_.on_change(what, other, net::now()));
}

void lock_driver::on_replaced() {
  {
    const scoped_mutex lock(mutex_);
    obey(session_.on_replaced());
  }
  if (local_ != nullptr) local_->lost(*this);
}

void lock_driver::on_shut_down() noexcept {
  const scoped_mutex lock(mutex_);
  if (std::exchange(is_counted_, false)) engine_.ended();
  self_.reset();
}

// ---- what is done about it ---------------------------------------------------------------------

// While something is under way it keeps itself alive, and the client from being closed over it.
// The listener that is told may destroy this: every caller keeps a reference.
void lock_driver::obey(const leasing::effects& all, bool drives) {
  if (all.to_changed != leasing::change_news::none) {
    spec_->changes()->on_change(all.to_changed, spec_->wants->mode);
  }
  const bool is_under_way = session_.is_under_way(), delays_closing = session_.delays_closing();
  if (is_under_way && self_ == nullptr) self_ = shared_from_this();
  if (delays_closing && !std::exchange(is_counted_, true)) engine_.began();
  const auto until = session_.has_lease() ? session_.deadline() : monotonic_time{};
  deadline_.store(until.time_since_epoch().count(), std::memory_order_release);
  carry_out(all);
  if (session_.is_polling()) caller_.waited = true;
  if (all.wake_at) {
    set_timer(*all.wake_at);
  } else if (all.stops_timer) {
    engine_.timers().disarm(*this);
  }
  if (all.lost) loss_.fire(engine_.callbacks());
  if (all.ended) caller_.note(*all.ended);
  if (all.unheard) {
    const auto who = std::exchange(caller_.who, {});
    post(all, caller_.who, false);
    who.tell(engine_);
  } else {
    if (all.send != leasing::ask::nothing) post(all, caller_.who, drives);
    if (all.tell) std::exchange(caller_.who, {}).tell(engine_);
  }
  if (!delays_closing && std::exchange(is_counted_, false)) engine_.ended();
  if (!is_under_way) self_.reset();
}

void lock_driver::set_timer(monotonic_time at) {
  engine_.timers().arm(*this, session_.has_lease() ? fires_at(at) : at);
}

// Those who wait for another thread to release a lock, or to change it, need not wait when it is
// lost.
void lock_driver::tell_local_lock(bool was_held) {
  if (!was_held || wants_renewal()) return;
  if (local_ != nullptr) local_->lost(*this);
  if (is_being_changed()) engine_.wake_changes_of(*this);
}

}  // namespace holdfast::runtime
