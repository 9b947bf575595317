// Seeded runs of clients who want a lock of a quorum (HOLDFAST_KIND=quorum).
#include "simulation/quorum.hpp"

#include <gtest/gtest.h>

#include "simulation/seeds.hpp"

namespace holdfast::simulation {
namespace {

TEST(SimulationOfAQuorum, KeepsThePromises) {
  // Every eighth without faults.
  keep_the_promises("quorum",
                    [](std::uint64_t seed) { return simulate_quorum(seed, seed % 8 == 0); });
}

TEST(SimulationOfAQuorum, IsTheSameForTheSameSeed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(simulate_quorum(seed).trace, simulate_quorum(seed).trace) << seed;
  }
  EXPECT_NE(simulate_quorum(1).trace, simulate_quorum(2).trace);
}

// Nothing is lost, so nobody waits for what is there only for when something was.
TEST(SimulationOfAQuorum, ServesEverybodySoonWhereNothingGoesWrong) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto result = simulate_quorum(seed, true);
    ASSERT_EQ(result.violation, "") << "seed " << seed;
  }
}

// Here a member that had forgotten whom it had voted for gave its vote to a renewal.
TEST(SimulationOfAQuorum, KeepsThePromisesWhereVotesWereForgotten) {
  for (const std::uint64_t seed : {50U}) {
    EXPECT_EQ(simulate_quorum(seed).violation, "") << "seed " << seed;
  }
}

// The same seeds each time, for scripts/mutants; and so that something happens in them.
TEST(SimulationOfAQuorum, KeepsThePromisesUnderEveryFault) {
  const std::uint64_t seeds = usually(600);
  quorum_outcome sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto result = simulate_quorum(seed);
    ASSERT_EQ(result.violation, "") << "seed " << seed;
    sum.grants += result.grants;
    sum.losses += result.losses;
    sum.harms += result.harms;
  }
  EXPECT_GT(sum.grants, 10 * seeds);
  EXPECT_GT(sum.losses, seeds / 200);
  EXPECT_GT(sum.harms, 5 * seeds);
}

}  // namespace
}  // namespace holdfast::simulation
