// A request to one member of a quorum, and its vote.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "base/lock_key.hpp"
#include "base/request_id.hpp"
#include "base/time.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::substrate {

// A request's question to each member. The owner is the same at all of them.
struct quorum_claim {
  const lock_key* key = nullptr;  // outlives the claim
  request_id owner;
  milliseconds lease{};                  // for which a member keeps it
  bool at_group = false;                 // of servers under Sentinel: its master may be replaced
  bool is_trial = false;                 // counts for itself: no hash slot is founded
  token_major token = 0;                 // chosen; 0: not yet
  token_major floor = 0;                 // the largest major known for the slot at this member
  std::optional<request_id> listener{};  // at this member: is told that the lock is free
  microseconds waited{};                 // for so long it has waited
  bool is_unheard = false;               // this member has not answered the request for its vote
};

// The conduct of a member without a counter: it never voted, or it has lost its memory.
enum class newcomer : std::uint8_t {
  tells,   // and nothing else
  joins,   // votes at once
  enters,  // votes when it is asked next
  waits,   // gives no vote to others for the longest lease
};

// Answers, beside those of every lock.
struct voted_before {  // for this very request
  friend bool operator==(const voted_before&, const voted_before&) = default;
};
struct without_memory {
  friend bool operator==(const without_memory&, const without_memory&) = default;
};
struct staying_out {
  milliseconds remaining{};
  friend bool operator==(const staying_out&, const staying_out&) = default;
};
using vote = std::variant<granted, busy, voted_before, without_memory, staying_out, late, refused>;

}  // namespace holdfast::substrate
