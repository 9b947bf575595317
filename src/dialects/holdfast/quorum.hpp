// A lock of a quorum, as one of its members keeps it (docs/wire/holdfast.md): a vote with an
// expiry, and a counter from which tokens are drawn. No queue and no hand-over.
#pragma once

#include <optional>
#include <variant>

#include "dialects/recipe.hpp"

namespace holdfast::dialects {

// What a request asks of each member. The owner is the same at all of them.
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

// What a member without a counter does: it never voted, or it has lost its memory.
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

void write_quorum_acquire(const quorum_claim&, newcomer, milliseconds longest_lease,
                          server_time not_after, resp::writer&);
vote read_vote(const quorum_claim&, const resp::value&);

// Prolongs a vote and tells the chosen token. `votes_again`: also a member that has lost it.
void write_quorum_keep(const quorum_claim&, bool votes_again, milliseconds longest_lease,
                       server_time not_after, resp::writer&);
renew_verdict read_quorum_keep(const resp::value&);

// `hears_on`: the listener stays, since the request asks again.
void write_quorum_release(const quorum_claim&, bool hears_on, resp::writer&);
release_verdict read_quorum_release(const resp::value&);

// Takes away what a trial has left: nobody else knows of it.
void write_end_of_trial(const quorum_claim&, resp::writer&);

// The keys of a member's vote, of its fence counter, of its staying out, and of those who want to
// hear that the lock is free.
std::string quorum_value_key(const lock_key&);
std::string quorum_fence_key(const lock_key&);
std::string quorum_out_key(const lock_key&);
std::string quorum_waiters_key(const lock_key&);

}  // namespace holdfast::dialects
