// Getting the votes of a majority of independent servers. No clock, socket or thread; see the
// table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lease/back_off.hpp"
#include "lease/ballot.hpp"
#include "lease/patience.hpp"
#include "lease/step.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"
#include "substrate/vote.hpp"

namespace holdfast::leasing {

// One question to one member.
struct member_ask {
  enum class what : std::uint8_t {
    vote,      // its vote
    join,      // the same, also when it remembers nothing: none of a majority does
    enter,     // to vote the next time, also when it remembers nothing: the same, and we have won
    stay_out,  // to give no vote for a while, when it remembers nothing
    agree,     // to the token that was chosen
    confirm,   // its vote, which came when the lock was held: the holder does so
  };
  std::size_t member = 0;
  what asks = what::vote;
  friend bool operator==(const member_ask&, const member_ask&) = default;
};

struct quorum_outcome {
  std::optional<errc> code{};  // unset when the lock is held
  std::string detail{};
  std::vector<monotonic_time> deadlines{};  // when held: of each member's vote; min(): it has none
  monotonic_time asked_at{};                // when held: before the first vote was asked for
  monotonic_time won_at{};                  // when held: after the last one was
  std::vector<std::size_t> in_doubt{};      // when held: members that may vote for it yet
  friend bool operator==(const quorum_outcome&, const quorum_outcome&) = default;
};

// An empty step means: go on as before. Orders are carried out from the top.
struct quorum_step {
  std::vector<std::size_t> take_back{};  // the votes for the present request, at these members
  std::vector<std::size_t> in_doubt{};   // of those: the question was lost and may arrive yet
  bool new_request = false;              // requests from now on have a new request id
  std::vector<member_ask> send{};
  std::optional<monotonic_time> wake_at{};  // replaces what was set before
  std::optional<quorum_outcome> done{};     // tell the caller; nothing follows
  // With done, and of `take_back`: nobody wants to hear any more that the lock is free.
  bool leaves = false;
  friend bool operator==(const quorum_step&, const quorum_step&) = default;
};

std::string to_string(const quorum_step&);

//   state \ event | enough votes    | too few can come | hint    | timer            | stop
//   asking        | held, agreeing  | waiting, done    | note it | waiting, done (1)| done
//   agreeing      | held, again (2) | waiting, done    | note it | waiting, done    | done
//   waiting       | -               | -                | asking  | asking, done     | done
//   held, done    | -               | -                | -       | -                | -
//
// Every member is asked at once, with one request id; a new attempt has a new one. Enough are n/2+1
// votes. The token is the largest major among them; where they differ, those below it are asked to
// agree, and the lock is held when a majority has reached the token while the vote was ours. So a
// later holder's votes meet it at some member, and that holder's token is larger, whatever the
// clocks do. A member that votes above the token after it was chosen does not count for it: another
// may have had the lock in between with the same one. Where too few agree without such votes, and
// all asked have answered, the largest of them is chosen instead, and those below it are asked
// again. (1) A member that has not answered within `member_timeout` does not vote in this attempt.
// Where votes are split, the machine does not even wait so long for a member that did not answer
// the last time: the others are a majority too, and may all be ours when they are asked again. (2)
// If the time that a majority keeps its votes (counted from before each was asked for) is not over:
// the machine checks this after the last answer.
//
// Too few: busy, out, silent or refusing members leave less than a majority. Then every vote that
// was given, or may have been, is taken back. The machine is done if it was asked once, its
// patience is over, or it was refused for good. Otherwise it waits: for a hint that a member is
// free, or until enough votes may have run out, or for a random pause where votes were split.
//
// When a member votes after the lock is held, the holder has it confirm that vote, and counts the
// vote from then on, as one that was renewed.
//
// A member without memory gives no vote until a majority has none: then nobody can have voted (or
// the promise is off in any case) and they all join. If fewer have none they have lost it, and are
// told to stay out for the longest lease, since they may have voted for a client that still counts
// on it.
class quorum_machine {
 public:
  struct settings {
    std::span<const std::string> names;  // of the members, for messages; outlive the machine
    milliseconds lease{};                // that is counted on
    milliseconds member_timeout{};
    bool hears = true;  // hints are told
    pauses while_split{milliseconds(1), milliseconds(64)};
    pauses polls{milliseconds(500), milliseconds(2000)};     // while busy, should a hint be lost
    pauses deaf_polls{milliseconds(10), milliseconds(250)};  // while busy, without hints
    // Not sooner, but when the votes of others run out: as is usual where they come from.
    std::optional<pauses> asks_after{};
    std::uint64_t seed = 0;
  };

  quorum_machine(patience how_long, const settings& with);

  // This member did not answer when it was asked last, as others have noticed.
  void mark_silent(std::size_t member) { ballot_.seats[member].was_silent = true; }
  bool is_silent(std::size_t member) const { return ballot_.seats[member].was_silent; }

  quorum_step start(monotonic_time now);
  // `attempt`: attempt() when it was asked; a late answer is ignored, since its vote was taken
  // back.
  quorum_step on_vote(std::uint32_t attempt, std::size_t member, const substrate::vote& said,
                      monotonic_time sent_at, monotonic_time now);
  quorum_step on_agreed(std::uint32_t attempt, std::size_t member,
                        const substrate::renew_verdict& said, monotonic_time now);
  quorum_step on_missing(std::uint32_t attempt, std::size_t member, no_answer how,
                         std::string_view why, monotonic_time now);
  quorum_step on_hint(monotonic_time now);
  quorum_step on_timer(monotonic_time now);
  quorum_step on_stop(monotonic_time now);

  std::uint32_t attempt() const noexcept { return attempt_; }
  // Chosen with the first votes of a majority; 0 before.
  substrate::token_major token() const noexcept { return ballot_.token; }
  bool is_done() const noexcept { return state_ >= state::held; }
  bool is_waiting() const noexcept { return state_ == state::waiting; }

 private:
  enum class state : std::uint8_t { asking, agreeing, waiting, held, done };
  using answer = ballot::answer;
  using seat = ballot::seat;

  quorum_step ask(monotonic_time now);
  quorum_step decide(monotonic_time now);
  quorum_step choose(monotonic_time now);
  quorum_step choose_anew(monotonic_time now);
  quorum_step hold(monotonic_time now);
  quorum_step found(monotonic_time now);
  quorum_step hear_late(std::size_t member, const substrate::vote& said);
  quorum_step fail(monotonic_time now);
  nanoseconds pause_length();
  quorum_step conclude(quorum_step so_far, errc code, std::string detail);
  quorum_step take_votes_back() const;
  void send_away_blank(quorum_step& into) const;
  void give_up_on_silent();
  monotonic_time give_up_at() const noexcept {
    return patience_.waits ? patience_.give_up_at : monotonic_time::max();
  }
  monotonic_time bounded(monotonic_time at) const noexcept { return std::min(at, give_up_at()); }

  patience patience_;
  settings settings_;
  ballot ballot_;
  back_off split_retries_;
  back_off polls_;
  monotonic_time wake_at_{};
  std::uint32_t attempt_ = 0;
  state state_ = state::asking;
  bool hinted_ = false;     // while asking
  bool was_split_ = false;  // the last attempt got votes, but too few
  bool cut_short_ = false;  // not all have had the time to answer
  std::string why_dead_;    // no majority could be reached when there was time for it; or empty
};

}  // namespace holdfast::leasing
