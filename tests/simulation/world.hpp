// A seeded run of clients over a network that loses, delays and repeats, on one simulated server.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::simulation {

// What a run came to.
struct outcome {
  std::string violation;       // the promise that was broken, and when; empty: none
  std::uint64_t trace = 0;     // a hash of all that happened: the same seed gives the same one
  std::uint64_t grants = 0;    // believed by clients
  std::uint64_t losses = 0;    // leases that ended before they were released
  std::uint64_t commands = 0;  // executed by the server
};

// The real machines and the real scripts: a few clients acquire, hold and release one lock again
// and again while requests, answers and messages are lost, late and executed late, connections
// break, clients freeze and give up, and the server is emptied. Then everything works, and whoever
// waits must get the lock in bounded time.
//
// Checked: no two clients believe that they hold (S1, S3; not for a lease after the server was
// emptied), tokens of believed grants grow (S2), every lease ends by release or loss (S4), every
// waiter is served in the end (L1, L2).
outcome simulate(std::uint64_t seed);

}  // namespace holdfast::simulation
