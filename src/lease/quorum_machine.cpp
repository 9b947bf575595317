#include "lease/quorum_machine.hpp"

#include <algorithm>
#include <utility>

#include "lease/deadline.hpp"

namespace holdfast::leasing {

using substrate::vote;

quorum_machine::quorum_machine(patience how_long, const settings& with)
    : patience_(how_long),
      settings_(with),
      ballot_{.names = with.names, .seats = std::vector<ballot::seat>(with.names.size())},
      split_retries_(with.seed),
      polls_(with.seed + 1) {}

quorum_step quorum_machine::start(monotonic_time now) { return ask(now); }

quorum_step quorum_machine::ask(monotonic_time now) {
  ++attempt_;
  state_ = state::asking;
  hinted_ = cut_short_ = ballot_.founding = false;
  ballot_.token = 0;
  ballot_.asked_at = now;
  wake_at_ = bounded(now + settings_.member_timeout);
  quorum_step next{.new_request = true, .wake_at = wake_at_};
  for (std::size_t i = 0; i < ballot_.seats.size(); ++i) {
    ballot_.seats[i] = {.was_silent = is_silent(i), .may_have_voted = true};
    next.send.push_back({i, member_ask::what::vote});
  }
  return next;
}

// ---- what members say --------------------------------------------------------------------------

quorum_step quorum_machine::on_vote(std::uint32_t attempt, std::size_t member, const vote& said,
                                    monotonic_time sent_at, monotonic_time now) {
  seat& from = ballot_.seats[member];
  from.was_silent = false;
  if (attempt != attempt_ || (from.said != answer::none && from.said != answer::silent)) return {};
  if (is_done()) return hear_late(member, said);
  if (state_ == state::waiting) return {};
  if (std::holds_alternative<substrate::voted_before>(said)) {
    // It was never asked before with this request id: but the same server was, as another member.
    from.may_have_voted = true;
    return conclude(take_votes_back(), errc::invalid_argument,
                    ballot_.names[member] + " is the same server as another member of the quorum");
  }
  if (!from.hear(said, ballot_.token, lease_deadline(sent_at, settings_.lease))) {
    return {.send = {{member, ballot_.founding ? member_ask::what::join : member_ask::what::vote}}};
  }
  return decide(now);
}

quorum_step quorum_machine::on_agreed(std::uint32_t attempt, std::size_t member,
                                      const substrate::renew_verdict& said, monotonic_time now) {
  seat& from = ballot_.seats[member];
  if (attempt != attempt_ || state_ != state::agreeing || from.said != answer::unsettled) return {};
  if (std::holds_alternative<substrate::renewed>(said)) {
    from.said = answer::agreed;
  } else if (std::holds_alternative<substrate::late>(said) && !std::exchange(from.was_late, true)) {
    return {.send = {{member, member_ask::what::agree}}};
  } else {
    from.said = answer::changed;
    from.detail = "its vote had run out before it could be confirmed";
    if (const auto* no = std::get_if<substrate::refused>(&said)) from.detail = no->detail;
  }
  return decide(now);
}

quorum_step quorum_machine::on_missing(std::uint32_t attempt, std::size_t member, no_answer how,
                                       std::string_view why, monotonic_time now) {
  seat& from = ballot_.seats[member];
  const bool is_present = attempt == attempt_ && !is_done() && state_ != state::waiting;
  if (!is_present || (from.said != answer::none && from.said != answer::unsettled)) return {};
  if (from.said == answer::none) from.may_have_voted = from.in_doubt = how == no_answer::unknown;
  from.said = answer::silent;
  from.detail = why;
  return decide(now);
}

// ---- what follows ------------------------------------------------------------------------------

quorum_step quorum_machine::decide(monotonic_time now) {
  if (state_ == state::asking) {
    if (ballot_.has_majority(answer::voted)) return choose(now);
    if (ballot_.founding || ballot_.has_majority(answer::blank)) return found(now);
    return ballot_.can_succeed(true) ? quorum_step{} : fail(now);
  }
  if (ballot_.has_majority(answer::agreed)) return hold(now);
  if (!ballot_.can_succeed(false)) return fail(now);
  if (ballot_.count(answer::voted) > 0) return choose(now);
  // An answer does not say to which token: so not while one is under way.
  if (ballot_.count(answer::unsettled) > 0) return {};
  const std::size_t above_too = ballot_.count(answer::agreed) + ballot_.count(answer::above);
  return above_too >= ballot_.needed() ? choose_anew(now) : quorum_step{};
}

// A majority has voted. A member that votes later agrees to the same token.
quorum_step quorum_machine::choose(monotonic_time now) {
  quorum_step next;
  if (state_ == state::asking) {
    for (const seat& each : ballot_.seats) {
      if (each.said == answer::voted) ballot_.token = std::max(ballot_.token, each.major);
    }
    state_ = state::agreeing;
    next.wake_at = wake_at_ = bounded(now + settings_.member_timeout);
  }
  for (std::size_t i = 0; i < ballot_.seats.size(); ++i) {
    seat& each = ballot_.seats[i];
    if (each.said != answer::voted) continue;
    each.said = each.major >= ballot_.token ? answer::agreed : answer::unsettled;
    if (each.said == answer::unsettled) next.send.push_back({i, member_ask::what::agree});
  }
  return ballot_.has_majority(answer::agreed) ? hold(now) : next;
}

// Too few can agree to the token, but with those that voted above it they are enough.
quorum_step quorum_machine::choose_anew(monotonic_time now) {
  for (seat& each : ballot_.seats) {
    if (each.said == answer::agreed || each.said == answer::above) each.said = answer::voted;
  }
  state_ = state::asking;
  return choose(now);
}

quorum_step quorum_machine::hold(monotonic_time now) {
  quorum_outcome got{.asked_at = ballot_.asked_at, .won_at = now};
  for (std::size_t i = 0; i < ballot_.seats.size(); ++i) {
    const seat& each = ballot_.seats[i];
    got.deadlines.push_back(each.said == answer::agreed ? each.deadline : monotonic_time::min());
    // Also where the question is still open: nobody listens here when it is lost.
    const bool is_unheard = each.may_have_voted && each.deadline == monotonic_time::min();
    if (is_unheard) got.in_doubt.push_back(i);
  }
  if (now >= majority_deadline(got.deadlines)) {
    for (seat& each : ballot_.seats) {
      if (each.said != answer::agreed) continue;
      each.said = answer::silent;
      each.detail = "its answer came when the lease was as good as over";
    }
    return fail(now);
  }
  state_ = state::held;
  quorum_step end{.done = std::move(got)};
  send_away_blank(end);
  return end;
}

quorum_step quorum_machine::found(monotonic_time now) {
  quorum_step next;
  if (!std::exchange(ballot_.founding, true))
    next.wake_at = wake_at_ = bounded(now + settings_.member_timeout);
  for (std::size_t i = 0; i < ballot_.seats.size(); ++i) {
    if (ballot_.seats[i].said != answer::blank) continue;
    ballot_.seats[i].said = answer::none;
    ballot_.seats[i].may_have_voted = true;
    next.send.push_back({i, member_ask::what::join});
  }
  if (next.send.empty() && !ballot_.can_succeed(true)) return fail(now);
  return next;
}

quorum_step quorum_machine::hear_late(std::size_t member, const vote& said) {
  if (state_ != state::held) return {};
  if (std::holds_alternative<substrate::granted>(said)) {
    ballot_.seats[member].said = answer::voted;
    return {.send = {{member, member_ask::what::confirm}}};
  }
  // The lock's hash slot is new to all members, also to this one. Its vote would come too late: it
  // may be released already.
  if (!ballot_.founding || !std::holds_alternative<substrate::without_memory>(said)) return {};
  ballot_.seats[member].said = answer::blank;
  return {.send = {{member, member_ask::what::enter}}};
}

quorum_step quorum_machine::fail(monotonic_time now) {
  was_split_ = ballot_.ours() > 0;
  quorum_step next = take_votes_back();
  send_away_blank(next);
  const errc why = ballot_.reason();
  if (!patience_.waits || ballot_.is_final(why))
    return conclude(std::move(next), why, ballot_.explain());
  // A member that had no time to answer is not to blame: its last behaviour counts when it had.
  if (why != errc::unavailable) {
    why_dead_.clear();
  } else if (!cut_short_) {
    why_dead_ = ballot_.explain();
  }
  if (now >= give_up_at()) {
    return why_dead_.empty() ? conclude(std::move(next), errc::timed_out, ballot_.explain())
                             : conclude(std::move(next), errc::unavailable, why_dead_);
  }
  state_ = state::waiting;
  next.wake_at = wake_at_ = bounded(now + pause_length());
  return next;
}

nanoseconds quorum_machine::pause_length() {
  const auto& asked = settings_.asks_after;
  const bool is_busy = ballot_.count(answer::busy) > 0;
  // Where a majority is of one other client, that holds it, more likely than not.
  const bool is_contest = was_split_ && is_busy && !ballot_.has_majority(answer::busy);
  if (!asked && (hinted_ || is_contest)) {
    return split_retries_.up_to(split_retries_.next(settings_.while_split));
  }
  if (!asked && !is_busy) return polls_.next(while_unreachable);
  const auto poll = polls_.next(asked             ? *asked
                                : settings_.hears ? settings_.polls
                                                  : settings_.deaf_polls);
  const auto free = is_busy ? ballot_.enough_free_after() : std::nullopt;
  // Rather a little later, and not all waiters at the same time.
  return free ? std::min(poll, nanoseconds(*free) + polls_.up_to(milliseconds{5})) : poll;
}

quorum_step quorum_machine::on_hint(monotonic_time now) {
  if (state_ == state::asking || state_ == state::agreeing) hinted_ = true;
  if (state_ != state::waiting) return {};
  if (!was_split_) return ask(now);
  // Others, whose votes were split with ours, hear it as well.
  const auto soon = now + split_retries_.up_to(split_retries_.next(settings_.while_split));
  if (soon >= wake_at_) return {};
  wake_at_ = soon;
  return {.wake_at = wake_at_};
}

quorum_step quorum_machine::on_timer(monotonic_time now) {
  if (is_done() || now < wake_at_) return {};
  if (state_ == state::waiting) {
    if (now < give_up_at()) return ask(now);
    return conclude({}, ballot_.reason() == errc::unavailable ? errc::unavailable : errc::timed_out,
                    ballot_.explain());
  }
  cut_short_ = now < ballot_.asked_at + settings_.member_timeout;
  give_up_on_silent();
  return decide(now);
}

void quorum_machine::give_up_on_silent() {
  for (seat& each : ballot_.seats) {
    if (each.said != answer::none && each.said != answer::unsettled) continue;
    if (!cut_short_) each.was_silent = true;
    each.said = answer::silent;
    each.detail = "it has not answered in time";
  }
}

quorum_step quorum_machine::on_stop(monotonic_time) {
  if (is_done()) return {};
  return conclude(state_ == state::waiting ? quorum_step{} : take_votes_back(), errc::cancelled,
                  {});
}

quorum_step quorum_machine::conclude(quorum_step so_far, errc code, std::string detail) {
  state_ = state::done;
  so_far.leaves = patience_.waits;
  if (so_far.leaves) {
    // Also those that have not answered may know that it wants to hear of them.
    so_far.take_back.clear();
    for (std::size_t i = 0; i < ballot_.seats.size(); ++i) {
      const bool may_know =
          ballot_.seats[i].may_have_voted || ballot_.seats[i].said == answer::busy;
      if (may_know) so_far.take_back.push_back(i);
    }
  }
  so_far.done = quorum_outcome{.code = code, .detail = std::move(detail)};
  return so_far;
}

quorum_step quorum_machine::take_votes_back() const {
  quorum_step all;
  for (std::size_t i = 0; i < ballot_.seats.size(); ++i) {
    if (ballot_.seats[i].may_have_voted) all.take_back.push_back(i);
    if (ballot_.seats[i].in_doubt) all.in_doubt.push_back(i);
  }
  return all;
}

// Somebody remembers the slot, and they are not a majority: so they have lost their memory. Where
// nobody has said that it remembers, those that are away may be new as well.
void quorum_machine::send_away_blank(quorum_step& into) const {
  if (!ballot_.is_remembered() || (ballot_.founding && state_ != state::held)) return;
  const auto what = ballot_.founding ? member_ask::what::enter : member_ask::what::stay_out;
  for (std::size_t i = 0; i < ballot_.seats.size(); ++i) {
    if (ballot_.seats[i].said == answer::blank) into.send.push_back({i, what});
  }
}

}  // namespace holdfast::leasing
