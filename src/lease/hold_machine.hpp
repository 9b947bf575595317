// A held lease: when to renew it, when it is lost. No clock, socket or thread.
#pragma once

#include <optional>

#include "lease/step.hpp"

namespace holdfast::leasing {

// What the runtime must do for a held lease.
struct hold_step {
  bool renew = false;                     // put it into the next batch of renewals
  std::optional<monotonic_time> wake_at;  // call on_timer then; replaces what was set before
  bool lost = false;                      // tell the owner, once
  friend bool operator==(const hold_step&, const hold_step&) = default;
};

//   state \ event | timer                     | renewed  | not mine | no answer/passing | late        | released
//   held          | renew -> renewing; lost at the deadline | deadline grows | lost | -  | -           | closed
//   renewing      | lost at the deadline      | held     | lost     | held, retry soon  | held, at once | closed
//   lost, closed  | -                         | -        | -        | -                 | -           | closed
//
// A renewal is due at a third of the lease. A failed one is tried again after 1/12 of the lease (at
// most 1 s) until the deadline. A fixed lease is never renewed: it is lost at its deadline.
class hold_machine {
 public:
  hold_machine(milliseconds lease, bool renews, monotonic_time granted_at, monotonic_time deadline);

  hold_step start() const;
  hold_step on_timer(monotonic_time now);
  hold_step on_renewed(const dialects::renew_verdict&, monotonic_time sent_at, monotonic_time now);
  hold_step on_missing(monotonic_time now);
  // extend() by the user was answered; the lease may now be longer than usual.
  hold_step on_extended(milliseconds ttl, monotonic_time sent_at, monotonic_time now);
  void on_released();

  bool held(monotonic_time now) const noexcept { return !over_ && now < deadline_; }
  monotonic_time deadline() const noexcept { return deadline_; }

 private:
  milliseconds lease_;
  bool renews_;
  bool renewing_ = false;
  bool over_ = false;  // lost or closed
  monotonic_time deadline_;
  monotonic_time renew_at_;
};

}  // namespace holdfast::leasing
