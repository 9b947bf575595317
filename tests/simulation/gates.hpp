// Seeded runs of clients that wait at a latch or a barrier, or that set and count down the latch.
// The real machines and scripts, one simulated server.
#pragma once

#include <cstdint>
#include <string>

#include "simulation/faults.hpp"

namespace holdfast::simulation {

// The result of a run.
struct gate_outcome {
  std::string violation;        // what was broken, and when; empty: nothing
  std::uint64_t trace = 0;      // a hash of all that happened
  std::uint64_t grants = 0;     // calls that went on
  std::uint64_t told = 0;       // of these, by a message
  std::uint64_t losses = 0;     // parties that were told that the others went on without them
  std::uint64_t openings = 0;   // of the latch, or generations of the barrier
  std::uint64_t set_again = 0;  // calls that went on although the latch was set again by then
  std::uint64_t copies = 0;     // of changes that were executed already, or too late
  fault_counts faults{};
};

// Some clients wait, again and again, and, at a latch, set it and count it down at the same time,
// while faults.hpp happens. Then everything works: the latch is counted down, and everyone must go
// on once more. Checked after each command that the server executes:
//
//   latch_watch.hpp    what is promised of a latch
//   barrier_watch.hpp  what is promised of a barrier
//   L   a waiter that can go on does so in bounded time, also while things go wrong, counted from
//       the last fault that hit it; at the end nothing is left that does not end by itself
//
// `crowd`: so many wait that one script cannot tell all of them.
gate_outcome simulate_latch(std::uint64_t seed, bool crowd = false);
gate_outcome simulate_barrier(std::uint64_t seed);

}  // namespace holdfast::simulation
