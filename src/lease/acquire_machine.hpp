// One attempt to get a lock. No clock, socket or thread; see the table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lease/acquire_waiting.hpp"
#include "lease/patience.hpp"
#include "lease/queue_message.hpp"
#include "lease/step.hpp"
#include "lease/withdrawal.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

//   state       | granted  | busy (5)     | late     | woken (6)        | timer    | stopped (7)
//   asking      | held (1) | waiting (3)  | asking   | (notes it)       | -        | withdrawing
//   waiting     | -        | -            | -        | asking, held (4) | asking   | done (2)
//   doubting    | -        | -            | -        | -                | asking   | withdrawing
//   retreating  | release  | waiting (2)  | withdraw | -                | withdraw | withdrawing
//   withdrawing | release  | finished (2) | finished | -                | withdraw | -
//   done        | -        | -            | -        | -                | -        | -
//
// No answer: asking -> waiting if it was not sent (done where waiting is no use), doubting if that
// is unknown; retreating, withdrawing: tried again later.
//
// doubting: an earlier copy may still reach the server; it is refused there after its not-after, so
// nothing is sent before that has passed. retreating, withdrawing: the machine gives back the lock
// or place that the server holds for us, or may hold; then it asks again, or ends. Before
// withdrawing, the caller was told its outcome: at once when its patience was over or it was
// stopped.
//
// A caller that asks once is told `busy`, a passing refusal or `unavailable` instead of waiting or
// doubting, and the machine withdraws. A permanent refusal ends every attempt. `late`, at most
// three times in a row: the server's time is learned and it is asked again at once.
//
// (1) A grant that comes so late that its lease may be over is not believed: it is given back
// (retreating) and, while the patience lasts, asked for again. (2) Withdraws first where an
// earlier copy may have been granted unheard, or a place in the queue is ours; "busy" proves that
// none was. (3) In the queue, where the recipe has one, until told that the lock was handed over;
// otherwise until the next try. A waiter that learns there that no message can reach it gives up
// its place (retreating), and comes back to it as one that polls. (4) A grant on the channel is
// believed when its token is above all that we know, its time agrees with ours, and others cannot
// have heard its proof before; otherwise it is only a reason to ask. A message that came while
// asking is judged after the answer. (5) Or refused for a reason that passes. (6) Or told that the
// lock was handed over. (7) Or its patience is over.
//
// A change of a lease whose answer never came is undone by withdrawing. Where it cannot be
// (step::cannot_undo), its holder must stop believing in what it had; then it withdraws again.
class acquire_machine {
 public:
  struct settings {
    milliseconds response_timeout{2000};
    pauses while_busy = leasing::while_busy;
    std::uint64_t seed = 0;  // of the jitter
  };

  // The claim is the caller's; the machine changes it only while none of its requests is under way.
  acquire_machine(substrate::claim& claim, patience how_long, const settings& with);

  step start(monotonic_time now);
  // The server's answer to an acquire, or to a release or withdraw. `sent_at`: when the answered
  // request was handed to the connection, not before the `now` of the step that asked for it.
  // `position`: of the answer, among all that the server has sent, which may be heard in another
  // order.
  step on_acquired(const substrate::acquire_verdict& verdict, monotonic_time sent_at,
                   monotonic_time now, std::uint64_t position = 0);
  step on_given_back(const substrate::release_verdict& verdict, monotonic_time now);
  // The runtime gives this, or a verdict, for every request that a step asks to send. `why.code`
  // tells reasons that waiting can mend from those that it cannot.
  step on_missing(no_answer how, const outcome& why, monotonic_time now);
  step on_woken(monotonic_time now);
  // From now on, or no more, on_woken is called when somebody gives the lock back.
  step on_tuned_in(bool hears, monotonic_time now);
  // The server said that it has handed the lock to this request: dialects::is_for and is_plausible
  // have looked at what was said. `granted_at`: when that was, on
  // our clock, and rather too early than too late (server_clock::earliest).
  step on_handed_over(const substrate::granted& grant, monotonic_time granted_at,
                      monotonic_time now, std::uint64_t position = 0);
  // The server said that this request is the first in the queue now, and for how long the lock is
  // another's. Anybody can say that: it never puts off the next question.
  step on_first_in_line(nanoseconds owner_has, monotonic_time now, std::uint64_t position = 0);
  // There is no channel: from now on it polls, once it has left the queue as one that listens.
  step on_deaf(monotonic_time now);
  step on_timer(monotonic_time now);
  step on_stop(monotonic_time now);

