// A held lease: when to renew it, when it is lost. No clock, socket or thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "lease/renewal_lateness.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

// The runtime's next task for a held lease. An empty one: go on, the timer stays set.
struct lease_step {
  bool renew = false;                       // put it into the next batch of renewals
  std::optional<monotonic_time> wake_at{};  // call on_timer then; replaces what was set before
  bool lost = false;                        // tell the holder, once
  friend bool operator==(const lease_step&, const lease_step&) = default;
};

//   state \ event | timer         | renewed        | not mine | unanswered | late         | doubt
//   held          | due: renewing | deadline grows | lost     | -          | -            | (3)
//   renewing      | -             | held           | lost     | held (2)   | renewing (1) | -
//   lost          | -             | -              | -        | -          | -            | -
//
// In every state before `lost` any event at or after the deadline means lost: also a renewal that
// is answered later, since the owner may have seen held() turn false.
//
// A renewal is due at a third of the lease; those of leases that share a `beat` the first time
// earlier, so that they fall due together from then on. A failed one is tried again after 1/12 of
// the lease (at most 1 s) until the deadline; a refusal that looks permanent as well, since until
// then the lock is still ours. A fixed lease is never renewed: it is lost at its deadline. A lock
// that was handed over is ours for the time of a provisional grant at first. The first renewal, at
// a third of that, confirms the grant and makes it the whole lease. For a fixed lease it comes at
// once. So it is also where the claim is as long as the lease: until the server has answered a
// question of ours, only a message says that it is held.
//
// (1) At once, since the answer has told the server's time; a second one in a row: retry soon.
// (2) Or refused: retry soon. (3) Renewing, at once: that confirms the lease or ends it. Also a
// fixed one, but its deadline does not move. A renewal that was sent before the doubt confirms
// nothing: the lease is renewed again at once.
class lease_machine {
 public:
  // One of `beats` moments in a third of the lease.
  using beat = std::optional<std::uint16_t>;
  static constexpr int beats = 1 << 14;

  // `length`: of the whole lease. The rest describes the grant.
  lease_machine(milliseconds length, bool renews, milliseconds granted, monotonic_time granted_at,
                monotonic_time deadline, beat together = {}, bool by_message = false);

  lease_step start();
  lease_step on_timer(monotonic_time now);
  lease_step on_renewed(const substrate::renew_verdict&, monotonic_time sent_at,
                        monotonic_time now);
  lease_step on_missing(monotonic_time now);
  // The server may be another than the one that granted it, and never have heard of it.
  lease_step on_doubt(monotonic_time now);
  // extend() by the user is asked for; until an answer comes the server may have done it.
  void on_extending(milliseconds duration) noexcept { extending_ = std::max(extending_, duration); }
  milliseconds may_be_extended_by() const noexcept { return extending_; }
  // It was answered; the lease may now be longer than usual. It is still renewed
  // in the rhythm of the usual lease: a renewal never shortens it. `asked`: for what.
  lease_step on_extended(milliseconds ttl, milliseconds asked, monotonic_time sent_at,
                         monotonic_time now);

  bool held(monotonic_time now) const noexcept { return !is_over() && now < deadline_; }
  bool is_over() const noexcept { return state_ == state::lost; }
  // No renewal has succeeded for so long that the server is not likely to answer anything else.
  bool is_overdue(monotonic_time now) const noexcept {
    return renews_ && !claiming_ && deadline_ - now < nanoseconds(lease_) / 3;
  }
  // How long after it was due a renewal is that comes now; zero while half of the lease is left.
  nanoseconds lateness(monotonic_time now) const noexcept {
    return renews_ && !claiming_ ? renewal_lateness(deadline_, now, lease_) : nanoseconds{0};
  }
  monotonic_time deadline() const noexcept { return deadline_; }
  // Nothing that was asked since the last doubt has confirmed it yet.
  bool is_doubted() const noexcept { return doubted_at_ != never; }

 private:
  enum class state : std::uint8_t { held, renewing, lost };

  lease_step wait() const;
  lease_step renew();
  monotonic_time due_after(monotonic_time sent_at) const noexcept;
  lease_step retry_soon(monotonic_time now);
  lease_step lose();
  void prolong(milliseconds ttl, milliseconds asked, monotonic_time sent_at) noexcept;
  bool grows() const noexcept { return renews_ || claiming_; }
  bool is_renewed() const noexcept { return grows() || doubted_at_ != never; }

  static constexpr monotonic_time never = monotonic_time::min();

  milliseconds lease_;
  monotonic_time deadline_;
  monotonic_time renew_at_;
  milliseconds extending_{};           // the longest without an answer
  monotonic_time doubted_at_ = never;  // only renewals sent from then on confirm it
  state state_ = state::held;
  bool renews_;
  bool claiming_;          // the whole lease is not in force yet
  bool was_late_ = false;  // the last renewal was refused for its not-after
  beat together_;
};

}  // namespace holdfast::leasing
