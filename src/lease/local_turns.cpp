#include "lease/local_turns.hpp"

#include <algorithm>

namespace holdfast::leasing {

void local_turns::ask() noexcept {
  state_ = state::asking;
  revoked_ = false;
}

void local_turns::on_granted(substrate::token_major major, bool was_queued,
                             monotonic_time now) noexcept {
  state_ = state::held;
  major_ = major;
  minor_ = 0;
  was_queued_ = was_queued;
  slice_ends_ = now + local_slice;
  turn_ends_ = now + local_turn;
}

local_turns::waiter* local_turns::ask_next() noexcept {
  waiter* const next = first();
  if (next == nullptr) {
    state_ = state::free;
    return nullptr;
  }
  leave(*next);
  ask();
  return next;
}

local_turns::step local_turns::on_lost() noexcept {
  const bool is_unused = is_idle();
  return {.gives_back = is_unused, .asks = ask_next()};
}

local_turns::step local_turns::on_joined(waiter& who, const glance& seen) noexcept {
  line_.splice(line_.end(), who.place_);
  if (state_ == state::free) return on_failed();
  if (!is_idle()) return {};
  return may_hand_on(seen) ? hand_to_first(seen.now) : give_back();
}

local_turns::step local_turns::on_looked(waiter& who, const glance& seen) noexcept {
  if (&who != first()) return {};
  if (!is_idle()) {
    who.stage_ = waiter::stage::ready;
    return {};
  }
  return may_hand_on(seen) ? make_first_holder(seen.now) : give_back();
}

local_turns::step local_turns::on_left(waiter& who, const glance& seen) noexcept {
  leave(who);
  // It may have been woken to take the lock: nobody else knows that it is there.
  return is_idle() ? on_released(seen) : step{};
}

local_turns::step local_turns::hand_over(const glance& seen) noexcept {
  return may_hand_on(seen) && seen.now < turn_ends_ ? hand_to_first(seen.now) : give_back();
}

local_turns::step local_turns::hand_to_first(monotonic_time now) noexcept {
  waiter& next = *first();
  if (!next.is_thread_ || (next.stage_ == waiter::stage::ready && now >= slice_ends_)) {
    step given = make_first_holder(now);
    given.wakes = wake_first();
    return given;
  }
  state_ = state::offered;
  // It may have gone to sleep again; nobody else would ever wake it.
  if (next.stage_ == waiter::stage::ready) next.stage_ = waiter::stage::asleep;
  return {.wakes = wake_first()};
}

local_turns::step local_turns::make_first_holder(monotonic_time now) noexcept {
  waiter& next = *first();
  leave(next);
  slice_ends_ = now + local_slice;
  return {.minor = hold(), .holds = &next};
}

local_turns::waiter* local_turns::wake_first() noexcept {
  waiter* const next = first();
  if (next == nullptr || !next->is_thread_ || next->stage_ != waiter::stage::asleep) return nullptr;
  next->stage_ = waiter::stage::woken;
  return next;
}

local_turns::step local_turns::on_revoked() noexcept {
  revoked_ = true;
  return state_ == state::retained ? give_back() : step{};
}

local_turns::step local_turns::on_timer() noexcept {
  const bool was_used = timer_ == timer::used;
  timer_ = timer::off;
  if (state_ != state::retained) return {};
  return was_used ? retain() : give_back();
}

void local_turns::raise_floor(substrate::token_major seen) noexcept {
  floor_ = std::max(floor_, seen);
}

std::string to_string(const local_turns::step& what) {
  std::string text;
  const auto say = [&](bool is_so, std::string_view words) {
    if (!is_so) return;
    if (!text.empty()) text += "; ";
    text += words;
  };
  say(what.gives_back, "gives back");
  say(what.holds != nullptr, "holds it with minor " + std::to_string(what.minor));
  say(what.wakes != nullptr, "wakes");
  say(what.asks != nullptr, "asks");
  say(what.sets_timer, "sets the timer");
  return text.empty() ? "nothing" : text;
}

}  // namespace holdfast::leasing