  // It stands in the queue, and waits for the message that the lock was handed to it.
  bool hears_messages() const noexcept {
    return claim_->ticket != 0 && claim_->way == substrate::wakeup_way::channel && !deaf_ &&
           !is_told();
  }

  // It waits without a place in a queue.
  bool is_polling() const noexcept { return state_ == state::waiting && claim_->ticket == 0; }

  // Until then, on our clock, the server may execute the acquire that the last step asked to send,
  // however late it is sent: doubts end soon after.
  monotonic_time executable_until() const noexcept { return withdrawal_.executable_until(); }

  // It has ended without knowing what the server has done for it.
  bool is_unclear() const noexcept { return withdrawal_.is_unclear(); }

  // Names the grant once there is one.
  const substrate::claim& claim() const noexcept { return *claim_; }

 private:
  enum class state : std::uint8_t { asking, waiting, doubting, retreating, withdrawing, done };
  using answer = acquire_waiting::answer;

  step asked(const substrate::acquire_verdict& verdict, monotonic_time sent_at, monotonic_time now);
  step on_granted(const substrate::granted& grant, monotonic_time sent_at, monotonic_time now);
  step on_busy(const substrate::busy& held, monotonic_time now);
  step on_queued(const substrate::queued& where, monotonic_time now);
  step on_late(const substrate::late& server, monotonic_time now);
  step on_refused(const substrate::refused& refusal, monotonic_time now);
  step hear(const queue_message& said, monotonic_time now);
  step judge(const queue_message& said, monotonic_time now);
  step hold(const substrate::granted& grant, monotonic_time granted_at, monotonic_time deadline);
  step on_unwanted(const substrate::acquire_verdict& verdict, monotonic_time now);
  step on_not_undone(monotonic_time now);
  step acquire_missing(no_answer how, const outcome& why, monotonic_time now);
  step give_back_missing(no_answer how, const outcome& why, monotonic_time now);

  step ask_for_it(monotonic_time now);
  step wait(monotonic_time until, monotonic_time now);
  step tell(errc code, std::string detail, monotonic_time now);
  step tell_patience_is_over(monotonic_time now);
  step give_back(monotonic_time now);
  step give_back_later(monotonic_time now);
  step wake(monotonic_time at, monotonic_time now) const;

  bool is_told() const noexcept { return state_ >= state::withdrawing; }
  bool is_over(monotonic_time now) const noexcept { return now >= give_up_at_; }
  monotonic_time deadline_of(const substrate::granted& grant,
                             monotonic_time granted_at) const noexcept;

  substrate::claim* claim_;
  monotonic_time give_up_at_;
  acquire_waiting waiting_;
  withdrawal withdrawal_;
  std::unique_ptr<const queue_message> kept_;  // came while asking; on the heap, since it is rare
  std::uint64_t answered_at_ = 0;  // position of the last answer: earlier messages are obsolete
  state state_ = state::asking;
  std::uint8_t late_in_a_row_ = 0;
  bool waits_;                  // the caller does; otherwise it asks once
  bool deaf_ = false;           // no message can reach us: the next question says so
  bool asked_plainly_ = false;  // the request was sent in a form that cannot join the queue
};

static_assert(sizeof(acquire_machine) <= 96, "memory of every waiting attempt");

}  // namespace holdfast::leasing
