// Which of one client's threads and coroutines has a lock next. No clock, mutex or thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>

#include "base/time.hpp"
#include "substrate/claim.hpp"

namespace holdfast::leasing {

// For so long, and so often, a client hands a lock from one of its own to the next, or lets them
// share it, before other clients get their turn. Each has a minor of its own.
inline constexpr milliseconds local_turn{5};
inline constexpr std::uint32_t last_minor = substrate::minors_per_major - 1;

// How long a thread that is running may take the lock again while the first waiter wakes up.
inline constexpr microseconds local_slice{10};

// The least time that a lease must have left to be handed over locally, also while its grant is
// provisional.
constexpr nanoseconds enough_of(milliseconds lease) noexcept {
  return nanoseconds{std::min(lease, substrate::longest_claim)} / 4;
}

// One request stands at the server for all callers of a client. The caller that asked is the first
// holder. Then they hand the lock to each other, each with the next minor of its token.
//
//   state \ event | a caller comes | granted | released   | revoked    | timer          | lost
//   free          | asks           | -       | -          | -          | -              | -
//   asking        | waits          | held    | -          | (notes it) | -              | -
//   held          | waits          | -       | (1) or (3) | (notes it) | -              | (2)
//   offered       | takes it (4)   | -       | -          | (notes it) | -              | back (2)
//   retained      | takes it (4)   | -       | -          | back (2)   | unused: back   | back (2)
//
// (1) Somebody waits. A coroutine is the next holder at once. But waking a thread costs more than
// many a critical section: so the lock is offered, and any thread that is running may take it until
// the first waiter has woken up and looks. One that has looked, and finds the lock held, is the
// next holder when that is released after the slice. The waiter behind it is woken then, to be
// there in time (as in WebKit's ParkingLot, whose fairness is eventual, too). When the turn is over
// or the lock cannot be handed on any more, it goes back to the server. (2) The first waiter asks
// the server: asking. Nobody waits: free. So it is, too, when a request has failed. (3) Nobody
// waits: retained, if the client retains locks and did not stand in the server's queue, where a
// grant does not say whether others stand behind it. Otherwise back. (4) Asks instead, if the lock
// cannot be handed on any more: its lease is nearly over, its minors are used up, a resource
// refuses its tokens, or it was revoked.
class local_turns {
 public:
  struct settings {
    milliseconds lease;
    bool retains = false;
  };

  // The time, and how much is left of the client's lease.
  struct glance {
    monotonic_time now{};
    nanoseconds left{};
  };

  // One thread or coroutine that waits for the lock. Leaves the line before it is destroyed.
  class waiter {
   public:
    explicit waiter(bool is_thread) : is_thread_(is_thread) {}
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;

    bool is_in_line() const noexcept { return place_.empty(); }

   private:
    friend class local_turns;
    // It is only ever the first waiter that is woken. Ready: it has looked, and is the next.
    enum class stage : std::uint8_t { asleep, woken, ready };

    std::list<waiter*> place_{this};  // spliced into the line, and back
    const std::list<waiter*>::iterator self_ = place_.begin();
    const bool is_thread_;
    stage stage_ = stage::asleep;
  };

  // The driver's next tasks.
  struct step {
    bool gives_back = false;  // the lock goes back to the server
    bool sets_timer = false;  // on_timer comes after half of the time that a lock is retained
    std::uint32_t minor = 0;  // of the next holder's token
    waiter* holds = nullptr;  // is the next holder, and has left the line
    waiter* wakes = nullptr;  // a thread that shall look
    waiter* asks = nullptr;   // asks the server, and has left the line
    friend bool operator==(const step&, const step&) = default;
  };

  explicit local_turns(const settings& how) noexcept
      : enough_(enough_of(how.lease)), retains_(how.retains) {}

