#include "lease/quorum_hold.hpp"

#include <algorithm>
#include <utility>

#include "lease/deadline.hpp"

namespace holdfast::leasing {

using std::chrono::seconds;

quorum_hold_machine::quorum_hold_machine(const settings& with,
                                         std::vector<monotonic_time> deadlines,
                                         monotonic_time asked_at)
    : settings_(with),
      deadline_(majority_deadline(deadlines)),
      renew_at_(asked_at + nanoseconds(with.lease) / 3) {
  for (const auto each : deadlines) seats_.push_back({each});
}

quorum_hold_step quorum_hold_machine::start() const { return wait(); }

quorum_hold_step quorum_hold_machine::on_timer(monotonic_time now) {
  if (over_) return {};
  if (now < deadline_ && settings_.renews && now >= renew_at_) {
    quorum_hold_step next = begin_round(now);
    std::erase_if(next.renew, [&](std::size_t i) { return seats_[i].unanswered > 0; });
    for (const auto member : next.renew) ++seats_[member].unanswered;
    return next;
  }
  return settle(now);
}

quorum_hold_step quorum_hold_machine::extend(monotonic_time now) {
  if (over_ || now >= deadline_) return settle(now);
  quorum_hold_step next = begin_round(now);
  for (const auto member : next.renew) ++seats_[member].unanswered;
  return next;
}

quorum_hold_step quorum_hold_machine::begin_round(monotonic_time now) {
  round_ = now;
  renewed_ = 0;
  renew_at_ = now + std::min<nanoseconds>(nanoseconds(settings_.lease) / 12, seconds(1));
  quorum_hold_step next = wait();
  for (std::size_t i = 0; i < seats_.size(); ++i) next.renew.push_back(i);
  return next;
}

quorum_hold_step quorum_hold_machine::on_kept(std::size_t member,
                                              const dialects::renew_verdict& said,
                                              monotonic_time sent_at, monotonic_time now) {
  seat& of = seats_[member];
  --of.unanswered;
  // Before its answer is looked at: the owner may have seen held() turn false.
  if (over_ || now >= deadline_) return settle(now);
  if (const auto* kept = std::get_if<dialects::renewed>(&said)) {
    of.deadline = std::max(of.deadline, lease_deadline(sent_at, kept->ttl));
    if (sent_at >= round_) ++renewed_;
  } else if (std::holds_alternative<dialects::not_mine>(said)) {
    of.deadline = monotonic_time::min();
  }
  if (renewed_ == majority_of(seats_.size())) {
    renew_at_ = round_ + nanoseconds(settings_.lease) / 3;
  }
  return settle(now);
}

quorum_hold_step quorum_hold_machine::on_missing(std::size_t member, monotonic_time now) {
  --seats_[member].unanswered;
  return settle(now);
}

quorum_hold_step quorum_hold_machine::settle(monotonic_time now) {
  if (over_) return {};
  std::vector<monotonic_time> deadlines;
  for (const seat& each : seats_) deadlines.push_back(each.deadline);
  if (now < deadline_) deadline_ = majority_deadline(deadlines);
  if (now < deadline_) return wait();
  over_ = true;
  return {.lost = true};
}

quorum_hold_step quorum_hold_machine::wait() const {
  return {.wake_at = settings_.renews ? std::min(renew_at_, deadline_) : deadline_};
}

std::size_t quorum_hold_machine::unanswered() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(seats_, [](const seat& each) { return each.unanswered > 0; }));
}

std::string to_string(const quorum_hold_step& what) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const auto member : what.renew) add("renew " + std::to_string(member));
  if (what.wake_at) {
    add("wake at " + std::to_string(what.wake_at->time_since_epoch().count()) + " ns");
  }
  if (what.lost) add("lost");
  return text.empty() ? "nothing" : text;
}

// ---- giving back -------------------------------------------------------------------------------

quorum_release_machine::quorum_release_machine(std::vector<std::size_t> at, std::size_t members,
                                               monotonic_time until, std::uint64_t seed)
    : members_(members), until_(until), retries_(seed) {
  for (const auto member : at) seats_.push_back({member});
}

quorum_release_step quorum_release_machine::start() {
  quorum_release_step next{.finished = seats_.empty()};
  for (const seat& each : seats_) next.send.push_back(each.member);
  return next;
}

quorum_release_step quorum_release_machine::on_released(std::size_t member,
                                                        const dialects::release_verdict& said,
                                                        monotonic_time now) {
  seat& from = of(member);
  if (std::holds_alternative<dialects::refused>(said)) {
    from.said = answer::missing;
  } else {
    const bool did = std::holds_alternative<dialects::released>(said) || from.maybe_done;
    from.said = did ? answer::released : answer::not_mine;
  }
  return settle(now);
}

quorum_release_step quorum_release_machine::on_missing(std::size_t member, missing how,
                                                       monotonic_time now) {
  seat& from = of(member);
  from.said = answer::missing;
  if (how == missing::unknown) from.maybe_done = true;
  return settle(now);
}

quorum_release_step quorum_release_machine::on_timer(monotonic_time now) {
  if (!waiting_) return {};
  waiting_ = false;
  quorum_release_step next;
  if (now >= until_) return settle(now);
  for (seat& each : seats_) {
    if (each.said != answer::missing) continue;
    each.said = answer::none;
    next.send.push_back(each.member);
  }
  return next;
}

quorum_release_step quorum_release_machine::settle(monotonic_time now) {
  quorum_release_step next;
  const bool is_over = now >= until_;
  const std::size_t missing = count(answer::missing);
  const std::size_t open = count(answer::none);
  const bool is_decided = count(answer::released) >= majority_of(members_) || open == 0;
  if (is_decided && !std::exchange(told_, true)) next.done = verdict();
  if (open == 0 && (missing == 0 || is_over)) next.finished = true;
  if (missing > 0 && !is_over && !std::exchange(waiting_, true)) {
    next.wake_at = std::min(now + retries_.next(while_unreachable), until_);
  }
  return next;
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

std::string to_string(const quorum_release_step& what) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const auto member : what.send) add("release " + std::to_string(member));
  if (what.wake_at) {
    add("wake at " + std::to_string(what.wake_at->time_since_epoch().count()) + " ns");
  }
  if (what.done) add(what.done->code ? "done: " + what.done->detail : std::string{"done"});
  if (what.finished) add("finished");
  return text.empty() ? "nothing" : text;
}

}  // namespace holdfast::leasing
