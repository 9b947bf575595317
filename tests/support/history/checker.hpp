// Checks a history against what Holdfast promises (docs/guarantees.md). Each invariant is a
// function of its own, in the files named after them; all take O(n log n).
#pragma once

#include <string>
#include <vector>

#include "support/history/story.hpp"

namespace holdfast::history {

// How long a waiter may be left waiting: longer where nobody notifies it, and the more waiters were
// before it when it called.
struct grace {
  milliseconds at_all{250};
  milliseconds for_each_before{0};
};

// How long things may take in a run. The defaults are for a busy machine and a working network.
struct bounds {
  grace lock_free{};              // after a release, while somebody waits
  grace lock_orphaned{};          // the same, after the lease of one that died or lost it
  milliseconds return_late{250};  // a call, after it should have returned
  milliseconds loss_late{250};    // being told, after the lease has ended
  milliseconds call_arrives{50};  // a call this much later stands behind, in a fair lock
  milliseconds healing{5000};     // until the last one is served that waits
};

// A promise that was broken.
struct violation {
  std::string invariant;  // "I4"
  std::string promise;    // of docs/guarantees.md: "S1, S3"
  std::string what;
  std::vector<event> events;  // that show it
};

// Several lines: what it is, then the events.
std::string to_text(const violation& one);

// Checks them all.
std::vector<violation> check(const story& run, const bounds& within = {});

// Grants of the server: safety.cpp.
void server_gives_to_those_who_go_together(const story&, std::vector<violation>&);  // I1
void tokens_grow(const story&, std::vector<violation>&);                            // I2
void tokens_follow_time(const story&, std::vector<violation>&);                     // I3

// Beliefs of its users, by the table of the modes: beliefs.cpp.
void beliefs_go_together(const story&, std::vector<violation>&);            // I4
void beliefs_end_in_time(const story&, std::vector<violation>&);            // I4
void nothing_changes_under_holders(const story&, std::vector<violation>&);  // I13

// The view of a resource that checks tokens: resource.cpp.
void writes_are_in_order(const story&, std::vector<violation>&);  // I5
void no_write_is_lost(const story&, std::vector<violation>&);     // I6

// Promises to waiters: waiting.cpp.
void free_lock_is_taken(const story&, const bounds&, std::vector<violation>&);  // I7, I8, I12
void arrival_is_order(const story&, const bounds&, std::vector<violation>&);    // I9
void all_are_served_in_the_end(const story&, const bounds&, std::vector<violation>&);  // I8

// Promises to callers: calls.cpp.
void calls_return(const story&, const bounds&, std::vector<violation>&);     // I10
void losses_are_told(const story&, const bounds&, std::vector<violation>&);  // I10
void nothing_is_left(const story&, std::vector<violation>&);                 // I11

}  // namespace holdfast::history
