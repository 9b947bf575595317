#include "lease/quorum_machine.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "lease/deadline.hpp"

namespace holdfast::leasing {

using substrate::vote;

monotonic_time majority_deadline(std::span<const monotonic_time> deadlines) {
  std::vector<monotonic_time> latest_first(deadlines.begin(), deadlines.end());
  const auto last =
      latest_first.begin() + static_cast<std::ptrdiff_t>(majority_of(deadlines.size()) - 1);
  std::nth_element(latest_first.begin(), last, latest_first.end(), std::greater<>{});
  return *last;
}

quorum_machine::quorum_machine(patience how_long, const settings& with)
    : patience_(how_long),
      settings_(with),
      seats_(with.names.size()),
      silent_(with.names.size(), false),
      split_retries_(with.seed),
      polls_(with.seed + 1) {}

quorum_step quorum_machine::start(monotonic_time now) { return ask(now); }

quorum_step quorum_machine::ask(monotonic_time now) {
  ++attempt_;
  state_ = state::asking;
  founding_ = hinted_ = cut_short_ = false;
  token_ = 0;
  asked_at_ = now;
  wake_at_ = bounded(now + settings_.member_timeout);
  quorum_step next{.new_request = true, .wake_at = wake_at_};
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    seats_[i] = {.may_have_voted = true};
    next.send.push_back({i, member_ask::what::vote});
  }
  return next;
}

// ---- what members say --------------------------------------------------------------------------

quorum_step quorum_machine::on_vote(std::uint32_t attempt, std::size_t member, const vote& said,
                                    monotonic_time sent_at, monotonic_time now) {
  seat& from = seats_[member];
  silent_[member] = false;
  if (attempt != attempt_ || (from.said != answer::none && from.said != answer::silent)) return {};
  if (is_done()) return hear_late(member, said);
  if (state_ == state::waiting) return {};
  from.may_have_voted = false;
  if (const auto* given = std::get_if<substrate::granted>(&said)) {
    from.said = token_ == 0 || given->major < token_ ? answer::voted
                : given->major == token_             ? answer::agreed
                                                     : answer::above;
    from.may_have_voted = true;
    from.major = given->major;
    from.deadline = lease_deadline(sent_at, settings_.lease);
  } else if (const auto* other = std::get_if<substrate::busy>(&said)) {
    from.said = answer::busy;
    from.remaining = other->remaining;
  } else if (std::holds_alternative<substrate::without_memory>(said)) {
    from.said = answer::blank;
  } else if (const auto* stays = std::get_if<substrate::staying_out>(&said)) {
    from.said = answer::out;
    from.remaining = stays->remaining;
    from.detail = "it has lost its memory, or has a new master, and does not vote for another " +
                  std::to_string(stays->remaining.count()) + " ms";
  } else if (std::holds_alternative<substrate::late>(said)) {
    from.detail = "the server finds the request too old";
    if (!std::exchange(from.was_late, true)) {
      from.may_have_voted = true;
      return {.send = {{member, founding_ ? member_ask::what::join : member_ask::what::vote}}};
    }
    from.said = answer::silent;
  } else if (const auto* no = std::get_if<substrate::refused>(&said)) {
    from.said = answer::refused;
    from.code = no->code;
    from.passing = no->passing;
    from.detail = no->detail;
  } else {
    // It was never asked before with this request id: but the same server was, as another member.
    from.may_have_voted = true;
    quorum_step end;
    take_votes_back(end);
    return conclude(
        std::move(end), errc::invalid_argument,
        settings_.names[member] + " is the same server as another member of the quorum");
  }
  return decide(now);
}

quorum_step quorum_machine::on_agreed(std::uint32_t attempt, std::size_t member,
                                      const substrate::renew_verdict& said, monotonic_time now) {
  seat& from = seats_[member];
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
  seat& from = seats_[member];
  const bool is_present = attempt == attempt_ && !is_done() && state_ != state::waiting;
  if (!is_present || (from.said != answer::none && from.said != answer::unsettled)) return {};
  if (from.said == answer::none) from.may_have_voted = from.in_doubt = how == no_answer::unknown;
  from.said = answer::silent;
  from.detail = why;
  return decide(now);
}

// ---- what follows ------------------------------------------------------------------------------

quorum_step quorum_machine::decide(monotonic_time now) {
  if (state_ == state::asking && count(answer::voted) >= needed()) return choose(now);
  if (state_ == state::agreeing && count(answer::agreed) >= needed()) return hold(now);
  if (state_ == state::asking && (founding_ || count(answer::blank) >= needed())) return found(now);
  if (!can_succeed()) return fail(now);
  if (state_ != state::agreeing) return {};
  if (count(answer::voted) > 0) return choose(now);
  // An answer does not say to which token: so not while one is under way.
  const bool is_open = count(answer::unsettled) > 0;
  if (!is_open && count(answer::agreed) + count(answer::above) >= needed()) return choose_anew(now);
  return {};
}

