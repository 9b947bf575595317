// The checker of real runs' histories (tests/support/history) on simulated ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "simulation/seeds.hpp"
#include "simulation/simulation.hpp"
#include "support/history/checker.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

const std::uint64_t seeds = usually(300);

// A waiter may stay silent for 2 s, and longer further back; all frozen ones are in its way.
const history::bounds generous{.lock_free = {20s, 5s},
                               .lock_orphaned = {20s, 5s},
                               .return_late = 5s,
                               .loss_late = 0ms,
                               .call_arrives = 50ms,
                               .healing = 100s};

std::vector<history::violation> check(std::uint64_t seed, std::int64_t drift,
                                      const kind& of = mutex_kind()) {
  std::vector<history::event> events;
  const auto result =
      simulate({.seed = seed, .of = &of, .harsh = false, .drift = drift, .history = &events});
  // Tokens may repeat then, and what was lost can have been granted for longer than a lease:
  // nothing is promised (docs/guarantees.md), and the checker knows no clocks of servers.
  const auto count = [&](fault what) { return result.faults[static_cast<std::size_t>(what)]; };
  const auto lost =
      count(fault::flushed) + count(fault::restarted_empty) + count(fault::clock_forward);
  if (lost > 0 && count(fault::clock_back) > 0) return {};
  return history::check(history::story{events}, generous);
}

TEST(SimulatedHistory, ShowsNoBreach) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto found = check(seed, 10'000);
    ASSERT_TRUE(found.empty()) << "seed " << seed << ": " << history::to_text(found.front());
  }
}

// The checker judges by its own table of the modes which holders go together, and not by those of
// the simulation and the scripts. (Not of permits, whose number changes.)
TEST(SimulatedHistory, ShowsNoBreachWhereModesAreChanged) {
  for (const auto* const of : {&read_write_kind(), &mode_lock_kind()}) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto found = check(seed, 10'000, *of);
      ASSERT_TRUE(found.empty()) << of->name << ", seed " << seed << ": "
                                 << history::to_text(found.front());
    }
  }
}

// The control: clocks that differ by more than is allowed for break what is promised, and the
// history alone shows it.
TEST(SimulatedHistory, ShowsBeliefsThatOverlapWhereClocksAreTooDifferent) {
  std::uint64_t overlapping = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto found = check(seed, 300'000);
    overlapping += std::ranges::count(found, "I4", &history::violation::invariant) > 0 ? 1 : 0;
  }
  EXPECT_GT(overlapping, seeds / 10);
}

}  // namespace
}  // namespace holdfast::simulation
