// The server's messages to waiters, checked after every command that it executes:
//
//   T1  a waiter that is given the lock is told so, unless it polls, or asks just then. So none is
//       given it that does not listen any more
//   T2  a waiter that comes to the front of the queue is told that it is next, with the same
//   excuses
//
// L1 and L2 rest on that (docs/guarantees.md). promises.hpp says whether the waiter hears it: a
// message can be lost.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/kind.hpp"

namespace holdfast::simulation {

// The effects of a command.
struct effect {
  std::string_view command;                 // as it was sent: it names the caller
  std::span<const std::string> messages;    // that it has published, and somebody has heard
  std::span<const std::string> new_owners;  // of the lock
  std::span<const waiter> queue_before, queue;
};

// The breach; empty: none.
std::string check_telling(const effect& of);

}  // namespace holdfast::simulation
