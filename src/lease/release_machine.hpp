// Giving a lock back. No clock, socket or thread.
#pragma once

#include "lease/step.hpp"

namespace holdfast::leasing {

//   state \ event | released | not mine              | refused, passing / no answer    | refused for good | timer
//   asking        | done: ok | done: lost, or ok (1) | waiting, retry until deadline   | done: the reason | -
//   waiting       | -        | -                     | -                               | -                | asking
//
// (1) A resent release that finds "not mine" before the lease's deadline counts as released: the
// first copy did it. After the deadline the lock ends by itself: done with `unavailable`.
class release_machine {
 public:
  release_machine(const dialects::recipe& recipe, dialects::claim claim, monotonic_time deadline);

  step start(monotonic_time now);
  step on_reply(const resp::value& reply, monotonic_time now);
  step on_missing(missing how, monotonic_time now);
  step on_timer(monotonic_time now);

  void write(resp::writer& out) const;

 private:
  const dialects::recipe* recipe_;
  dialects::claim claim_;
  monotonic_time deadline_;
  bool resent_ = false;
  milliseconds retry_{10};
};

}  // namespace holdfast::leasing