  bool is_held() const noexcept { return state_ == state::held; }
  // One of this client's own holds it, or asks the server for it.
  bool is_taken() const noexcept { return state_ == state::asking || is_held(); }
  // The client has the lock, and nobody holds it.
  bool is_idle() const noexcept { return state_ == state::offered || state_ == state::retained; }
  bool is_wanted() const noexcept { return !line_.empty(); }
  waiter* first() const noexcept { return is_wanted() ? line_.front() : nullptr; }

  // A caller takes what is idle: the minor of its token. 0: it must ask, or wait.
  std::uint32_t take(const glance& seen) noexcept {
    return is_idle() && may_hand_on(seen) ? hold() : 0;
  }
  // A caller asks the server; an idle lock goes back first.
  void ask() noexcept;
  void on_granted(substrate::token_major major, bool was_queued, monotonic_time now) noexcept;
  // The caller that asked has not got the lock, or has got one that others cannot share. Comes
  // again when the waiter that should ask then cannot.
  step on_failed() noexcept { return {.asks = ask_next()}; }

  // The holder is done. While nobody waits, the driver need not look at the clock.
  step on_released(const glance& seen) noexcept {
    if (is_wanted()) return hand_over(seen);
    return may_retain(seen) ? retain() : give_back();
  }
  step on_lost() noexcept;

  // Waits in the line from now on.
  step on_joined(waiter& who, const glance& seen) noexcept;
  // A thread in the line has woken up.
  step on_looked(waiter& who, const glance& seen) noexcept;
  // It waits no more.
  step on_left(waiter& who, const glance& seen) noexcept;

  // Another client wants the lock.
  step on_revoked() noexcept;
  step on_timer() noexcept;
  // A resource refuses the tokens of grants up to this major.
  void raise_floor(substrate::token_major seen) noexcept;
  // The client has ended.
  void close() noexcept { state_ = state::free; }

 private:
  enum class state : std::uint8_t { free, asking, held, offered, retained };
  // A look at the clock at each release would cost a fifth of what it all costs. So the timer finds
  // out whether the lock was used since it was set: it is retained for half of the time that it may
  // be, or up to all of it.
  enum class timer : std::uint8_t { off, unused, used };

  bool may_hand_on(const glance& seen) const noexcept {
    const bool is_above_floor = floor_ == 0 || major_ > floor_;
    return !revoked_ && minor_ < last_minor && is_above_floor && seen.left > enough_;
  }
  bool may_retain(const glance& seen) const noexcept {
    return retains_ && !was_queued_ && !revoked_ && minor_ < last_minor &&
           seen.left > nanoseconds{0};
  }
  std::uint32_t hold() noexcept {
    state_ = state::held;
    return ++minor_;
  }
  step retain() noexcept {
    state_ = state::retained;
    if (timer_ != timer::off) {
      timer_ = timer::used;
      return {};
    }
    timer_ = timer::unused;
    return {.sets_timer = true};
  }
  waiter* ask_next() noexcept;
  step give_back() noexcept { return {.gives_back = true, .asks = ask_next()}; }
  step hand_over(const glance& seen) noexcept;
  step hand_to_first(monotonic_time now) noexcept;
  step make_first_holder(monotonic_time now) noexcept;
  waiter* wake_first() noexcept;
  void leave(waiter& who) noexcept { who.place_.splice(who.place_.begin(), line_, who.self_); }

  nanoseconds enough_;
  std::list<waiter*> line_;
  monotonic_time slice_ends_{};
  monotonic_time turn_ends_{};
  substrate::token_major floor_ = 0;  // 0: none
  substrate::token_major major_ = 0;
  std::uint32_t minor_ = 0;
  state state_ = state::free;
  timer timer_ = timer::off;
  bool retains_;
  bool was_queued_ = false;  // it stood in the server's queue for this grant
  bool revoked_ = false;
};

// For messages and test failures, e.g. "gives back; asks".
std::string to_string(const local_turns::step&);

}  // namespace holdfast::leasing