bool quorum_machine::can_succeed() const noexcept {
  const std::size_t good = ours() + count(answer::none);
  const std::size_t blank = count(answer::blank);
  const bool may_found = state_ == state::asking && blank + count(answer::none) >= needed();
  return good + (may_found ? blank : 0) >= needed() && !is_split_beside_silent();
}

// Whether the members that are known to answer, and can vote, are a majority and have voted for
// different clients.
bool quorum_machine::is_split_beside_silent() const noexcept {
  std::size_t awaited = 0, silent = 0;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (seats_[i].said == answer::none) ++(silent_[i] ? silent : awaited);
  }
  const std::size_t good = ours() + awaited;
  return silent > 0 && good < needed() && good + count(answer::busy) >= needed();
}

// A majority has voted; from now on also for who votes later: it agrees to the same token.
quorum_step quorum_machine::choose(monotonic_time now) {
  quorum_step next;
  if (state_ == state::asking) {
    for (const seat& each : seats_) {
      if (each.said == answer::voted) token_ = std::max(token_, each.major);
    }
    state_ = state::agreeing;
    next.wake_at = wake_at_ = bounded(now + settings_.member_timeout);
  }
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    seat& each = seats_[i];
    if (each.said != answer::voted) continue;
    each.said = each.major >= token_ ? answer::agreed : answer::unsettled;
    if (each.said == answer::unsettled) next.send.push_back({i, member_ask::what::agree});
  }
  if (count(answer::agreed) < needed()) return next;
  return hold(now);
}

// Too few can agree to the token, but with those that voted above it they are enough.
quorum_step quorum_machine::choose_anew(monotonic_time now) {
  for (seat& each : seats_) {
    if (each.said == answer::agreed || each.said == answer::above) each.said = answer::voted;
  }
  state_ = state::asking;
  return choose(now);
}

quorum_step quorum_machine::hold(monotonic_time now) {
  quorum_outcome got{.asked_at = asked_at_, .won_at = now};
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const seat& each = seats_[i];
    got.deadlines.push_back(each.said == answer::agreed ? each.deadline : monotonic_time::min());
    // Also where the question is still open: nobody listens here when it is lost.
    const bool is_unheard = each.may_have_voted && each.deadline == monotonic_time::min();
    if (is_unheard) got.in_doubt.push_back(i);
  }
  if (now >= majority_deadline(got.deadlines)) {
    for (seat& each : seats_) {
      if (each.said != answer::agreed) continue;
      each.said = answer::silent;
      each.detail = "its answer came when the lease was as good as over";
    }
    return fail(now);
  }
  state_ = state::done;
  is_held_ = true;
  quorum_step end{.done = std::move(got)};
  send_away_blank(end);
  return end;
}

quorum_step quorum_machine::found(monotonic_time now) {
  quorum_step next;
  if (!std::exchange(founding_, true))
    next.wake_at = wake_at_ = bounded(now + settings_.member_timeout);
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (seats_[i].said != answer::blank) continue;
    seats_[i].said = answer::none;
    seats_[i].may_have_voted = true;
    next.send.push_back({i, member_ask::what::join});
  }
  if (next.send.empty() && !can_succeed()) return fail(now);
  return next;
}

quorum_step quorum_machine::hear_late(std::size_t member, const vote& said) {
  if (!is_held_) return {};
  if (std::holds_alternative<substrate::granted>(said)) {
    seats_[member].said = answer::voted;
    return {.send = {{member, member_ask::what::confirm}}};
  }
  // The lock's hash slot is new to all members, also to this one. Its vote would come too late: it
  // may be released already.
  if (!founding_ || !std::holds_alternative<substrate::without_memory>(said)) return {};
  seats_[member].said = answer::blank;
  return {.send = {{member, member_ask::what::enter}}};
}

quorum_step quorum_machine::fail(monotonic_time now) {
  was_split_ = ours() > 0;
  quorum_step next;
  take_votes_back(next);
  send_away_blank(next);
  const errc why = reason();
  const bool is_final = why != errc::busy && why != errc::unavailable &&
                        std::ranges::any_of(seats_, [&](const seat& each) {
                          return each.said == answer::refused && each.code == why && !each.passing;
                        });
  if (!patience_.waits || is_final) return conclude(std::move(next), why, explain());
  // Who had no time to answer is not to blame: what he did when he had counts.
  if (why != errc::unavailable) {
    why_dead_.clear();
  } else if (!cut_short_) {
    why_dead_ = explain();
  }
  if (now >= give_up_at()) {
    return why_dead_.empty() ? conclude(std::move(next), errc::timed_out, explain())
                             : conclude(std::move(next), errc::unavailable, why_dead_);
  }
  state_ = state::waiting;
  auto then = pause(now);
  next.wake_at = then.wake_at;
  return next;
}

