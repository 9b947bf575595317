// A seeded run of clients that want one lock of a quorum. The real machines and scripts, several
// servers whose clocks know nothing of each other, and a connection of each client to each.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::simulation {

// The result of a run.
struct quorum_outcome {
  std::string violation;    // what was broken, and when; empty: nothing
  std::uint64_t trace = 0;  // a hash of all that happened
  std::uint64_t grants = 0;
  std::uint64_t losses = 0;      // leases that ended before they were given back
  std::uint64_t agreements = 0;  // grants whose members had counted differently
  std::uint64_t harms = 0;       // broken connections, crashes, frozen and restarted members, ...
};

// Some clients take the lock again and again, while connections break, members freeze, callers give
// up and clients die, and while a minority of members restarts empty or has its clock set forward;
// or while the clocks of all members are set by hours, also back, and none loses its memory. In
// half of the runs each link between a client and a member fails by itself, too: it refuses, holds
// back what goes one way or both, or is slow; and members forget votes that are counted on. The
// clients' clocks differ from the members' by up to a hundredth: the clients' run at rates of their
// own, or the members' do, each at its own, or all.
// Then everything works, and everyone must get the lock once more. Checked:
//
//   S1  no two believe that they hold the lock, but for a longest lease after a clock was set
//       forward: so long a vote may be counted on that has ended
//   S2  no token is given out twice, and tokens grow from holder to holder; if a clock is set
//       forward between the votes of one of them, from a holder to who asks after that
//   S3  a client that believes that it holds the lock has the votes of a majority, as S1
//   A2  a client that has given it back has no vote left, and gets none, when all members have
//   answered,
//       unless clocks go back; in the end only the killed have left any
//   L   every client is served in bounded time: within a second of its turn where nothing goes
//   wrong
//       (`calm`); at the end nothing is left but counters
quorum_outcome simulate_quorum(std::uint64_t seed, bool calm = false);

}  // namespace holdfast::simulation
