// What can go wrong in a run. Each that is injected is counted, so that a test can tell that all
// of them happen.
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
};
inline constexpr std::size_t fault_kinds = 19;
inline constexpr std::array<std::string_view, fault_kinds> fault_names = {
    "request lost", "answer lost",       "request late",  "request repeated",
    "push lost",    "stalled",           "deaf",          "connection broken",
    "frozen",       "frozen past lease", "crashed",       "crashed silently",
    "flushed",      "restarted empty",   "clock forward", "clock back",
    "meddled with", "gave up",           "cancelled"};

using fault_counts = std::array<std::uint64_t, fault_kinds>;

}  // namespace holdfast::simulation
