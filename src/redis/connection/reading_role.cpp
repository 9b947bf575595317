#include "redis/connection/reading_role.hpp"

namespace holdfast::redis {

void reading_role::take_in_background_if_free() noexcept {
  if (is_free()) take_in_background();
}

bool reading_role::take(net::waiter& w, bool may_take) noexcept {
  if (w.was_offered_role()) {
    w.clear_role();
    return true;
  }
  if (!may_take || !is_free() || w.is_finished()) return false;
  holder_ = holder::caller;
  return true;
}

void reading_role::listen(net::waiter* who) {
  if (who != nullptr) {
    listeners_.push_back(who);
  } else {
    ++other_listeners_;
  }
}

void reading_role::unlisten(const net::waiter* who) {
  if (who != nullptr) {
    std::erase(listeners_, who);
  } else {
    --other_listeners_;
  }
}

void reading_role::forget(const net::waiter& leaving) noexcept {
  if (claimant_ == &leaving) claimant_ = nullptr;
}

// The thread that waited longest will get its message first, and then need not be woken for it.
bool reading_role::offer_to_listener(const net::waiter* leader) noexcept {
  for (net::waiter* const w : listeners_) {
    if (w == leader || !w->offer_role()) continue;
    holder_ = holder::caller;
    return true;
  }
  return false;
}

// The newest of those that asked has slept least and must be woken anyway.
bool reading_role::offer_to_newest(const net::waiter* leader,
                                   const request_queue& in_flight) noexcept {
  if (in_flight.empty()) return false;
  net::waiter* const newest = in_flight.last()->sleeper();
  if (newest == nullptr || newest == leader || !newest->offer_role()) return false;
  holder_ = holder::caller;
  return true;
}

// A thread that waits for a message goes on reading when it has read somebody else's answer; one
// that asked would have to wake it next.
bool reading_role::offer_to_callers(const net::waiter* leader,
                                    const request_queue& in_flight) noexcept {
  return offer_to_listener(leader) || offer_to_newest(leader, in_flight);
}

bool reading_role::nothing_to_read(const load& now) const noexcept {
  return now.in_flight.empty() && nobody_listens();
}

void reading_role::pass_on(const net::waiter& leader, const load& now) noexcept {
  if (nothing_to_read(now)) return give_up();
  const bool crowded = !now.in_flight.empty() && now.is_crowd();
  if ((leader.is_executor() || !crowded) && offer_to_callers(&leader, now.in_flight)) return;
  // An executor will be back for the rest after running its coroutines.
  if (leader.is_executor() && !now.in_flight.empty()) return give_up();
  take_in_background();
}

bool reading_role::leave_to_callers(const load& now, bool answers_thread, bool all_sent) noexcept {
  if (claimant_ != nullptr && claimant_->offer_role()) {
    claimant_ = nullptr;
    holder_ = holder::caller;
    return true;
  }
  calm_ = answers_thread && now.is_calm() ? calm_ + 1 : 0;
  if (calm_ < calm_enough_ || !all_sent) return false;
  if (nothing_to_read(now)) {
    give_up();  // the thread that was answered may be back at once
    return true;
  }
  return offer_to_callers(nullptr, now.in_flight);
}

}  // namespace holdfast::redis
