// A lock of a quorum, as one of its members keeps it (docs/wire/holdfast.md): a vote with an
// expiry, and a counter from which tokens are drawn. No queue and no hand-over.
#pragma once

#include <string>

#include "redis/dialects/recipe.hpp"
#include "substrate/vote.hpp"

namespace holdfast::dialects {

using substrate::newcomer;
using substrate::quorum_claim;
using substrate::staying_out;
using substrate::vote;
using substrate::voted_before;
using substrate::without_memory;

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

// The keys of a member's vote, of its fence counter, of its staying out, and of the requests that
// want to hear that the lock is free.
std::string quorum_value_key(const lock_key&);
std::string quorum_fence_key(const lock_key&);
std::string quorum_out_key(const lock_key&);
std::string quorum_waiters_key(const lock_key&);

}  // namespace holdfast::dialects
