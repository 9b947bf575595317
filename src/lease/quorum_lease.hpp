// A lock of a quorum that is held, and how it is given back. No clock, socket or thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lease/quorum_machine.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

// The driver's next tasks for a held lock. An empty one: go on, the timer stays set.
struct quorum_lease_step {
  std::vector<std::size_t> renew{};         // at these members
  std::optional<monotonic_time> wake_at{};  // replaces what was set before
  bool lost = false;                        // tell the owner, once
  friend bool operator==(const quorum_lease_step&, const quorum_lease_step&) = default;
};

std::string to_string(const quorum_lease_step&);

//   state \ event | timer              | renewed           | not mine          | no answer, refused
//   held          | due: renew at all  | its deadline grows| it has no vote    | -
//   lost, closed  | -                  | -                 | -                 | -
//
// Every member's vote has a deadline of its own; the lock is held while a majority's are not over
// (majority_deadline), and any event after that means lost. A round of renewals goes to all members
// at a third of the lease, also to those that did not vote or have lost their vote. These vote
// again if they know that they have voted for nobody since. A member that was restarted empty does
// so when it has stayed out for the longest lease. A vote that came late is confirmed by a renewal
// of its own, at once: should another member lose its vote meanwhile, it is in its place. Until a
// majority has renewed in a round, another follows after 1/12 of the lease, at most 1 s.
class quorum_lease_machine {
 public:
  struct settings {
    milliseconds lease{};
    milliseconds response_timeout{2000};
    bool renews = true;
  };

  quorum_lease_machine(const settings& with, const quorum_outcome& won);

  quorum_lease_step start() const;
  quorum_lease_step on_timer(monotonic_time now);
  // This member has voted when the lock was held already.
  quorum_lease_step confirm(std::size_t member);
  // `ttl` of the verdict: that is counted on.
  quorum_lease_step on_kept(std::size_t member, const substrate::renew_verdict& said,
                            monotonic_time sent_at, monotonic_time now);
  quorum_lease_step on_missing(std::size_t member, monotonic_time now);
  // By the user: a round that is not a usual renewal, also where one is under way. It asks for
  // `duration`.
  quorum_lease_step extend(milliseconds duration, monotonic_time now);
  void on_released() noexcept { over_ = true; }

  // Of the last round: how many have renewed, and how many have not said yet.
  std::size_t renewed() const noexcept { return renewed_; }
  std::size_t unanswered() const noexcept;

  bool held(monotonic_time now) const noexcept { return !over_ && now < deadline_; }
  monotonic_time deadline() const noexcept { return deadline_; }
  bool is_over() const noexcept { return over_; }

  // The question for this member's vote was not answered, and may arrive yet.
  bool is_in_doubt(std::size_t member, monotonic_time now) const noexcept {
    return seats_[member].in_doubt && now < answered_by_;
  }
  // For quorum_release_machine.
  std::vector<std::size_t> in_doubt(monotonic_time now) const;
  bool has_renewed() const noexcept { return round_ != monotonic_time{}; }

 private:
  struct seat {
    monotonic_time deadline;
    std::uint32_t unanswered = 0;  // questions
    bool in_doubt = false;
  };

  quorum_lease_step begin_round(monotonic_time now);
  quorum_lease_step wait() const;
  quorum_lease_step settle(monotonic_time now);

  settings settings_;
  std::vector<seat> seats_;
  milliseconds longest_;  // that was ever asked for
  monotonic_time deadline_;
  monotonic_time renew_at_;
  monotonic_time answered_by_;  // no question for a vote is executed after this
  monotonic_time round_{};      // when the last one began
  std::size_t renewed_ = 0;
  bool over_ = false;
};

struct quorum_release_step {
  std::vector<std::size_t> send{};          // take the vote back at these members
  std::optional<monotonic_time> wake_at{};  // replaces what was set before
  std::optional<outcome> done{};            // tell the caller, once
  bool finished = false;
  friend bool operator==(const quorum_release_step&, const quorum_release_step&) = default;
};

std::string to_string(const quorum_release_step&);

// Every member is asked to take the vote back, and again, with growing pauses, until it has
// answered or the vote has run out. The caller is told when a majority of all has done it, when
// each member has answered or failed once, and at `late_from` at the latest. It hears `lost` where
// a majority had no vote of ours, `unavailable` where no member has done it.
//
// A question for the vote that was lost with its connection may be executed after the release,
// which came by another one: a vote for nobody. So a member that may see that is asked again,
// though it had no vote, when it is too late for that question. A vote that is found there comes of
// the question, unless a renewal may have made the member vote.
class quorum_release_machine {
 public:
  struct scope {
    std::vector<std::size_t> at{};        // the members that may have voted
    std::vector<std::size_t> in_doubt{};  // of those: the question may arrive yet
    bool renewed = false;                 // members were asked to vote again
    monotonic_time until{};               // all votes have run out by then
  };

  // `members`: of the quorum. From `late_from` on nothing is executed any more that was asked
  // before, and the caller has waited long enough.
  quorum_release_machine(const scope& of, std::size_t members, monotonic_time late_from,
                         std::uint64_t seed);

  quorum_release_step start();
  quorum_release_step on_released(std::size_t member, const substrate::release_verdict& said,
                                  monotonic_time now);
  quorum_release_step on_missing(std::size_t member, no_answer how, monotonic_time now);
  quorum_release_step on_timer(monotonic_time now);

 private:
  enum class answer : std::uint8_t { none, missing, released, not_mine };
  struct seat {
    std::size_t member;
    answer said = answer::none;
    bool was_tried = false;   // it has answered or failed once
    bool maybe_done = false;  // a copy of the request may have been executed
    bool in_doubt = false;    // the question for the vote may arrive yet
    bool may_come() const noexcept {
      return in_doubt && (said == answer::released || said == answer::not_mine);
    }
  };

  seat& of(std::size_t member);
  std::size_t count(answer which) const noexcept;
  quorum_release_step settle(monotonic_time now);
  bool is_decided() const noexcept;
  outcome verdict() const;

  std::vector<seat> seats_;
  std::size_t members_;
  bool renewed_;
  monotonic_time late_from_, until_;
  back_off retries_;
  monotonic_time wake_at_ = monotonic_time::max();  // no timer is set
  bool retrying_ = false;                           // it is for those that have not answered
  bool told_ = false;
};

}  // namespace holdfast::leasing
