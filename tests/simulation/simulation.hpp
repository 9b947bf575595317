// A seeded run of clients over a network that loses, delays and repeats, on one simulated server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulation/faults.hpp"
#include "simulation/kind.hpp"
#include "support/history/event.hpp"

namespace holdfast::simulation {

struct scenario {
  std::uint64_t seed = 0;
  const kind* of = &mutex_kind();
  bool faults = true;         // otherwise everything works, and each client wants the lock once
  bool varies = true;         // each acquisition has options of its own (client::draw_options)
  std::uint64_t clients = 0;  // 0: the seed says it
  // And there are long uses and freezes, troubled links, servers that refuse, replicas that take
  // over, tokens of other servers and locks of other kinds under the same name.
  bool harsh = true;
  // Replicas take over several times, and the old masters stay as replicas.
  bool succeeds = false;
  // Clients' clocks are faster or slower than the server's by up to so many millionths: all that is
  // allowed for.
  std::int64_t drift = 10'000;
  // When so many wait, all but the last are frozen for longer than any wait may take.
  std::uint64_t freezes_a_row_of = 0;
  // This client is told to stop when so many events have happened.
  struct stop {
    std::uint64_t client = 0;
    std::uint64_t after = 0;
  };
  std::optional<stop> cancel{};
  // Told what happens, as real runs tell it. A run that is told goes on after a breach.
  std::vector<history::event>* history = nullptr;
};

// The result of a run.
struct outcome {
  std::string violation;    // the promise that was broken, and when; empty: none
  std::uint64_t trace = 0;  // a hash of all that happened: the same seed gives the same one
  std::uint64_t events = 0;
  std::uint64_t grants = 0;       // believed by clients
  std::uint64_t handed_over = 0;  // of these, by a message
  std::uint64_t losses = 0;       // leases that ended before they were released
  std::uint64_t commands = 0;     // executed by the server
  std::size_t most_elements = 0;  // that the server had at once, of those times it was looked at
  std::uint64_t kept = 0;         // locks that were kept although nobody used them
  std::uint64_t asked_for = 0;    // of these, given back because somebody wanted them
  std::uint64_t queue_full = 0;   // refused, since too many waited
  nanoseconds lasted{};           // in the world's time
  bool contended = false;         // somebody stood in the queue
  fault_counts faults{};
};

// The real machines and the real scripts. A few clients, whose clocks run at different speeds,
// acquire, hold and release one lock again and again, while faults.hpp happens. Then everything
// works, and each waiter must get the lock in bounded time. promises.hpp lists the checks.
outcome simulate(const scenario& what);

}  // namespace holdfast::simulation
