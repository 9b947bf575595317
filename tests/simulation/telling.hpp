// Whom the server tells what, checked after every command that it executes:
//
//   T1  whoever is given the lock while he waits is told so, unless he polls, or asks just then. So
//       nobody is given it who does not listen any more
//   T2  whoever comes to the front of the queue is told that he is next, with the same excuses
//
// L1 and L2 rest on that (docs/guarantees.md). Whether he hears it is for promises.hpp to say: a
// message can be lost.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/kind.hpp"

namespace holdfast::simulation {

// What a command has done.
struct effect {
  std::string_view command;                 // as it was sent: whoever asks is named in it
  std::span<const std::string> messages;    // that it has published, and somebody has heard
  std::span<const std::string> new_owners;  // of the lock
  std::span<const waiter> queue_before, queue;
};

// What was broken; empty: nothing.
std::string check_telling(const effect& of);

}  // namespace holdfast::simulation
