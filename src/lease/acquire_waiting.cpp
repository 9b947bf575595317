// An attempt that stands in the queue: its place, and the message that its turn has come.
#include <algorithm>
#include <utility>

#include "lease/acquire_machine.hpp"
#include "lease/deadline.hpp"
#include "lease/waiting_times.hpp"

namespace holdfast::leasing {

// It has a place in the queue, which must be given up should it leave.
step acquire_machine::on_queued(const dialects::queued& where, moment now) {
  maybe_ours_ = true;
  claim_->ticket = where.ticket;
  // Majors are not behind the server's time: what it granted before this answer was lost since.
  waited_until_ = static_cast<dialects::token_major>(where.now.time_since_epoch().count());
  remember(answer::busy, {});
  step next;
  if (is_over(now)) {
    next = tell_patience_is_over(now);
  } else if (kept_) {
    const message heard = *std::exchange(kept_, std::nullopt);
    state_ = state::waiting;
    next = judge(heard.grant, heard.granted_at, heard.heard_at, now);
  } else if (woken_) {
    next = ask_for_it(now);
  } else if (claim_->way == dialects::wakeup_way::poll) {
    next = wait(std::min<nanoseconds>(retries_.next(while_busy_), until_turn(where)), now);
  } else {
    next = wait(until_turn(where) + retries_.up_to(milliseconds(10)), now);
  }
  next.learned = where.now;
  return next;
}

step acquire_machine::on_handed_over(const dialects::granted& grant, monotonic_time granted_at,
                                     moment now) {
  if (state_ == state::asking) kept_ = message{grant, granted_at, now.local};
  if (state_ != state::waiting) return {};
  return judge(grant, granted_at, now.local, now);
}

// A message that was long under way, or an old one, or one whose time says that the server's clock
// was set, proves nothing: the answer to a question does.
step acquire_machine::judge(const dialects::granted& grant, monotonic_time granted_at,
                            monotonic_time heard_at, moment now) {
  if (is_over(now)) return tell_patience_is_over(now);
  const monotonic_time deadline = lease_deadline(granted_at, grant.ttl);
  const bool is_new = grant.major > std::max({claim_->floor, claim_->granted, waited_until_});
  const bool agrees = granted_at <= heard_at && heard_at - granted_at <= grant.ttl / 2;
  if (!is_new || !agrees || now.local >= deadline) return ask_for_it(now);
  claim_->granted = grant.major;
  return hold(grant, granted_at, deadline);
}

step acquire_machine::hold(const dialects::granted& grant, monotonic_time granted_at,
                           monotonic_time deadline) {
  state_ = state::done;
  told_ = true;
  return {.done = acquire_outcome{.grant = grant, .granted_at = granted_at, .deadline = deadline},
          .finished = true};
}

step acquire_machine::on_deaf(moment now) {
  deaf_ = true;
  return on_woken(now);
}

}  // namespace holdfast::leasing
