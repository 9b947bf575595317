#include "lease/lease_machine.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "lease/deadline.hpp"
#include "substrate/claim.hpp"

namespace holdfast::leasing {

using std::chrono::seconds;

lease_machine::lease_machine(milliseconds lease, bool renews, milliseconds granted,
                             monotonic_time granted_at, monotonic_time deadline, beat together,
                             bool by_message)
    : lease_(lease),
      deadline_(deadline),
      renews_(renews),
      claiming_(granted < lease || by_message),
      together_(together) {
  renew_at_ = claiming_ ? granted_at + nanoseconds(granted) / 3 : due_after(granted_at);
}

lease_step lease_machine::start() { return claiming_ && !renews_ ? renew() : wait(); }

lease_step lease_machine::on_timer(monotonic_time now) {
  if (!held(now)) return lose();
  if (is_renewed() && state_ == state::held && now >= renew_at_) return renew();
  return wait();
}

lease_step lease_machine::on_renewed(const substrate::renew_verdict& verdict,
                                     monotonic_time sent_at, monotonic_time now) {
  if (!held(now) || std::holds_alternative<substrate::not_mine>(verdict)) return lose();
  if (const auto* more = std::get_if<substrate::renewed>(&verdict)) {
    if (grows()) prolong(more->ttl, extending_, sent_at);
    state_ = state::held;
    was_late_ = claiming_ = false;
    if (sent_at < doubted_at_) return renew();  // the server before has answered
    doubted_at_ = never;
    renew_at_ = due_after(sent_at);
    return wait();
  }
  if (state_ != state::renewing) return {};
  if (std::holds_alternative<substrate::late>(verdict) && !was_late_) {
    was_late_ = true;
    return renew();
  }
  return retry_soon(now);
}

lease_step lease_machine::on_missing(monotonic_time now) {
  if (!held(now)) return lose();
  return state_ == state::renewing ? retry_soon(now) : lease_step{};
}

lease_step lease_machine::on_doubt(monotonic_time now) {
  if (!held(now)) return lose();
  doubted_at_ = now;
  return state_ == state::renewing ? lease_step{} : renew();
}

lease_step lease_machine::on_extended(milliseconds ttl, milliseconds asked, monotonic_time sent_at,
                                      monotonic_time now) {
  if (!held(now)) return lose();
  prolong(ttl, std::max(asked, extending_), sent_at);
  extending_ = milliseconds{0};
  return wait();
}

lease_step lease_machine::wait() const {
  const bool renewal_is_next = is_renewed() && state_ == state::held;
  return {.wake_at = renewal_is_next ? std::min(renew_at_, deadline_) : deadline_};
}

lease_step lease_machine::renew() {
  state_ = state::renewing;
  return {.renew = true, .wake_at = deadline_};
}

monotonic_time lease_machine::due_after(monotonic_time sent_at) const noexcept {
  const nanoseconds period = nanoseconds(lease_) / 3;
  const auto latest = sent_at + period;
  if (!together_) return latest;
  const nanoseconds phase = period / beats * *together_;
  return latest - (latest.time_since_epoch() - phase) % period;
}

lease_step lease_machine::retry_soon(monotonic_time now) {
  state_ = state::held;
  const nanoseconds pause = claiming_ ? nanoseconds(substrate::longest_claim) : nanoseconds(lease_);
  renew_at_ = now + std::min<nanoseconds>(pause / 12, seconds(1));
  return wait();
}

lease_step lease_machine::lose() {
  return {.lost = std::exchange(state_, state::lost) != state::lost};
}

// Never shortens: the server does not either. `asked`: by extend(), which may be more than usual.
void lease_machine::prolong(milliseconds ttl, milliseconds asked, monotonic_time sent_at) noexcept {
  deadline_ = std::max(deadline_, lease_deadline(sent_at, ttl, std::max(lease_, asked)));
}

}  // namespace holdfast::leasing
