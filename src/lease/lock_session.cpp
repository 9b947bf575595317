#include "lease/lock_session.hpp"

#include <algorithm>
#include <utility>

#include "lease/deadline.hpp"

namespace holdfast::leasing {

lock_session::lock_session(substrate::claim& claim, patience how_long, const terms& with,
                           const pauses& pause, std::uint64_t seed)
    : claim_(&claim),
      part_(std::in_place_type<acquire_machine>, claim, how_long,
            acquire_machine::settings{
                .response_timeout = with.response_timeout, .while_busy = pause, .seed = seed}),
      terms_(with) {}

// ---- asking ------------------------------------------------------------------------------------

effects lock_session::begin(monotonic_time now) {
  const auto ends = [this](errc code, std::string_view why) {
    state_ = state::over;
    return effects{.tell = true, .ended = failed(code, why)};
  };
  if (state_ == state::stopped) return ends(errc::cancelled, {});
  if (state_ != state::idle) return {};
  if (changes() && changed_left_ <= nanoseconds{0}) {
    return ends(errc::lost, "the lease that was to be changed had ended before");
  }
  state_ = state::asking;
  auto all = follow(asks().start(now), now);
  if (changes()) all.to_changed = change_news::may_become;
  return all;
}

effects lock_session::on_acquired(const substrate::acquire_verdict& verdict, monotonic_time sent_at,
                                  monotonic_time now, std::uint64_t position) {
  if (!is_acquiring()) return {};
  note_in_claim();
  return follow(asks().on_acquired(verdict, sent_at, now, position), now);
}

effects lock_session::on_given_back(const substrate::release_verdict& verdict, monotonic_time now) {
  if (is_acquiring()) {
    note_in_claim();
    return follow(asks().on_given_back(verdict, now), now);
  }
  return is_returning() ? follow(returns().on_given_back(verdict, now), now) : effects{};
}

effects lock_session::on_missing(no_answer how, const outcome& why, monotonic_time now) {
  if (is_acquiring()) return follow(asks().on_missing(how, why, now), now);
  return is_returning() ? follow(returns().on_missing(how, now), now) : effects{};
}

effects lock_session::on_woken(monotonic_time now) {
  return is_acquiring() ? follow(asks().on_woken(now), now) : effects{};
}

effects lock_session::on_tuned_in(bool hears, monotonic_time now) {
  return is_acquiring() ? follow(asks().on_tuned_in(hears, now), now) : effects{};
}

effects lock_session::on_deaf(monotonic_time now) {
  return is_acquiring() ? follow(asks().on_deaf(now), now) : effects{};
}

effects lock_session::on_handed_over(const substrate::granted& grant, monotonic_time granted_at,
                                     monotonic_time now, std::uint64_t position) {
  if (!is_acquiring()) return {};
  return follow(asks().on_handed_over(grant, granted_at, now, position), now);
}

effects lock_session::on_first_in_line(nanoseconds owner_has, monotonic_time now,
                                       std::uint64_t position) {
  return is_acquiring() ? follow(asks().on_first_in_line(owner_has, now, position), now)
                        : effects{};
}

effects lock_session::on_timer(monotonic_time now) {
  if (is_acquiring()) return follow(asks().on_timer(now), now);
  if (is_holding()) return follow(holds().on_timer(now));
  return is_returning() ? follow(returns().on_timer(now), now) : effects{};
}

effects lock_session::on_stop(monotonic_time now) {
  if (is_acquiring()) return follow(asks().on_stop(now), now);
  effects all;
  if (state_ == state::idle) state_ = state::stopped;
  if (state_ == state::confirming) refuse(all, {errc::cancelled, {}}, now);
  return all;
}

effects lock_session::abandon(monotonic_time now) {
  if (is_acquiring()) return on_stop(now);
  effects all;
  if (state_ == state::idle || state_ == state::stopped) {
    state_ = state::over;
  } else if (can_be_released()) {
    // The lease that it has changed goes with it, and the server forgets both.
    if (changes()) all.to_changed = change_news::cannot_stay;
    give_back(all, state::taken_back, now);
  }
  return all;
}

effects lock_session::on_replicated(const std::optional<outcome>& refusal, monotonic_time now) {
  effects all;
  if (state_ != state::confirming) return all;
  if (refusal) {
    refuse(all, *refusal, now);
    return all;
  }
  state_ = was_lost() ? state::lost : state::held;
  all.tell = true;
  all.ended = outcome{};
  return all;
}

// Notes how much is left of the lease to be changed, as far as this client knows: extend() may have
// made it longer, and it may have been released. The longest counts, since the server may have it
// in force. The margin for the clocks is added again, or each change would take it off once more.
void lock_session::note_in_claim() noexcept {
  if (!changes()) return;
  claim_->forsakes = changed_left_ < nanoseconds{0};
  const short_milliseconds whole{lease_with_deadline_in(changed_left_)};
  claim_->replaced_lease = std::max(claim_->replaced_lease, whole);
}

effects lock_session::follow(step&& next, monotonic_time now) {
  effects all{
      .learned = next.learned, .wake_at = next.wake_at, .send = next.send, .resend = next.resend};
  const bool is_granted = next.done && !next.done->code;
  if (changes()) {
    const bool is_unclear = asks().is_unclear();
    if (next.cannot_undo) {
      all.to_changed = change_news::cannot_stay;
    } else if (next.finished && !is_granted) {
      all.to_changed = is_unclear ? change_news::may_stay : change_news::stays;
    }
  }
  if (next.send != ask::nothing) {
    note_in_claim();
    doubted_ = false;
  }
  if (is_granted) {
    hold(all, *next.done, now);
    return all;
  }
  if (next.done) {
    state_ = state::leaving;
    all.tell = true;
    all.ended = outcome{next.done->code, std::move(next.done->detail)};
  }
  if (next.finished) {
    state_ = state::over;
    all.stops_timer = true;
  }
  return all;
}

void lock_session::hold(effects& all, const acquire_outcome& got, monotonic_time now) {
  all.granted = got.granted_at;
  state_ = terms_.needs_replicas ? state::confirming : state::held;
  note_in_claim();  // it may have been extended while the change waited
  auto& held =
      part_.emplace<lease_machine>(claim_->lease, terms_.renews, got.grant.ttl, got.granted_at,
                                   got.deadline, beat(), got.by_message && !terms_.is_gate);
  held.on_extending(claim_->replaced_lease);
  if (changes() && changed_left_ < nanoseconds{0}) {
    return refuse(all, failed(errc::lost, "the lease that was to be changed has ended meanwhile"),
                  now);
  }
  merge(all, held.start());
  if (doubted_) merge(all, held.on_doubt(now));
  all.replicate = terms_.needs_replicas;
  if (terms_.needs_replicas) return;
  all.tell = true;
  all.ended = outcome{};
}

// In a cluster a command is of one hash slot.
lease_machine::beat lock_session::beat() const noexcept {
  return terms_.is_of_a_slot ? lease_machine::beat{claim_->key->slot()} : std::nullopt;
}

// Its way back begins before its caller hears of it, and may ask again.
void lock_session::refuse(effects& all, outcome why, monotonic_time now) {
  give_back(all, state::taken_back, now);
  all.unheard = all.tell = true;
  all.ended = std::move(why);
}

// ---- held --------------------------------------------------------------------------------------

effects lock_session::follow(const lease_step& next) {
  effects all;
  merge(all, next);
  return all;
}

void lock_session::merge(effects& all, const lease_step& next) {
  all.renew = all.renew || next.renew;
  if (next.wake_at) all.wake_at = next.wake_at;
  if (!next.lost) return;
  all.lost = all.stops_timer = true;
  if (state_ == state::held) state_ = state::lost;
}

effects lock_session::on_renewed(substrate::renew_verdict verdict, monotonic_time sent_at,
                                 bool is_changed, monotonic_time now) {
  if (is_changed && std::holds_alternative<substrate::not_mine>(verdict)) {
    return on_renewal_missing(now);
  }
  if (!is_holding()) return {};
  auto* const more = std::get_if<substrate::renewed>(&verdict);
  // The server keeps it longer than is counted on.
  if (more != nullptr) more->ttl -= claim_->delay;
  auto all = follow(holds().on_renewed(verdict, sent_at, now));
  if (more != nullptr && !holds().is_doubted()) doubts_.confirmed();
  return all;
}

effects lock_session::on_renewal_missing(monotonic_time now) {
  return is_holding() ? follow(holds().on_missing(now)) : effects{};
}

// It is held as far as the server before knew, or is about to be: its answer may be under way.
effects lock_session::on_doubt(monotonic_time now) {
  doubted_ = true;
  doubts_.moved();
  return is_holding() ? follow(holds().on_doubt(now)) : effects{};
}

void lock_session::on_extending(milliseconds duration) noexcept {
  if (is_holding()) holds().on_extending(duration);
}

lock_session::extension lock_session::on_extended(substrate::renew_verdict verdict,
                                                  milliseconds asked, monotonic_time sent_at,
                                                  bool is_changed, monotonic_time now) {
  if (const auto* const no = std::get_if<substrate::refused>(&verdict)) {
    return {{}, {no->code, no->detail}};
  }
  const auto* const got = std::get_if<substrate::renewed>(&verdict);
  if (got == nullptr && is_changed) {
    return {{}, {errc::busy, "the lease is being changed into another"}};
  }
  if (!is_holding()) return {{}, {errc::lost, "the lease was released meanwhile"}};
  if (got == nullptr) {
    return {follow(holds().on_renewed(verdict, sent_at, now)),
            failed(errc::lost, "the server has given the lock to somebody else")};
  }
  extension all{follow(holds().on_extended(got->ttl - claim_->delay, asked, sent_at, now)), {}};
  if (!holds().held(now)) {
    all.how = failed(errc::lost, "the lease had ended before it was extended");
  }
  return all;
}

// The server has put another request of ours in the place of this one.
effects lock_session::on_replaced() {
  // A lost lease must still be released. A gate that was passed too late need not.
  const bool ends = state_ == state::held || (terms_.is_gate && state_ == state::lost);
  if (!ends) return {};
  state_ = state::replaced;
  return {.stops_timer = true};
}

effects lock_session::on_change(change_news what, char other, monotonic_time now) {
  switch (what) {
    case change_news::none:
      return {};
    case change_news::may_become:
      doubts_.may_become(other);
      return {};
    case change_news::stays:
      doubts_.stays();
      return {};
    case change_news::may_stay:
      doubts_.may_stay();
      return is_holding() && holds().held(now) ? follow(holds().on_doubt(now)) : effects{};
    case change_news::cannot_stay:
      return is_holding() ? follow(holds().on_renewed(substrate::not_mine{}, now, now)) : effects{};
  }
  return {};
}

// ---- giving back -------------------------------------------------------------------------------

effects lock_session::release(monotonic_time now) {
  effects all;
  if (can_be_released()) give_back(all, state::returning, now);
  return all;
}

void lock_session::give_back(effects& all, state next, monotonic_time now) {
  // Also before the timer has come: the owner may have seen held() turn false.
  const bool ended_before = was_lost() || !holds().held(now);
  auto& back =
      part_.emplace<giving_back>(giving_back{*claim_, holds(), terms_.response_timeout, now});
  all.gives_back = all.stops_timer = true;
  state_ = next;
  if (ended_before && next == state::returning) {
    state_ = state::returned;
    all.unheard = all.tell = true;
    all.ended = failed(errc::lost, "the lease had ended before it was released");
  }
  merge(all, back.start(now), now);
}

effects lock_session::follow(release_step&& next, monotonic_time now) {
  effects all;
  merge(all, std::move(next), now);
  return all;
}

void lock_session::merge(effects& all, release_step&& next, monotonic_time now) {
  all.wake_at = next.wake_at;
  all.send = next.send;
  all.resend = next.resend;
  if (returns().outlasts_caller(next, now)) all.tell = true;
  if (next.done && state_ == state::returning) {
    state_ = state::returned;
    all.tell = true;
    all.ended = std::move(next.done);
  }
  if (!next.finished) return;
  state_ = state::over;
  all.stops_timer = true;
}

std::string lock_session::why_unconfirmed() const {
  std::string why =
      "the server has not confirmed the release; it is tried again until the server must have "
      "ended it";
  if (!is_returning()) return why;
  const auto said = std::get<giving_back>(part_).last_refusal();
  if (!said.empty()) why += " (" + std::string{said} + ")";
  return why;
}

}  // namespace holdfast::leasing
