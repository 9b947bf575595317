// What is promised (docs/guarantees.md), checked at every event of a run, and what excuses a
// breach.
//
//   S1  all who believe that they hold the lock go together, and so do all who have it at the
//       server when it gives it to one more
//   S2  the server's tokens grow. Excused: the server was emptied while the last token was further
//       ahead of its clock than a lost counter begins, as after a clock that was set back; but a
//       client believes in none that is not above all it has seen
//   S3  whoever believes has the lock at the server until his deadline
//   S4  a lease that ends is reported at its deadline; no lease ends before its time when nothing
//       was done to it
//   L1  a lock whose lease has ended is given to who waits, within `prompt`, and 20 ms for each of
//       up to 16 before him, who may be dead
//   L2  a release gives the lock to the first who waits; and whatever happened, nobody waits for a
//       free lock longer than he may stay silent. Free: the first in the queue may come in
//   R   a lock that nobody uses is given back within `prompt` when somebody waits
//   O   nobody is served while one waits whose ticket is older. Excused: who changes what he has;
//       who wants no more than to be known (the mode n)
//   O2  nobody stands in the queue twice
//   I10 a call returns when its patience is over, and at once when it is stopped
//   I11 a copy of a request that arrives after it was given up is refused; who has left, has left
//       nothing at the server; and when all have, nothing is there that does not end by itself but
//       fence counters
//
// Who has asked for another mode of what he has relies on the weaker of the two from then on.
//
// S1 and S3 are excused for leases that were granted, or whose time was counted, before the server
// was emptied, its clock set forward or the lock broken or deleted; late copies, and O2, when the
// clock was set back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "dialects/holdfast/layout.hpp"
#include "simulation/kind.hpp"
#include "support/history/event.hpp"

namespace holdfast::simulation {

// What a client believes of the lock, in the world's time.
struct belief {
  std::string owner;
  dialects::token_major token = 0;
  share has{};
  monotonic_time deadline{};
  // It rests on what the server said or did then.
  monotonic_time evidence{};
};

// The place in the queue of a client to which nothing has happened since it was told of it.
struct place {
  std::uint64_t before = 0;  // so many stood before it
  monotonic_time asked_at{};
  monotonic_time told_at{};
};

// Whether a counter that is lost now begins below this token.
inline bool is_out_of_reach(dialects::token_major token, microseconds clock) {
  return microseconds{token} >= clock + dialects::longest_lead;
}

class promises {
 public:
  promises(const kind& of, const lock_key& key, simulated_server& server);

  // ---- what happened. Each may find a breach.
  void executed(monotonic_time now);
  // A release or withdrawal was answered with "given back".
  void gave_back(monotonic_time now);
  void emptied(monotonic_time now);
  // Somebody has taken the lock from all who had it.
  void leases_ended(monotonic_time now) noexcept { disrupted_at_ = now; }
  void clock_set(monotonic_time now, microseconds by);
  void believed(const belief& what, monotonic_time now);
  void believed_together(std::span<const belief* const> all);
  void left(std::string_view owner);
  void late_copy_executed();
  // All have left, and the leases of those who could not say so have ended.
  void all_left();
  // To whom the server gave the lock since the last call, and from whom it is gone.
  void keep_news() noexcept { keeps_news_ = true; }
  std::vector<history::event> take_news() { return std::exchange(news_, {}); }
  void waits(const place& where, monotonic_time now);
  // Somebody has it since then without using it.
  void kept(monotonic_time since, monotonic_time now);

  // ---- questions
  bool is_disrupted_since(monotonic_time then) const noexcept { return disrupted_at_ >= then; }
  bool is_set_since(monotonic_time then) const noexcept { return clock_set_at_ >= then; }
  monotonic_time granted_at(dialects::token_major token) const;
  bool contended() const noexcept { return contended_; }
  // To whom the last command gave the lock, and who waited before it and after.
  const std::vector<std::string>& new_owners() const noexcept { return new_owners_; }
  const std::vector<waiter>& queue_before() const noexcept { return queue_before_; }
  const std::vector<waiter>& queue() const noexcept { return queue_; }

  void violated(const std::string& what);
  const std::string& violation() const noexcept { return violation_; }

 private:
  // A grant as the server made it.
  struct grant {
    std::string owner;
    monotonic_time at;
    std::uint32_t limit;  // of the permits, then
  };

  const holder* find(std::string_view owner) const;
  // Also if he has changed it since.
  const holder* find_heir(std::string_view owner) const;
  bool is_known(const holder& one) const;
  void granted(const holder& one, monotonic_time now);
  void check_order(const holder& served);
  void check_places();
  std::optional<microseconds> opens_in();
  void became_free(monotonic_time when, bool by_expiry);

  const kind& kind_;
  const lock_key& key_;
  simulated_server& server_;
  std::vector<holder> holders_;
  bool keeps_news_ = false;
  std::vector<std::string> owners_before_, new_owners_;
  std::vector<history::event> news_;
  std::vector<waiter> queue_, queue_before_;
  std::uint32_t limit_ = 0;
  std::vector<share> shares_;
  std::map<dialects::token_major, grant> grants_;
  std::map<std::string, double, std::less<>> tickets_;  // of all who ever stood in the queue
  dialects::token_major newest_ = 0;
  monotonic_time opens_at_ = monotonic_time::max();  // the lock, if nothing is done
  monotonic_time granted_last_at_ = monotonic_time::min();
  std::optional<monotonic_time> free_since_, waited_for_since_;
  bool freed_by_expiry_ = false;
  bool stepped_back_ = false;
  bool counter_lost_ = false;  // no token was drawn since the server was emptied
  bool contended_ = false;
  monotonic_time disrupted_at_ = monotonic_time::min();
  monotonic_time emptied_at_ = monotonic_time::min();
  monotonic_time clock_set_at_ = monotonic_time::min();
  std::string violation_;
};

}  // namespace holdfast::simulation
