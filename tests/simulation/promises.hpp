// What is promised (docs/guarantees.md), checked at every event of a run, and what excuses a
// breach.
//
//   S1  all who believe that they hold the lock go together, and so do all who have it at the
//       server when it gives it to one more
//   S2  the server's tokens grow. Excused: the server was emptied while the last token was further
//       ahead of its clock than a lost counter begins, as after a clock that was set back; and what
//       a replica that takes over has not heard, where that is the loss of the counter, another
//       beginning of it than the replica's own, a client's floor ahead of the clock, or the first
//       token after the clock was set back, and where it is set back before the next token: its
//       tokens are above those that it has heard of. A client believes in none that is not above
//       all it has seen. And none is further ahead of the clock than a lost counter begins, unless
//       the counter had come that far: no client is believed in that
//   S3  a client that believes has the lock at the server until its deadline
//   S4  a lease that ends is reported at its deadline; no lease ends before its time when nothing
//       was done to it
//   L1  a lock whose lease has ended is given to a waiter within `prompt`, and 20 ms for each of
//       up to 16 before it, which may be dead
//   L2  a release gives the lock to the first waiter; and whatever happened, no waiter that could
//       come in waits longer than it may stay silent. A waiter could come in when it goes together,
//       by the table of the modes (shares.cpp), with all holders and all waiters ahead of it
//   R   a lock that nobody uses is given back within `prompt` when somebody waits
//   O   nobody is served while a waiter whose ticket is older waits, to which nothing has happened.
//       Excused: a change of what is held, and the mode n
//   O2  nobody stands in the queue twice
//   I10 a call returns when its patience is over, and at once when it is stopped
//   I11 a copy of a request that arrives after it was given up is refused; who has left, has left
//       nothing at the server; and when all have, nothing is there that does not end by itself but
//       fence counters
//
// A holder that has asked for another mode relies on the weaker of the two from then on.
//
// S1 and S3 are excused for leases that were granted, or whose time was counted, before the server
// was emptied, its clock set forward, the lock broken or deleted, keys evicted, or a replica took
// over; late copies, and O2, when the clock was set back, and S1 for what such a copy of a change
// that had been undone has changed once more; O2 when a replica took over. I11 is
// excused for what was left while the server refused to write; and I11 and O2 for a request that
// gave up its place to wait in another way and was not told for so long that it has: it may stand
// there twice, and what it gives back may come to its other place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "simulation/kind.hpp"
#include "support/history/event.hpp"

namespace holdfast::simulation {

// A client's belief about the lock, in the world's time.
struct belief {
  std::string owner;
  substrate::token_major token = 0;
  share has{};
  monotonic_time deadline{};
  // It rests on what the server said or did then.
  monotonic_time evidence{};
};

// The place in the queue of a client to which nothing has happened since it was told of it.
struct place {
  std::string request{};
  std::uint64_t before = 0;  // so many stood before it
  monotonic_time asked_at{};
  monotonic_time told_at{};
  monotonic_time calm_since{};  // when it was told the first time since something happened to it
};

// The knowledge of a replica that has heard all up to then.
struct heard_so_far {
  monotonic_time at{};
  substrate::token_major newest = 0;
  std::optional<microseconds> counter_lost_at{};
  bool no_token_can_be_drawn = false;
  bool set_back_since_last_token = false;
};

// Whether a counter that is lost now begins below this token.
inline bool is_out_of_reach(substrate::token_major token, microseconds clock) {
  return microseconds{token} >= clock + dialects::longest_lead;
}

class promises {
 public:
  // Which requests are of a client that runs and reaches the server, and of those to which nothing
  // has happened since they were told their place.
  struct insight {
    std::function<bool(std::string_view request)> lives, is_calm;
  };
  promises(const kind& of, const lock_key& key, simulated_server& server, insight sees);

