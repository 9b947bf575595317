// The answers of a quorum's members in one attempt, and the result of the count.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/errc.hpp>

#include "base/time.hpp"
#include "substrate/verdict.hpp"
#include "substrate/vote.hpp"

namespace holdfast::leasing {

constexpr std::size_t majority_of(std::size_t members) noexcept { return members / 2 + 1; }

// Until when a majority certainly keeps its votes: of the members' deadlines, the one that a
// majority reaches. Before it no other request can have a majority, whichever members it has.
monotonic_time majority_deadline(std::span<const monotonic_time> deadlines);

struct ballot {
  enum class answer : std::uint8_t {
    none,       // asked
    voted,      // with a major below the token, or the token is not chosen
    agreed,     // its counter has reached the token while its vote was ours, from not above it
    above,      // its vote came after the token was chosen, and is above it
    unsettled,  // asked to agree
    busy,       // it has voted for another
    blank,      // it remembers nothing
    out,        // it does not vote
    refused,
    silent,
    changed,  // its vote was not ours any more when asked to agree
  };
  // The answer of one member.
  struct seat {
    bool was_silent = false;  // did not answer when asked last, also before this attempt
    answer said = answer::none;
    bool was_late = false;
    bool may_have_voted = false;
    bool in_doubt = false;  // its question was lost
    substrate::token_major major = 0;
    monotonic_time deadline = monotonic_time::min();
    std::optional<milliseconds> remaining{};  // busy, where that ends; out
    errc code{};                              // refused
    bool passing = true;                      // the same
    std::string detail{};

    // False: it must be asked again. `chosen`: the token, if it is. `ends_at`: its vote does.
    bool hear(const substrate::vote& vote, substrate::token_major chosen, monotonic_time ends_at);
  };

  std::size_t count(answer which) const noexcept;
  std::size_t ours() const noexcept;
  std::size_t needed() const noexcept { return majority_of(seats.size()); }
  bool has_majority(answer which) const noexcept { return count(which) >= needed(); }
  // Somebody remembers the slot.
  bool is_remembered() const noexcept;
  // `may_found`: members that remember nothing may yet be asked to join.
  bool can_succeed(bool may_found) const noexcept;
  // Why there is no majority, for the program; whether asking again is of no use; for people.
  errc reason() const noexcept;
  bool is_final(errc why) const noexcept;
  std::string explain() const;
  // When so many votes for others have run out that there may be a majority for us.
  std::optional<milliseconds> enough_free_after() const;

  std::span<const std::string> names;  // of the members, for messages; outlive it
  std::vector<seat> seats;
  substrate::token_major token = 0;  // chosen with the first votes of a majority; 0 before
  bool founding = false;             // a majority remembered nothing, and was asked to join
  monotonic_time asked_at{};

 private:
  bool is_split_beside_silent() const noexcept;
};

}  // namespace holdfast::leasing
