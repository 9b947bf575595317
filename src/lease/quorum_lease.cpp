#include "lease/quorum_lease.hpp"

#include <algorithm>
#include <utility>

#include "lease/deadline.hpp"

namespace holdfast::leasing {

using std::chrono::seconds;

quorum_lease_machine::quorum_lease_machine(const settings& with, const quorum_outcome& won)
    : settings_(with),
      longest_(with.lease),
      deadline_(majority_deadline(won.deadlines)),
      renew_at_(won.asked_at + nanoseconds(with.lease) / 3),
      answered_by_(too_late_from(won.won_at, with.response_timeout)) {
  for (const auto each : won.deadlines) seats_.push_back({each});
  for (const auto member : won.in_doubt) seats_[member].in_doubt = true;
}

quorum_lease_step quorum_lease_machine::start() const { return wait(); }

quorum_lease_step quorum_lease_machine::on_timer(monotonic_time now) {
  if (over_) return {};
  if (now < deadline_ && settings_.renews && now >= renew_at_) {
    quorum_lease_step next = begin_round(now);
    std::erase_if(next.renew, [&](std::size_t i) { return seats_[i].unanswered > 0; });
    for (const auto member : next.renew) ++seats_[member].unanswered;
    return next;
  }
  return settle(now);
}

quorum_lease_step quorum_lease_machine::extend(milliseconds duration, monotonic_time now) {
  if (over_ || now >= deadline_) return settle(now);
  longest_ = std::max(longest_, duration);
  quorum_lease_step next = begin_round(now);
  for (const auto member : next.renew) ++seats_[member].unanswered;
  return next;
}

quorum_lease_step quorum_lease_machine::confirm(std::size_t member) {
  seats_[member].in_doubt = false;
  if (over_) return {};
  ++seats_[member].unanswered;
  return {.renew = {member}};
}

quorum_lease_step quorum_lease_machine::begin_round(monotonic_time now) {
  round_ = now;
  renewed_ = 0;
  renew_at_ = now + std::min<nanoseconds>(nanoseconds(settings_.lease) / 12, seconds(1));
  quorum_lease_step next = wait();
  for (std::size_t i = 0; i < seats_.size(); ++i) next.renew.push_back(i);
  return next;
}

quorum_lease_step quorum_lease_machine::on_kept(std::size_t member,
                                                const substrate::renew_verdict& said,
                                                monotonic_time sent_at, monotonic_time now) {
  seat& of = seats_[member];
  --of.unanswered;
  // Before its answer is looked at: the owner may have seen held() turn false.
  if (over_ || now >= deadline_) return settle(now);
  if (const auto* kept = std::get_if<substrate::renewed>(&said)) {
    of.deadline = std::max(of.deadline, lease_deadline(sent_at, kept->ttl, longest_));
    if (sent_at >= round_) ++renewed_;
  } else if (std::holds_alternative<substrate::not_mine>(said)) {
    of.deadline = monotonic_time::min();
  }
  if (renewed_ == majority_of(seats_.size())) {
    renew_at_ = round_ + nanoseconds(settings_.lease) / 3;
  }
  return settle(now);
}

quorum_lease_step quorum_lease_machine::on_missing(std::size_t member, monotonic_time now) {
  --seats_[member].unanswered;
  return settle(now);
}

quorum_lease_step quorum_lease_machine::settle(monotonic_time now) {
  if (over_) return {};
  std::vector<monotonic_time> deadlines;
  for (const seat& each : seats_) deadlines.push_back(each.deadline);
  if (now < deadline_) deadline_ = majority_deadline(deadlines);
  if (now < deadline_) return wait();
  over_ = true;
  return {.lost = true};
}

quorum_lease_step quorum_lease_machine::wait() const {
  return {.wake_at = settings_.renews ? std::min(renew_at_, deadline_) : deadline_};
}

std::size_t quorum_lease_machine::unanswered() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(seats_, [](const seat& each) { return each.unanswered > 0; }));
}

std::vector<std::size_t> quorum_lease_machine::in_doubt(monotonic_time now) const {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (is_in_doubt(i, now)) which.push_back(i);
  }
  return which;
}

// ---- giving back -------------------------------------------------------------------------------