  // ---- what happened. Each may find a breach.
  void executed(monotonic_time now);
  // A release or withdrawal was answered with "given back".
  void gave_back(monotonic_time now);
  // Somebody has frozen or died, or runs again.
  void reconsider(monotonic_time now);
  void emptied(monotonic_time now);
  // Somebody has taken the lock from all who had it.
  void leases_ended(monotonic_time now) noexcept { disrupted_at_ = now; }
  void clock_set(monotonic_time now, microseconds by);
  void believed(const belief& what, monotonic_time now);
  // The same was answered: what the server has said that is left is what is believed, up to what
  // was asked for. (Of a lease that was granted before the clock was set back, more is left.)
  void believed_no_less(const belief& what, nanoseconds asked, nanoseconds delay,
                        monotonic_time now);
  void believed_together(std::span<const belief* const> all);
  // A request is about to be executed whose token shall be above this.
  void asked_above(substrate::token_major floor, monotonic_time now);
  void counter_lost(monotonic_time now);
  // It is lost, and none can be begun where what is there is of another type.
  void counter_damaged(bool of_another_type, monotonic_time now);
  // The server is another, which has heard no more.
  void failed_over(const heard_so_far& heard, monotonic_time now);
  heard_so_far heard(monotonic_time now) const {
    return {now, newest_here_, counter_lost_at_, no_token_can_be_drawn_,
            set_back_since_last_token_};
  }
  void refused_writes(monotonic_time until) { refused_until_ = until; }
  // A request has given up a place, and the server has not confirmed that for so long that the
  // request goes on, perhaps in another way, or ends.
  void withdrew_unconfirmed(std::string_view owner) { unconfirmed_.emplace(owner); }
  void left(std::string_view owner, monotonic_time now);
  void late_copy_executed();
  // The lease of this one was changed, or waits to be, by a copy of a request that was undone
  // before.
  void changed_unheard(std::string_view owner) {
    if (stepped_back_) changed_unheard_.emplace(owner);
  }
  // All have left, and the leases of those that could not say so have ended.
  void all_left(monotonic_time now);
  // To whom the server gave the lock since the last call, and from whom it is gone.
  void keep_news() noexcept { keeps_news_ = true; }
  std::vector<history::event> take_news() { return std::exchange(news_, {}); }
  void waits(const place& where, monotonic_time now);
  // Somebody has it since then without using it.
  void kept(monotonic_time since, monotonic_time now);

  // ---- questions
  bool is_disrupted_since(monotonic_time then) const noexcept { return disrupted_at_ >= then; }
  bool is_set_since(monotonic_time then) const noexcept { return clock_set_at_ >= then; }
  monotonic_time granted_at(substrate::token_major token) const;
  // Of a message: it says when the lock was handed over, and when that was here rests on the last
  // sample of the server's clock, taken then, should the clock have been set since. Nothing excuses
  // a grant that the server has not made.
  monotonic_time evidence_for(substrate::token_major token, monotonic_time sampled_at,
                              monotonic_time now) const;
  // When the lease ends that ends next; nothing: nobody has the lock.
  std::optional<monotonic_time> next_end() const;
  const std::vector<holder>& holders() const noexcept { return holders_; }
  bool contended() const noexcept { return contended_; }
  // Whether it may come in now, but for those ahead of it in the queue.
  bool fits(const waiter& one) { return opens_in(one, {}) == microseconds{0}; }
  // Whether there are as many permits as it wants.
  bool can_be_served(const waiter& one) const noexcept {
    return one.wants.mode != 's' || one.wants.weight <= limit_;
  }
  bool can_draw_tokens() const noexcept { return !no_token_can_be_drawn_; }
  // The requests to which the last command gave the lock, and the waiters before it and after.
  const std::vector<std::string>& new_owners() const noexcept { return new_owners_; }
  const std::vector<waiter>& queue_before() const noexcept { return queue_before_; }
  const std::vector<waiter>& queue() const noexcept { return queue_; }

  void violated(const std::string& what);
  const std::string& violation() const noexcept { return violation_; }