quorum_step quorum_machine::pause(monotonic_time now) {
  wake_at_ = bounded(now + pause_length());
  return {.wake_at = wake_at_};
}

nanoseconds quorum_machine::pause_length() {
  const auto& asked = settings_.asks_after;
  const bool is_busy = count(answer::busy) > 0;
  // Where a majority is another's he holds it, more likely than not.
  const bool is_contest = was_split_ && is_busy && count(answer::busy) < needed();
  if (!asked && (hinted_ || is_contest)) {
    return split_retries_.up_to(split_retries_.next(settings_.while_split));
  }
  if (!asked && !is_busy) return polls_.next(while_unreachable);
  const auto poll = polls_.next(asked             ? *asked
                                : settings_.hears ? settings_.polls
                                                  : settings_.deaf_polls);
  const auto free = is_busy ? enough_free_after() : std::nullopt;
  // Rather a little later, and not all who wait at the same time.
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
  if (state_ == state::done || now < wake_at_) return {};
  if (state_ == state::waiting) {
    if (now < give_up_at()) return ask(now);
    return conclude({}, reason() == errc::unavailable ? errc::unavailable : errc::timed_out,
                    explain());
  }
  cut_short_ = now < asked_at_ + settings_.member_timeout;
  give_up_on_silent();
  return decide(now);
}

void quorum_machine::give_up_on_silent() {
  for (seat& each : seats_) {
    if (each.said != answer::none && each.said != answer::unsettled) continue;
    if (!cut_short_) mark_silent(static_cast<std::size_t>(&each - seats_.data()));
    each.said = answer::silent;
    each.detail = "it has not answered in time";
  }
}

quorum_step quorum_machine::on_stop(monotonic_time) {
  if (state_ == state::done) return {};
  quorum_step end;
  if (state_ != state::waiting) take_votes_back(end);
  return conclude(std::move(end), errc::cancelled, {});
}

quorum_step quorum_machine::conclude(quorum_step so_far, errc code, std::string detail) {
  state_ = state::done;
  so_far.leaves = patience_.waits;
  if (so_far.leaves) {
    // Also those that have not answered may know that it wants to hear of them.
    so_far.take_back.clear();
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      const bool may_know = seats_[i].may_have_voted || seats_[i].said == answer::busy;
      if (may_know) so_far.take_back.push_back(i);
    }
  }
  so_far.done = quorum_outcome{.code = code, .detail = std::move(detail)};
  return so_far;
}

void quorum_machine::take_votes_back(quorum_step& into) const {
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (seats_[i].may_have_voted) into.take_back.push_back(i);
    if (seats_[i].in_doubt) into.in_doubt.push_back(i);
  }
}

// Somebody remembers the slot, and they are not a majority: so they have lost their memory. Where
// nobody has said that he remembers, those who are away may be new as well.
void quorum_machine::send_away_blank(quorum_step& into) const {
  const std::size_t remember =
      ours() + count(answer::changed) + count(answer::busy) + count(answer::out);
  if (remember == 0) return;
  const auto what = founding_ ? member_ask::what::enter : member_ask::what::stay_out;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (seats_[i].said == answer::blank && (is_held_ || !founding_)) into.send.push_back({i, what});
  }
}

// ---- small questions ---------------------------------------------------------------------------

std::size_t quorum_machine::count(answer which) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(seats_, which, &seat::said));
}

monotonic_time quorum_machine::give_up_at() const noexcept {
  return patience_.waits ? patience_.give_up_at : monotonic_time::max();
}

// Why there is no majority: busy where enough members vote at all; otherwise what those who refuse
// agree on, if they do.
errc quorum_machine::reason() const noexcept {
  const std::size_t voting = ours() + count(answer::changed) + count(answer::busy);
  // Who has not answered when it is decided has not been too slow: he votes for somebody.
  if (voting > 0 && voting + count(answer::none) >= needed()) return errc::busy;
  std::optional<errc> common;
  for (const seat& each : seats_) {
    if (each.said != answer::refused) continue;
    if (common && *common != each.code) return errc::unavailable;
    common = each.code;
  }
  const bool decides = voting + count(answer::refused) >= needed();
  return common && decides ? *common : errc::unavailable;
}

// When so many votes for others have run out that there may be a majority for us.
std::optional<milliseconds> quorum_machine::enough_free_after() const {
  std::vector<milliseconds> left;
  std::size_t free = 0;
  for (const seat& each : seats_) {
    if (each.remaining) left.push_back(*each.remaining);
    if (each.may_have_voted && each.said != answer::silent) ++free;
  }
  if (free >= needed()) return milliseconds{0};
  const std::size_t missing = needed() - free;
  if (missing > left.size()) return std::nullopt;
  std::ranges::sort(left);
  return left[missing - 1];
}

}  // namespace holdfast::leasing
