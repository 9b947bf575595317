// The whole life of one request: asking, waiting, held, changing, giving back. It decides; a driver
// carries out. No clock, thread, mutex or bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/time.hpp"
#include "lease/acquire_machine.hpp"
#include "lease/giving_back.hpp"
#include "lease/lease_machine.hpp"
#include "lease/mode_doubts.hpp"
#include "lease/step.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

// News for the session of a lease about a request that changes the lease.
enum class change_news : std::uint8_t { none, may_become, stays, may_stay, cannot_stay };

// The driver's tasks; `tell` comes last. Empty: go on as before, the timer stays set.
struct effects {
  std::optional<server_time> learned{};        // a sample of the server's time
  std::optional<monotonic_time> wake_at{};     // call on_timer then; replaces what was set before
  bool stops_timer = false;                    // or: no timer any more
  change_news to_changed = change_news::none;  // tell the session whose lease this one changes
  std::optional<monotonic_time> granted{};     // the lease begins, and counts from then on
  bool lost = false;                           // the lease has ended: tell its holder, once
  bool gives_back = false;                     // its holder has given it back
  bool renew = false;                          // put it into the next batch of renewals
  bool replicate = false;                      // ask the replicas, then call on_replicated
  ask send = ask::nothing;                     // ask the server
  bool resend = false;                         // an earlier copy may have been executed
  bool unheard = false;                        // the caller does not wait for the answer to that
  bool tell = false;                           // wake the caller
  std::optional<outcome> ended{};              // how the thing that it waited for has ended
  friend bool operator==(const effects&, const effects&) = default;
};

// Nothing happens in a state at an event that is not named here, and `over` is for good.
//
//   state   | begin       | granted    | refused | given back | stop    | abandon
//   idle    | asking      |            |         |            | stopped | over
//   stopped | over (told) |            |         |            |         | over
//   asking  |             | held (1)   | over    |            | leaving | leaving
//   leaving |             | leaving    | over    | over       |         |
//
//   state      | enough | too few    | stop       | abandon    | not mine | replaced | release
//   confirming | held   | taken_back | taken_back | taken_back | (2)      |          | (3)
//   held       |        |            |            | taken_back | lost     | replaced | (3)
//   lost       |        |            |            | taken_back |          |          | returned
//
//   state      | given back | refused for good | not confirmed in time
//   returning  | over       | over             | returned
//   returned   | over       | over             |
//   taken_back | over       | over             |
//
// idle: nothing was asked. asking: the caller awaits the lock. leaving: the caller has its answer,
// or is gone; the session gives back the lock or place that the server holds for it, or may hold.
// confirming: granted, and it counts when enough replicas have it. lost: lease_machine says when.
// replaced: another request of ours has come in its place at the server. returning: the caller
// awaits the end of the release. returned: the caller knows how it ended, at once if the lease was
// lost before; it is still tried. taken_back: the same, and nobody asks how it ends.
//
// (1) A grant is confirming where replicas are asked, and taken_back at once where it is to replace
// a lease that was lost meanwhile: a change does not bring it back. (2) Its loss is told, and it
// becomes lost instead of held. (3) Returning; returned at once where its deadline is over, though
// no timer has said so.
class lock_session {
 public:
  enum class state : std::uint8_t {
    idle,
    stopped,
    asking,
    confirming,
    leaving,
    held,
    lost,
    replaced,
    returning,
    returned,
    taken_back,
    over,
  };

  // Fixed for its whole life.
  struct terms {
    short_milliseconds response_timeout{2000};
    bool is_of_a_slot = false;  // renewed together with locks of the same hash slot
    bool renews = true;
    bool is_gate = false;         // a client passes, and holds nothing to confirm
    bool needs_replicas = false;  // a grant counts when enough of them have it
  };

  // Stands for the time left of a lease that is to be changed, when that lease was lost or given
  // back.
  static constexpr nanoseconds none_left{-1};

  // The claim is the caller's; the session changes it only while none of its requests, and no
  // renewal, is under way. `pause`: for an acquire that waits in no queue. `seed`: of the jitter.
  lock_session(substrate::claim& claim, patience how_long, const terms& with,
               const pauses& pause = while_busy, std::uint64_t seed = 0);

  // ---- asking

  effects begin(monotonic_time now);
  // The server has answered an acquire; a release or a withdraw; or no answer will come.
  effects on_acquired(const substrate::acquire_verdict& verdict, monotonic_time sent_at,
                      monotonic_time now, std::uint64_t position = 0);
  effects on_given_back(const substrate::release_verdict& verdict, monotonic_time now);
  effects on_missing(no_answer how, const outcome& why, monotonic_time now);
  // See acquire_machine.
  effects on_woken(monotonic_time now);
  effects on_tuned_in(bool hears, monotonic_time now);
  effects on_deaf(monotonic_time now);
  effects on_handed_over(const substrate::granted& grant, monotonic_time granted_at,
                         monotonic_time now, std::uint64_t position = 0);
  effects on_first_in_line(nanoseconds owner_has, monotonic_time now, std::uint64_t position = 0);
  effects on_timer(monotonic_time now);
  effects on_stop(monotonic_time now);
  // Nobody waits for the outcome any more: a grant is given back.
  effects abandon(monotonic_time now);
  // Enough replicas have the grant; or the reason why that is not known.
  effects on_replicated(const std::optional<outcome>& refusal, monotonic_time now);