 private:
  // A grant as the server made it.
  struct grant {
    monotonic_time at;
    std::uint32_t limit;  // of the permits, then
  };

  // When one of those in front of the queue may come in.
  struct turn {
    std::string owner;
    monotonic_time opens_at = monotonic_time::max();
    std::optional<monotonic_time> since{};
    bool by_expiry = false;
    std::uint32_t dead = 0;   // those that stood ahead of it meanwhile
    std::uint64_t place = 0;  // when it could come in

    bool is_open(monotonic_time now) const { return since || now > opens_at; }
    monotonic_time open_since() const { return since ? *since : opens_at; }
    bool was_opened_by_expiry() const { return since ? by_expiry : true; }
  };
  // The last one with this token: where an excuse let it be smaller, there may be several.
  const grant* find_grant(substrate::token_major token) const;
  const turn* find_turn(const std::vector<turn>& of, std::string_view owner) const;

  void look(monotonic_time now);
  void look_at_counter();
  // The largest token that the next command may draw.
  substrate::token_major furthest_token() const;
  const holder* find(std::string_view owner) const;
  // Also if the holder has changed it since.
  const holder* find_heir(std::string_view owner) const;
  bool is_known(const holder& one) const;
  void granted(const holder& one, monotonic_time now);
  void forget_unheard_tokens() noexcept { newest_ = std::min(newest_, newest_here_); }
  void check_order(const holder& served);
  void check_change(const holder& made, monotonic_time now);
  void check_places();
  // How long until this one may come in beside the holders and those ahead of it who will, should
  // nobody do anything; nothing: for ever.
  std::optional<microseconds> opens_in(const waiter& one, std::span<const waiter* const> ahead);

  const kind& kind_;
  const lock_key& key_;
  simulated_server& server_;
  const insight sees_;
  std::vector<holder> holders_, holders_before_;
  monotonic_time looked_at_ = monotonic_time::min(), looked_before_ = looked_at_;
  bool keeps_news_ = false;
  std::vector<std::string> told_owners_, new_owners_;  // told of in the news, and not as freed
  std::vector<history::event> news_;
  std::vector<waiter> queue_, queue_before_;
  std::uint32_t limit_ = std::numeric_limits<std::uint32_t>::max();  // of permits
  std::vector<share> shares_;
  std::map<std::pair<substrate::token_major, std::string>, grant> grants_;  // by token and owner
  std::map<std::string, double, std::less<>> tickets_;  // of all who ever stood in the queue
  // Of all, and of those that this server has heard of.
  substrate::token_major newest_ = 0, newest_here_ = 0;
  std::vector<turn> turns_, turns_before_;
  monotonic_time granted_last_at_ = monotonic_time::min();
  std::optional<monotonic_time> waited_for_since_;
  bool stepped_back_ = false;
  bool failed_over_ = false;
  std::set<std::string, std::less<>> unconfirmed_, changed_unheard_;
  // What the counter says after the last command: how far it has come, and when that was written.
  struct {
    substrate::token_major shown = 0;
    microseconds written{};
  } counter_;
  // By its clock; no token was drawn since that we know of.
  std::optional<microseconds> counter_lost_at_;
  // What a replica must have heard, or its tokens may be smaller than those that were drawn since.
  monotonic_time jumped_at_ = monotonic_time::min();
  // When a token began the counter: none was there that this server knows of, or it was lost.
  monotonic_time begun_at_ = monotonic_time::min();
  bool set_back_since_last_token_ = false;  // that this server has heard of
  monotonic_time set_back_at_ = monotonic_time::min();
  bool no_token_can_be_drawn_ = false;
  bool contended_ = false;
  monotonic_time disrupted_at_ = monotonic_time::min();
  monotonic_time refused_until_ = monotonic_time::min();
  monotonic_time emptied_at_ = monotonic_time::min();
  monotonic_time clock_set_at_ = monotonic_time::min();
  std::string violation_;
};

}  // namespace holdfast::simulation
