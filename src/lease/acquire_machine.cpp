#include "lease/acquire_machine.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "lease/deadline.hpp"
#include "lease/waiting_times.hpp"

namespace holdfast::leasing {
namespace {

constexpr int most_late_in_a_row = 3;

std::string busy_detail(const substrate::busy& held) {
  if (!held.remaining) return {};
  return "the holder's lease runs for another " + std::to_string(held.remaining->count()) + " ms";
}

}  // namespace

acquire_machine::acquire_machine(substrate::claim& claim, patience how_long, const settings& with)
    : claim_(&claim),
      give_up_at_(how_long.waits ? how_long.give_up_at : monotonic_time::max()),
      waiting_(with.while_busy, with.seed),
      withdrawal_(with.response_timeout),
      waits_(how_long.waits) {}

step acquire_machine::start(monotonic_time now) { return ask_for_it(now); }

step acquire_machine::on_acquired(const substrate::acquire_verdict& verdict, monotonic_time sent_at,
                                  monotonic_time now, std::uint64_t position) {
  answered_at_ = position;
  if (state_ == state::asking) return asked(verdict, sent_at, now);
  const bool gives_back = state_ == state::retreating || state_ == state::withdrawing;
  return gives_back ? on_unwanted(verdict, now) : step{};
}

step acquire_machine::on_missing(no_answer how, const outcome& why, monotonic_time now) {
  const ask unanswered = withdrawal_.end_request();
  if (unanswered == ask::nothing) return {};
  return unanswered == ask::acquire ? acquire_missing(how, why, now)
                                    : give_back_missing(how, why, now);
}

step acquire_machine::on_woken(monotonic_time now) {
  waiting_.wake(state_ == state::asking);
  if (state_ != state::waiting) return {};
  return is_over(now) ? tell_patience_is_over(now) : ask_for_it(now);
}

step acquire_machine::on_tuned_in(bool hears, monotonic_time now) {
  waiting_.tune_in(hears);
  return on_woken(now);
}

step acquire_machine::on_deaf(monotonic_time now) {
  deaf_ = true;
  return on_woken(now);
}

step acquire_machine::on_handed_over(const substrate::granted& grant, monotonic_time granted_at,
                                     monotonic_time now, std::uint64_t position) {
  return hear({position, now, grant, granted_at}, now);
}

step acquire_machine::on_first_in_line(nanoseconds owner_has, monotonic_time now,
                                       std::uint64_t position) {
  const auto whole = std::chrono::ceil<milliseconds>(owner_has);
  return hear({position, now, {.ttl = whole}, {}}, now);
}

step acquire_machine::on_timer(monotonic_time now) {
  if (state_ == state::done) return {};
  if (!is_told() && is_over(now)) return tell_patience_is_over(now);
  if (withdrawal_.awaits_answer()) return wake(monotonic_time::max(), now);
  switch (state_) {
    case state::waiting:
      return ask_for_it(now);
    case state::doubting:
      return now < withdrawal_.doubtful_until() ? wake(withdrawal_.doubtful_until(), now)
                                                : ask_for_it(now);
    default:
      return give_back(now);
  }
}

step acquire_machine::on_stop(monotonic_time now) {
  return is_told() ? step{} : tell(errc::cancelled, {}, now);
}

// ---- what the server answered to an acquire whose outcome the caller still awaits

step acquire_machine::asked(const substrate::acquire_verdict& verdict, monotonic_time sent_at,
                            monotonic_time now) {
  withdrawal_.settle(now);
  if (const auto* grant = std::get_if<substrate::granted>(&verdict)) {
    return on_granted(*grant, sent_at, now);
  }
  if (const auto* server = std::get_if<substrate::late>(&verdict)) return on_late(*server, now);
  late_in_a_row_ = 0;
  if (const auto* held = std::get_if<substrate::busy>(&verdict)) return on_busy(*held, now);
  if (const auto* where = std::get_if<substrate::queued>(&verdict)) return on_queued(*where, now);
  if (std::holds_alternative<substrate::unfinished>(verdict)) {
    withdrawal_.need(true);
    return is_over(now) ? tell_patience_is_over(now) : ask_for_it(now);
  }
  return on_refused(std::get<substrate::refused>(verdict), now);
}

step acquire_machine::on_granted(const substrate::granted& grant, monotonic_time sent_at,
                                 monotonic_time now) {
  claim_->granted = grant.major;
  const monotonic_time deadline = deadline_of(grant, sent_at);
  const bool in_order = grant.major == 0 || grant.major > claim_->floor;
  if (now < deadline && in_order) return hold(grant, sent_at, deadline);
  withdrawal_.refuse(grant, *claim_);
  waiting_.remember(answer::refusal, in_order ? "a grant, so late that its lease could have ended"
                                              : "a grant whose token is not above those before it");
  if (!waits_ || is_over(now)) return tell_patience_is_over(now);
  return give_back(now);
}

step acquire_machine::on_busy(const substrate::busy& held, monotonic_time now) {
  withdrawal_.need(false);
  if (!waits_) return tell(errc::busy, busy_detail(held), now);
  waiting_.remember(answer::busy, {});
  const bool asks_plainly = claim_->waits && !std::exchange(asked_plainly_, true);
  if ((asks_plainly || waiting_.was_woken()) && !is_over(now)) return ask_for_it(now);
  return wait(now + waiting_.pause(held), now);
}

// It has a place in the queue, which must be given up should it leave.
step acquire_machine::on_queued(const substrate::queued& where, monotonic_time now) {
  withdrawal_.take_place(where, *claim_);
  waiting_.remember(answer::busy, {});
  const auto heard = std::exchange(kept_, nullptr);
  step next;
  if (is_over(now)) {
    next = tell_patience_is_over(now);
  } else if (heard && heard->position >= answered_at_) {
    waiting_.asks_at(now + until_turn(where));
    next = judge(*heard, now);
  } else if (waiting_.was_woken()) {
    next = ask_for_it(now);
  } else {
    next = wait(now + waiting_.pause(where, claim_->way), now);
  }
  next.learned = where.now;
  return next;
}

// The request needed longer to the server than its not-after allowed.
step acquire_machine::on_late(const substrate::late& server, monotonic_time now) {
  step next;
  if (is_over(now)) {
    next = tell_patience_is_over(now);
  } else if (++late_in_a_row_ > most_late_in_a_row) {
    next = tell(errc::clock_skew, "the server finds every request too old", now);
  } else {
    next = ask_for_it(now);
  }
  next.learned = server.now;
  return next;
}

step acquire_machine::on_refused(const substrate::refused& refusal, monotonic_time now) {
  if (!refusal.passing || !waits_) return tell(refusal.code, refusal.detail, now);
  waiting_.remember(answer::refusal, refusal.detail);
  return wait(now + waiting_.pause(), now);
}

// ---- what was said on the channel

// On several threads the client may hear an answer after a message that the server sent later. A
// message that the server sent before the answer is obsolete: for example, a grant was lost with
// the server's memory, and the request waits again.
step acquire_machine::hear(const queue_message& said, monotonic_time now) {
  if (state_ == state::asking) kept_ = std::make_unique<const queue_message>(said);
  if (state_ != state::waiting || said.position < answered_at_) return {};
  return judge(said, now);
}

step acquire_machine::judge(const queue_message& said, monotonic_time now) {
  if (is_over(now)) return tell_patience_is_over(now);
  if (!said.is_grant()) return wait(waiting_.asks_at(said), now);
  const monotonic_time deadline = deadline_of(said.grant, said.granted_at);
  const bool is_believed = said.proves_grant(*claim_) && !withdrawal_.is_proof_known();
  if (!is_believed || now >= deadline) return ask_for_it(now);
  claim_->granted = said.grant.major;
  step next = hold(said.grant, said.granted_at, deadline);
  next.done->by_message = true;
  return next;
}

step acquire_machine::hold(const substrate::granted& grant, monotonic_time granted_at,
                           monotonic_time deadline) {
  state_ = state::done;
  return {.done = acquire_outcome{.grant = grant, .granted_at = granted_at, .deadline = deadline},
          .finished = true};
}

// ---- what comes while withdrawing

// An answer to an acquire that is not wanted any more.
step acquire_machine::on_unwanted(const substrate::acquire_verdict& verdict, monotonic_time now) {
  withdrawal_.on_unwanted(verdict, *claim_, now);
  if (withdrawal_.is_under_way()) return {};
  step next = give_back(now);
  if (const auto* server = std::get_if<substrate::late>(&verdict)) next.learned = server->now;
  return next;
}

step acquire_machine::on_given_back(const substrate::release_verdict& verdict, monotonic_time now) {
  if (!withdrawal_.is_under_way()) return {};
  const bool grant_crossed_it = withdrawal_.end_request() != withdrawal_.how();
  if (std::holds_alternative<substrate::unfinished>(verdict)) return give_back(now);
  if (std::holds_alternative<substrate::not_undone>(verdict)) return on_not_undone(now);
  const auto* refusal = std::get_if<substrate::refused>(&verdict);
  if (refusal != nullptr && refusal->passing) return give_back_later(now);
  withdrawal_.need(grant_crossed_it && refusal == nullptr);
  if (refusal != nullptr && !is_told()) return tell(refusal->code, refusal->detail, now);
  return give_back(now);
}

// A change of a lease cannot be given back before its holder stops believing in it.
step acquire_machine::on_not_undone(monotonic_time now) {
  step next = is_told() ? give_back(now)
                        : tell(errc::lost,
                               "the lease was changed, the answer came too late to be believed, "
                               "and others have come in beside it since",
                               now);
  next.cannot_undo = true;
  return next;
}

// ---- no answer

step acquire_machine::acquire_missing(no_answer how, const outcome& why, monotonic_time now) {
  if (how != no_answer::unknown) {
    withdrawal_.settle(now);
  } else {
    withdrawal_.doubt();
  }
  if (is_told()) return give_back(now);
  late_in_a_row_ = 0;
  const errc code = why.code.value_or(errc::unavailable);
  const bool hopeless = how == no_answer::unreachable || !can_pass(code);
  if (how != no_answer::unknown && (!waits_ || hopeless)) {
    return tell(code, why.detail, now);
  }
  waiting_.remember(answer::unreachable, why.detail);
  if (!waits_ || is_over(now)) return tell_patience_is_over(now);
  if (how != no_answer::unknown) return wait(now + waiting_.pause_for_server(), now);
  state_ = state::doubting;
  return wake(withdrawal_.doubtful_until(), now);
}

step acquire_machine::give_back_missing(no_answer how, const outcome& why, monotonic_time now) {
  // A release that names no token could, executed later, free what we are granted next.
  const bool names_it = claim_->granted != 0 && way_back(*claim_) == ask::release;
  const bool could_hit_next_grant = how == no_answer::unknown && !names_it;
  if (is_told() || !could_hit_next_grant) return give_back_later(now);
  state_ = state::withdrawing;
  step next = give_back_later(now);
  next.done = acquire_outcome{.code = errc::unavailable, .detail = why.detail};
  return next;
}

// ---- what to do next

step acquire_machine::ask_for_it(monotonic_time now) {
  if (deaf_ && claim_->way == substrate::wakeup_way::channel) {
    // A waiter that polls has a place of its own in the queue: first the other is given up.
    if (withdrawal_.is_needed()) return give_back(now);
    claim_->way = substrate::wakeup_way::poll;
  }
  state_ = state::asking;
  waiting_.wake(false);
  kept_.reset();
  step next = wake(monotonic_time::max(), now);
  next.send = withdrawal_.send_acquire(now);
  next.resend = withdrawal_.is_needed() || asked_plainly_;
  return next;
}

step acquire_machine::wait(monotonic_time until, monotonic_time now) {
  if (is_over(now)) return tell_patience_is_over(now);
  state_ = state::waiting;
  return wake(waiting_.asks_at(until), now);
}

// Tells the caller that it does not get the lock, and cleans up after the attempt.
step acquire_machine::tell(errc code, std::string detail, monotonic_time now) {
  state_ = state::withdrawing;
  waiting_.reset();
  step next;
  if (!withdrawal_.awaits_answer()) next = give_back(now);
  next.done = acquire_outcome{.code = code, .detail = std::move(detail)};
  return next;
}

step acquire_machine::tell_patience_is_over(monotonic_time now) {
  outcome why = waiting_.out_of_patience();
  return tell(*why.code, std::move(why.detail), now);
}

// Nothing is under way. Gives back what may be ours, then ends or, if the caller still waits, goes
// on. Comes back here after each answer.
step acquire_machine::give_back(monotonic_time now) {
  if (withdrawal_.is_needed()) {
    if (!is_told()) state_ = state::retreating;
    if (now < withdrawal_.doubtful_until()) return wake(withdrawal_.doubtful_until(), now);
    step next = wake(monotonic_time::max(), now);
    next.send = withdrawal_.send();
    return next;
  }
  if (!is_told()) {
    withdrawal_.begin_anew(*claim_);
    return wait(now + waiting_.pause(), now);
  }
  state_ = state::done;
  return {.finished = true};
}

step acquire_machine::give_back_later(monotonic_time now) {
  const auto ends_by_itself_at = withdrawal_.ends_by_itself_at(*claim_);
  if (now >= ends_by_itself_at) {
    withdrawal_.give_up();
    return give_back(now);
  }
  return wake(std::min(now + waiting_.pause_for_server(), ends_by_itself_at), now);
}

// A timer, but not later than the caller is willing to wait. None at all if that is for ever.
step acquire_machine::wake(monotonic_time at, monotonic_time now) const {
  if (!is_told()) at = std::min(at, give_up_at_);
  if (at == monotonic_time::max()) return {};
  return {.wake_at = std::max(at, now)};
}

monotonic_time acquire_machine::deadline_of(const substrate::granted& grant,
                                            monotonic_time granted_at) const noexcept {
  if (grant.for_good) return lease_deadline(granted_at, grant.ttl);
  return lease_deadline(granted_at, grant.ttl, substrate::asked_time(*claim_));
}

}  // namespace holdfast::leasing