  // ---- held

  // `is_changed`: another request is to come in its place. It may have done so unheard: then a
  // renewal that does not find this one proves no loss.
  effects on_renewed(substrate::renew_verdict verdict, monotonic_time sent_at, bool is_changed,
                     monotonic_time now);
  effects on_renewal_missing(monotonic_time now);
  // See lease_machine.
  nanoseconds renewal_lateness(monotonic_time now) const noexcept {
    return has_lease() ? holds().lateness(now) : nanoseconds{0};
  }
  // The server may be another than the one that was asked last.
  effects on_doubt(monotonic_time now);
  // The holder asks for a longer lease; then the server's answer, but for `late`.
  void on_extending(milliseconds duration) noexcept;
  struct extension {
    effects then{};
    outcome how{};
  };
  extension on_extended(substrate::renew_verdict verdict, milliseconds asked,
                        monotonic_time sent_at, bool is_changed, monotonic_time now);
  effects on_replaced();

  // News of a request that is to change this lease. `other`: its mode.
  effects on_change(change_news what, char other, monotonic_time now);
  // For such a request, before each event.
  void note_changed(nanoseconds left) noexcept { changed_left_ = left; }

  // ---- giving back

  bool can_be_released() const noexcept { return is_holding(); }
  effects release(monotonic_time now);
  // Why a caller that waited long enough knows nothing yet.
  std::string why_unconfirmed() const;

  // ---- what the driver asks

  state present_state() const noexcept { return state_; }
  // The caller has its answer to the acquire, or there was never one.
  bool is_told() const noexcept { return state_ > state::confirming; }
  bool is_released() const noexcept { return state_ == state::returned || state_ == state::over; }
  // Something is to come by itself: it must stay alive.
  bool is_under_way() const noexcept {
    return is_acquiring() || is_returning() || state_ == state::confirming;
  }
  // The client must not be closed over it.
  bool delays_closing() const noexcept {
    return is_returning() ? std::get<giving_back>(part_).delays_closing() : is_under_way();
  }
  // A message that this request has the lock may come, even after the answer that said the same.
  bool may_hear_of_its_grant() const noexcept { return is_acquiring() || is_holding(); }
  // The caller awaits the lock.
  bool is_asking() const noexcept { return state_ == state::asking; }
  bool hears_messages() const noexcept { return is_acquiring() && asks().hears_messages(); }
  bool is_polling() const noexcept { return is_acquiring() && asks().is_polling(); }
  // Neither lost nor given back.
  bool has_lease() const noexcept {
    return state_ == state::held || (state_ == state::confirming && !holds().is_over());
  }
  bool was_lost() const noexcept { return state_ == state::lost || is_lost_unconfirmed(); }
  monotonic_time deadline() const noexcept { return holds().deadline(); }
  char mode() const noexcept { return doubts_.good_for(claim_->wants->mode); }
  // Of an acquire that was just asked for: until then, on our clock, the server may execute it.
  monotonic_time executable_until() const noexcept { return asks().executable_until(); }
  // It has ended, and nobody has said what the server has done for it.
  bool is_unclear() const noexcept {
    return std::holds_alternative<acquire_machine>(part_) && asks().is_unclear();
  }

 private:
  // The state says which machine is at work.
  bool is_acquiring() const noexcept { return state_ == state::asking || state_ == state::leaving; }
  bool is_holding() const noexcept {
    return state_ == state::confirming || state_ == state::held || state_ == state::lost;
  }
  bool is_returning() const noexcept {
    return state_ == state::returning || state_ == state::returned || state_ == state::taken_back;
  }
  acquire_machine& asks() { return std::get<acquire_machine>(part_); }
  lease_machine& holds() { return std::get<lease_machine>(part_); }
  giving_back& returns() { return std::get<giving_back>(part_); }
  const acquire_machine& asks() const { return std::get<acquire_machine>(part_); }
  const lease_machine& holds() const { return std::get<lease_machine>(part_); }
  bool is_lost_unconfirmed() const noexcept {
    return state_ == state::confirming && holds().is_over();
  }

  bool changes() const noexcept { return claim_->wants != nullptr && claim_->wants->replaced; }
  void note_in_claim() noexcept;
  lease_machine::beat beat() const noexcept;
  effects follow(step&& next, monotonic_time now);
  effects follow(const lease_step& next);
  effects follow(release_step&& next, monotonic_time now);
  void merge(effects& all, const lease_step& next);
  void merge(effects& all, release_step&& next, monotonic_time now);
  void hold(effects& all, const acquire_outcome& got, monotonic_time now);
  void refuse(effects& all, outcome why, monotonic_time now);
  void give_back(effects& all, state next, monotonic_time now);

  substrate::claim* claim_;
  std::variant<acquire_machine, lease_machine, giving_back> part_;
  nanoseconds changed_left_ = none_left;
  terms terms_;
  // These three fill one word (sizeof of a held lock).
  [[no_unique_address]] mode_doubts doubts_;
  state state_ : 7 = state::idle;
  bool doubted_ : 1 = false;  // another server has come since the last request
};

}  // namespace holdfast::leasing
