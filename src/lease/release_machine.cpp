#include "lease/release_machine.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "lease/deadline.hpp"

namespace holdfast::leasing {

release_machine::release_machine(const substrate::claim& claim, monotonic_time deadline,
                                 std::uint64_t seed, milliseconds patience, milliseconds longer)
    : claim_(&claim), deadline_(deadline), retries_(seed), patience_(patience), longer_(longer) {}

// Asks even when the deadline has passed: the server may keep the lock a little longer than that.
release_step release_machine::start(monotonic_time now) { return send(now); }

release_step release_machine::on_given_back(const substrate::release_verdict& verdict,
                                            monotonic_time now) {
  if (state_ != state::asking) return {};
  if (const auto* refusal = std::get_if<substrate::refused>(&verdict)) {
    if (!refusal->passing) return conclude({refusal->code, refusal->detail});
    last_refusal_ = std::make_unique<const std::string>(refusal->detail);
    if (refusal->divided) alone_from_ = std::min(alone_from_, now + patience_);
    return retry(now);
  }
  if (std::holds_alternative<substrate::unfinished>(verdict)) {
    resent_ = true;  // where several hold it, ours was given back already
    return send(now);
  }
  const bool first_copy_did_it = resent_ && now < deadline_;
  if (std::holds_alternative<substrate::released>(verdict) || first_copy_did_it)
    return conclude({});
  return conclude({errc::lost, "the release found that the lock was no longer ours"});
}

release_step release_machine::on_missing(no_answer how, monotonic_time now) {
  if (state_ != state::asking) return {};
  if (how == no_answer::unknown) resent_ = true;
  return retry(now);
}

release_step release_machine::on_timer(monotonic_time now) {
  if (state_ != state::waiting) return {};
  return now < (told_ ? gone_at() : deadline_) ? send(now) : retry(now);
}

release_step release_machine::send(monotonic_time now) {
  state_ = state::asking;
  alone_ = now >= alone_from_;
  return {.send = alone_ ? ask::lone_release : ask::release, .resend = resent_};
}

release_step release_machine::retry(monotonic_time now) {
  release_step next;
  if (now >= deadline_) {
    std::string detail = "the release was not confirmed before the lease ended";
    if (!last_refusal().empty()) detail += " (" + std::string{last_refusal()} + ")";
    next.done = tell({errc::unavailable, std::move(detail)});
  }
  next.finished = now >= gone_at();
  state_ = next.finished ? state::done : state::waiting;
  const auto until = now < deadline_ ? deadline_ : gone_at();
  const auto latest = alone_ ? until : std::min(std::max(alone_from_, now), until);
  if (!next.finished) next.wake_at = std::min(now + retries_.next(while_unreachable), latest);
  return next;
}

release_step release_machine::conclude(outcome how) {
  state_ = state::done;
  return {.done = tell(std::move(how)), .finished = true};
}

std::optional<outcome> release_machine::tell(outcome how) {
  if (std::exchange(told_, true)) return std::nullopt;
  return how;
}

monotonic_time release_machine::gone_at() const noexcept {
  const milliseconds kept = substrate::kept_time(*claim_) + longer_;
  return deadline_ + kept + clock_allowance(kept);
}

}  // namespace holdfast::leasing
