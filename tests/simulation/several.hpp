// A seeded run of clients that want several locks at once: together in one command first, then one
// after another, as runtime/joint_request and api/all_of do. The real machines and scripts.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::simulation {

// The result of a run.
struct several_outcome {
  std::string violation;          // what was broken, and when; empty: nothing
  std::uint64_t trace = 0;        // a hash of all that happened
  std::uint64_t grants = 0;       // of all locks to one client
  std::uint64_t together = 0;     // of these, by one command
  std::uint64_t handed_over = 0;  // parts for which somebody waited
  std::uint64_t losses = 0;       // parts whose lease ended before they were given back
  std::uint64_t misled = 0;       // places in a queue that were copied to that of another lock
  std::uint64_t harms = 0;        // requests, answers and messages lost or late, crashes
};

// Some clients take two or three of three locks, again and again, while requests, answers and
// messages are lost or late, callers give up and clients die. In some runs the locks have one hash
// slot, perhaps of a cluster; clients wait for several locks at once; or a queue is copied to
// another name, so that waiters for one lock are told that they have another. Then everything
// works, and everyone must get all their locks once more. Checked:
//
//   S1  no two believe that they hold the same lock
//   S3  a client that believes that it holds a lock has it at the server
//   A1  a command that asks for several leaves all of them or none
//   A2  a client that has given up or given back has nothing left at the server, once that was
//   answered L   everybody is served in bounded time, and at the end no lock is left, no waiter
//   that
//       lives and was told that it has left, and after the life of a queue nothing
several_outcome simulate_several(std::uint64_t seed);

}  // namespace holdfast::simulation
