// The faults of a run. Each one that is injected is counted, so that a test can tell that all of
// them happen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::simulation {

enum class fault : std::uint8_t {
  request_lost,       // never executed; its sender does not know
  answer_lost,        // executed; the connection breaks before the answer comes
  request_late,       // executed, perhaps after its sender has given it up
  request_repeated,   // executed a second time, later
  push_lost,          // a message is not delivered
  stalled,            // nothing is delivered to a client for a while
  deaf,               // a connection takes no subscription
  connection_broken,  // and made again
  frozen,             // a client's process runs no more for a while
  frozen_past_lease,  // the same, and its lease has ended when it runs again
  crashed,            // a client's process is gone, and its connection with it
  crashed_silently,   // the same, but the server keeps the connection for a while
  flushed,            // FLUSHALL
  restarted_empty,
  clock_forward,  // the server's clock is set
  clock_back,
  meddled_with,  // somebody deletes a key of the lock, or breaks it
  gave_up,       // a client's patience is over
  cancelled,     // it is told to stop
  // Faults that hit one client while the others go on.
  link_cut,   // nothing passes between it and the server, and no connection can be made
  half_link,  // its requests do not arrive, or what the server says does not
  link_slow,  // all that passes takes up to three times as long as anybody waits
  // Faults of the server and deeds of its other users.
  foreign_floor,  // a client has seen a token of another server
  intruded,       // somebody takes the name for that of another kind
  refusing,       // it is out of memory, read-only, without replicas, or its counter is none
  evicted,        // it needs memory, and keys that end by themselves are gone
  failed_over,    // a replica takes over, which has not heard the latest
  replica_left,   // and the old master is its replica, to which clients are still connected
  repeated,       // what its new master says, to one of these
  misled,         // those who wait are told that they have a lock of another name
};
inline constexpr std::size_t fault_kinds = 30;
inline constexpr std::array<std::string_view, fault_kinds> fault_names = {
    "request lost",  "answer lost",
    "request late",  "request repeated",
    "push lost",     "stalled",
    "deaf",          "connection broken",
    "frozen",        "frozen past lease",
    "crashed",       "crashed silently",
    "flushed",       "restarted empty",
    "clock forward", "clock back",
    "meddled with",  "gave up",
    "cancelled",     "link cut",
    "half a link",   "link slow",
    "foreign floor", "intruded",
    "refusing",      "evicted",
    "failed over",   "replica left",
    "repeated",      "misled"};

using fault_counts = std::array<std::uint64_t, fault_kinds>;

}  // namespace holdfast::simulation