quorum_release_machine::quorum_release_machine(const scope& with, std::size_t members,
                                               monotonic_time late_from, std::uint64_t seed)
    : members_(members),
      renewed_(with.renewed),
      late_from_(late_from),
      until_(with.until),
      retries_(seed) {
  for (const auto member : with.at) seats_.push_back({member});
  for (const auto member : with.in_doubt) of(member).in_doubt = true;
}

quorum_release_step quorum_release_machine::start() {
  quorum_release_step next{.finished = seats_.empty()};
  for (const seat& each : seats_) next.send.push_back(each.member);
  if (!next.finished) next.wake_at = wake_at_ = std::min(late_from_, until_);
  return next;
}

quorum_release_step quorum_release_machine::on_released(std::size_t member,
                                                        const substrate::release_verdict& said,
                                                        monotonic_time now) {
  seat& from = of(member);
  from.was_tried = true;
  if (std::holds_alternative<substrate::refused>(said)) {
    from.said = answer::missing;
  } else {
    const bool did = std::holds_alternative<substrate::released>(said);
    from.said = did || from.maybe_done ? answer::released : answer::not_mine;
    if (did && !renewed_) from.in_doubt = false;  // the question has been there
  }
  return settle(now);
}

quorum_release_step quorum_release_machine::on_missing(std::size_t member, no_answer how,
                                                       monotonic_time now) {
  seat& from = of(member);
  from.was_tried = true;
  from.said = answer::missing;
  if (how == no_answer::unknown) from.maybe_done = true;
  // Other requests under way on the same connection were lost as well.
  if (how != no_answer::unreachable) from.in_doubt = true;
  return settle(now);
}

quorum_release_step quorum_release_machine::on_timer(monotonic_time now) {
  if (wake_at_ == monotonic_time::max()) return {};
  wake_at_ = monotonic_time::max();
  retrying_ = false;
  quorum_release_step next;
  if (now >= until_) return settle(now);
  const bool is_late = now >= late_from_;
  if (is_late && !std::exchange(told_, true)) next.done = verdict();
  if (!told_) next.wake_at = wake_at_ = std::min(late_from_, until_);
  for (seat& each : seats_) {
    const bool is_due = each.said == answer::missing || (each.may_come() && is_late);
    if (!is_due) continue;
    each.said = answer::none;
    if (is_late) each.in_doubt = false;
    next.send.push_back(each.member);
  }
  return next;
}

quorum_release_step quorum_release_machine::settle(monotonic_time now) {
  quorum_release_step next;
  const bool is_over = now >= until_;
  const std::size_t missing = count(answer::missing);
  const std::size_t open = count(answer::none);
  const auto may_come = static_cast<std::size_t>(std::ranges::count_if(seats_, &seat::may_come));
  if ((is_decided() || is_over) && !std::exchange(told_, true)) next.done = verdict();
  if (open == 0 && (missing + may_come == 0 || is_over)) next.finished = true;
  if (is_over) return next;
  auto due = monotonic_time::max();
  if (may_come > 0) due = std::min(late_from_, until_);
  if (missing > 0 && !std::exchange(retrying_, true)) {
    due = std::min({due, now + retries_.next(while_unreachable), until_});
  }
  if (due < wake_at_) next.wake_at = wake_at_ = due;
  return next;
}

// The caller does not wait for retries: with two members that fail in turns there would always be
// one that has not answered.
bool quorum_release_machine::is_decided() const noexcept {
  return count(answer::released) >= majority_of(members_) ||
         std::ranges::all_of(seats_, &seat::was_tried);
}

outcome quorum_release_machine::verdict() const {
  if (count(answer::not_mine) >= majority_of(members_)) {
    return {errc::lost, "the release found that a majority had lost the lock"};
  }
  if (count(answer::released) > 0) return {};
  return {errc::unavailable,
          "no member of the quorum has confirmed the release; it is tried again until the lease "
          "ends"};
}

quorum_release_machine::seat& quorum_release_machine::of(std::size_t member) {
  return *std::ranges::find(seats_, member, &seat::member);
}

std::size_t quorum_release_machine::count(answer which) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(seats_, which, &seat::said));
}

}  // namespace holdfast::leasing
