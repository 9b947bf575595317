#include "lease/acquire_machine.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "lease/deadline.hpp"
#include "lease/waiting_times.hpp"

namespace holdfast::leasing {
namespace {

constexpr int most_late_in_a_row = 3;

// Reasons for which no answer came and that waiting does not mend.
bool is_permanent(errc code) noexcept {
  switch (code) {
    case errc::authentication:
    case errc::permission_denied:
    case errc::not_redis:
    case errc::untrusted_server:
    case errc::invalid_argument:
    case errc::invalid_url:
    case errc::unsupported:
    case errc::forked:
    case errc::would_deadlock:
    case errc::embedded_server:
      return true;
    default:
      return false;
  }
}

std::string busy_detail(const substrate::busy& held) {
  if (!held.remaining) return {};
  return "the holder's lease runs for another " + std::to_string(held.remaining->count()) + " ms";
}

}  // namespace

acquire_machine::acquire_machine(substrate::claim& claim, patience how_long, const settings& with)
    : claim_(&claim),
      give_up_at_(how_long.waits ? how_long.give_up_at : monotonic_time::max()),
      retries_(with.seed),
      while_busy_(with.while_busy),
      response_timeout_(with.response_timeout),
      waits_(how_long.waits) {}

step acquire_machine::start(monotonic_time now) { return ask_for_it(now); }

step acquire_machine::on_acquired(const substrate::acquire_verdict& verdict, monotonic_time sent_at,
                                  monotonic_time now, std::uint64_t position) {
  answered_at_ = position;
  if (state_ == state::asking) return asked(verdict, sent_at, now);
  return state_ == state::withdrawing ? on_unwanted(verdict, now) : step{};
}

step acquire_machine::on_missing(no_answer how, const outcome& why, monotonic_time now) {
  const ask unanswered = std::exchange(under_way_, ask::nothing);
  if (unanswered == ask::nothing) return {};
  return unanswered == ask::acquire ? acquire_missing(how, why, now)
                                    : give_back_missing(how, why, now);
}

step acquire_machine::on_woken(monotonic_time now) {
  woken_ = state_ == state::asking;
  if (state_ != state::waiting) return {};
  return is_over(now) ? tell_patience_is_over(now) : ask_for_it(now);
}

step acquire_machine::on_tuned_in(bool hears, monotonic_time now) {
  tuned_in_ = hears;
  return on_woken(now);
}

step acquire_machine::on_timer(monotonic_time now) {
  if (state_ == state::done) return {};
  if (!told_ && is_over(now)) return tell_patience_is_over(now);
  if (under_way_ != ask::nothing) return wake(monotonic_time::max(), now);
  switch (state_) {
    case state::waiting:
      return ask_for_it(now);
    case state::doubting:
      return now < doubtful_until_ ? wake(doubtful_until_, now) : ask_for_it(now);
    default:
      return give_back(now);
  }
}

step acquire_machine::on_stop(monotonic_time now) {
  if (told_) return {};
  return tell(errc::cancelled, {}, now);
}

// ---- what the server answered to an acquire whose outcome the caller still awaits

step acquire_machine::asked(const substrate::acquire_verdict& verdict, monotonic_time sent_at,
                            monotonic_time now) {
  settled(now);
  if (const auto* grant = std::get_if<substrate::granted>(&verdict)) {
    return on_granted(*grant, sent_at, now);
  }
  if (const auto* server = std::get_if<substrate::late>(&verdict)) return on_late(*server, now);
  late_in_a_row_ = 0;
  if (const auto* held = std::get_if<substrate::busy>(&verdict)) return on_busy(*held, now);
  if (const auto* where = std::get_if<substrate::queued>(&verdict)) return on_queued(*where, now);
  if (std::holds_alternative<substrate::unfinished>(verdict)) {
    maybe_ours_ = true;
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
  maybe_ours_ = true;
  to_give_back_ = way_back();
  remember(answer::refusal, in_order ? "a grant, so late that its lease could have ended"
                                     : "a grant whose token is not above those before it");
  if (!waits_ || is_over(now)) return tell_patience_is_over(now);
  return give_back(now);
}

step acquire_machine::on_busy(const substrate::busy& held, monotonic_time now) {
  maybe_ours_ = false;
  if (!waits_) return tell(errc::busy, busy_detail(held), now);
  remember(answer::busy, {});
  if (claim_->waits && !std::exchange(asked_plainly_, true) && !is_over(now))
    return ask_for_it(now);
  if (woken_ && !is_over(now)) return ask_for_it(now);
  nanoseconds pause = tuned_in_ ? ask_bound(0) : retries_.next(while_busy_);
  if (held.remaining) {
    const nanoseconds until_expiry = std::max(*held.remaining, milliseconds(0));
    pause = std::min(pause, until_expiry + retries_.up_to(while_busy_.first));
  }
  return wait(pause, now);
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
  remember(answer::refusal, refusal.detail);
  return wait(retries_.next(while_busy_), now);
}

// ---- what comes while withdrawing

// An answer to an acquire that is not wanted any more.
step acquire_machine::on_unwanted(const substrate::acquire_verdict& verdict, monotonic_time now) {
  if (const auto* grant = std::get_if<substrate::granted>(&verdict)) {
    claim_->granted = grant->major;
    to_give_back_ = way_back();
    maybe_ours_ = true;
  }
  // Only one request at a time: a release follows the answer to the withdraw.
  if (giving_back()) return {};
  settled(now);
  if (std::holds_alternative<substrate::busy>(verdict)) maybe_ours_ = false;
  if (std::holds_alternative<substrate::queued>(verdict) ||
      std::holds_alternative<substrate::unfinished>(verdict)) {
    maybe_ours_ = true;  // a place in the queue
  }
  step next = give_back(now);
  if (const auto* server = std::get_if<substrate::late>(&verdict)) next.learned = server->now;
  return next;
}

step acquire_machine::on_given_back(const substrate::release_verdict& verdict, monotonic_time now) {
  if (!giving_back()) return {};
  const bool grant_crossed_it = std::exchange(under_way_, ask::nothing) != to_give_back_;
  if (std::holds_alternative<substrate::unfinished>(verdict)) return give_back(now);
  if (std::holds_alternative<substrate::not_undone>(verdict)) return on_not_undone(now);
  const auto* refusal = std::get_if<substrate::refused>(&verdict);
  if (refusal != nullptr && refusal->passing) return give_back_later(now);
  maybe_ours_ = grant_crossed_it && refusal == nullptr;
  if (refusal != nullptr && !told_) return tell(refusal->code, refusal->detail, now);
  return give_back(now);
}

// ---- no answer

step acquire_machine::acquire_missing(no_answer how, const outcome& why, monotonic_time now) {
  if (how != no_answer::unknown) {
    settled(now);
  } else {
    proof_is_known_ = proof_is_known_ || maybe_ours_;
    maybe_ours_ = true;
  }
  if (told_) return give_back(now);
  late_in_a_row_ = 0;
  const errc code = why.code.value_or(errc::unavailable);
  const bool hopeless = how == no_answer::unreachable || is_permanent(code);
  if (how != no_answer::unknown && (!waits_ || hopeless)) {
    return tell(code, why.detail, now);
  }
  remember(answer::unreachable, why.detail);
  if (!waits_ || is_over(now)) return tell_patience_is_over(now);
  if (how != no_answer::unknown) return wait(retries_.next(while_unreachable), now);
  state_ = state::doubting;
  return wake(doubtful_until_, now);
}

step acquire_machine::give_back_missing(no_answer how, const outcome& why, monotonic_time now) {
  // A release that names no token could, executed later, free what we are granted next.
  const bool names_it = claim_->granted != 0 && way_back() == ask::release;
  const bool could_hit_next_grant = how == no_answer::unknown && !names_it;
  if (told_ || !could_hit_next_grant) return give_back_later(now);
  told_ = true;
  step next = give_back_later(now);
  next.done = acquire_outcome{.code = errc::unavailable, .detail = why.detail};
  return next;
}

// ---- what to do next

step acquire_machine::ask_for_it(monotonic_time now) {
  if (deaf_ && claim_->way == substrate::wakeup_way::channel) {
    // One who polls has a place of his own in the queue: first the other is given up.
    if (maybe_ours_) return give_back(now);
    claim_->way = substrate::wakeup_way::poll;
  }
  state_ = state::asking;
  under_way_ = ask::acquire;
  woken_ = false;
  kept_.reset();
  doubtful_until_ = too_late_from(now, response_timeout_);
  step next = wake(monotonic_time::max(), now);
  next.send = ask::acquire;
  next.resend = maybe_ours_ || asked_plainly_;
  return next;
}

step acquire_machine::wait(nanoseconds pause, monotonic_time now) {
  if (is_over(now)) return tell_patience_is_over(now);
  state_ = state::waiting;
  asks_at_ = now + pause;
  return wake(asks_at_, now);
}

// Tells the caller that he does not get the lock, and cleans up after the attempt.
step acquire_machine::tell(errc code, std::string detail, monotonic_time now) {
  told_ = true;
  retries_.reset();
  step next;
  if (under_way_ == ask::nothing) {
    next = give_back(now);
  } else {
    state_ = state::withdrawing;
  }
  next.done = acquire_outcome{.code = code, .detail = std::move(detail)};
  return next;
}

step acquire_machine::tell_patience_is_over(monotonic_time now) {
  switch (last_) {
    case answer::none:
      return tell(errc::timed_out, "the server has not answered yet", now);
    case answer::busy:
      return tell(errc::timed_out, "somebody else still held the lock when last asked", now);
    case answer::refusal:
      return tell(errc::timed_out, "the server's last answer was: " + last_detail(), now);
    case answer::unreachable:
      return tell(errc::unavailable, last_detail(), now);
  }
  return {};
}

// Nothing is under way. Gives back what may be ours, then ends or, if the caller still waits, goes
// on. Comes back here after each answer.
step acquire_machine::give_back(monotonic_time now) {
  if (maybe_ours_) {
    state_ = state::withdrawing;
    if (now < doubtful_until_) return wake(doubtful_until_, now);
    under_way_ = to_give_back_;
    step next = wake(monotonic_time::max(), now);
    next.send = to_give_back_;
    return next;
  }
  if (!told_) {
    to_give_back_ = ask::withdraw;
    claim_->granted = 0;
    return wait(retries_.next(while_busy_), now);
  }
  state_ = state::done;
  return {.finished = true};
}

step acquire_machine::give_back_later(monotonic_time now) {
  if (now >= ends_by_itself_at()) {
    maybe_ours_ = false;
    unclear_ = true;
    return give_back(now);
  }
  return wake(std::min(now + retries_.next(while_unreachable), ends_by_itself_at()), now);
}

// A timer, but not later than the caller is willing to wait. None at all if that is for ever.
step acquire_machine::wake(monotonic_time at, monotonic_time now) const {
  if (!told_) at = std::min(at, give_up_at_);
  if (at == monotonic_time::max()) return {};
  return {.wake_at = std::max(at, now)};
}

// ---- small questions

void acquire_machine::remember(answer last, std::string_view detail) {
  // An unreachable server and a busy lock have pauses of different length.
  if ((last == answer::unreachable) != (last_ == answer::unreachable)) retries_.reset();
  last_ = last;
  last_detail_ = detail.empty() ? nullptr : std::make_unique<const std::string>(detail);
}

monotonic_time acquire_machine::executable_until() const noexcept {
  return doubtful_until_ - clock_allowance(response_timeout_);
}

// The acquire under way was answered or was never sent, so no copy of it is left.
void acquire_machine::settled(monotonic_time now) noexcept {
  under_way_ = ask::nothing;
  doubtful_until_ = std::min(doubtful_until_, now);
}

bool acquire_machine::giving_back() const noexcept {
  return under_way_ == ask::release || under_way_ == ask::withdraw;
}

monotonic_time acquire_machine::deadline_of(const substrate::granted& grant,
                                            monotonic_time granted_at) const noexcept {
  if (grant.for_good) return lease_deadline(granted_at, grant.ttl);
  return lease_deadline(granted_at, grant.ttl, substrate::asked_time(*claim_));
}

bool acquire_machine::is_over(monotonic_time now) const noexcept { return now >= give_up_at_; }

// A lock that was granted at the last possible moment has ended by then, whatever we do.
monotonic_time acquire_machine::ends_by_itself_at() const noexcept {
  const milliseconds kept = substrate::kept_time(*claim_);
  return doubtful_until_ + kept + clock_allowance(kept);
}

}  // namespace holdfast::leasing
