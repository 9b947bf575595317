// Seeded runs of clients who want several locks at once (HOLDFAST_KIND=all-of).
#include "simulation/several.hpp"

#include <gtest/gtest.h>

#include "simulation/seeds.hpp"

namespace holdfast::simulation {
namespace {

TEST(SimulationOfSeveral, KeepsThePromises) { keep_the_promises("all-of", simulate_several); }

TEST(SimulationOfSeveral, IsTheSameForTheSameSeed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(simulate_several(seed).trace, simulate_several(seed).trace) << seed;
  }
  EXPECT_NE(simulate_several(1).trace, simulate_several(2).trace);
}

// The same seeds each time, for scripts/mutants; and so that something happens in them.
TEST(SimulationOfSeveral, KeepsThePromisesUnderEveryFault) {
  const std::uint64_t seeds = usually(1000);
  several_outcome sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto result = simulate_several(seed);
    ASSERT_EQ(result.violation, "") << "seed " << seed;
    sum.grants += result.grants;
    sum.together += result.together;
    sum.handed_over += result.handed_over;
    sum.losses += result.losses;
    sum.misled += result.misled;
    sum.harms += result.harms;
  }
  EXPECT_GT(sum.grants, 20 * seeds);
  EXPECT_GT(sum.together, seeds);
  EXPECT_GT(sum.handed_over, seeds);
  EXPECT_GT(sum.losses, seeds / 20);
  EXPECT_GT(sum.misled, seeds / 5);
  EXPECT_GT(sum.harms, 10 * seeds);
}

}  // namespace
}  // namespace holdfast::simulation
