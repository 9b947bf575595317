// Seeded runs of latches, barriers and values (HOLDFAST_KIND=latch, barrier, value).
#include <functional>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "simulation/gates.hpp"
#include "simulation/seeds.hpp"
#include "simulation/values.hpp"

namespace holdfast::simulation {
namespace {

gate_outcome latch(std::uint64_t seed) { return simulate_latch(seed); }

// The same seeds each time, for scripts/mutants; and so that something happens in them.
gate_outcome sum_of(std::uint64_t seeds,
                    const std::function<gate_outcome(std::uint64_t)>& simulate) {
  gate_outcome sum;
  for (std::uint64_t seed = 1; seed <= seeds && sum.violation.empty(); ++seed) {
    const auto result = simulate(seed);
    if (!result.violation.empty()) {
      sum.violation = "seed " + std::to_string(seed) + ": " + result.violation;
    }
    sum.grants += result.grants;
    sum.told += result.told;
    sum.losses += result.losses;
    sum.openings += result.openings;
    sum.set_again += result.set_again;
    sum.copies += result.copies;
    for (std::size_t i = 0; i < sum.faults.size(); ++i) sum.faults[i] += result.faults[i];
  }
  return sum;
}

// But those that cannot happen there, and what happens only to locks.
void expect_every_fault(const gate_outcome& sum, std::uint64_t seeds,
                        const std::set<std::string_view>& unknown) {
  for (std::size_t i = 0; i <= std::size_t(fault::cancelled); ++i) {
    if (unknown.contains(fault_names[i]) || i == std::size_t(fault::meddled_with)) continue;
    EXPECT_GE(sum.faults[i], seeds / 20) << fault_names[i];
  }
}

template <typename Simulate>
void expect_the_same(Simulate simulate) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(simulate(seed).trace, simulate(seed).trace) << seed;
  }
  EXPECT_NE(simulate(1).trace, simulate(2).trace);
}

TEST(SimulationOfALatch, KeepsThePromises) { keep_the_promises("latch", latch); }

TEST(SimulationOfALatch, IsTheSameForTheSameSeed) { expect_the_same(latch); }

TEST(SimulationOfALatch, KeepsThePromisesUnderEveryFault) {
  const std::uint64_t seeds = usually(400);
  const auto sum = sum_of(seeds, latch);
  ASSERT_EQ(sum.violation, "");
  expect_every_fault(sum, seeds, {"frozen past lease"});
  EXPECT_GT(sum.grants, 20 * seeds);
  EXPECT_GT(sum.told, 5 * seeds);
  EXPECT_GT(sum.openings, 5 * seeds);
  EXPECT_GT(sum.set_again, seeds / 10);
  EXPECT_GT(sum.copies, seeds);
}

// More wait than one script takes off the queue.
TEST(SimulationOfALatch, IsNotSetOverACrowd) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto result = simulate_latch(seed, true);
    ASSERT_EQ(result.violation, "") << "seed " << seed;
    EXPECT_GT(result.grants, 450U);
  }
}

TEST(SimulationOfABarrier, KeepsThePromises) { keep_the_promises("barrier", simulate_barrier); }

TEST(SimulationOfABarrier, IsTheSameForTheSameSeed) { expect_the_same(simulate_barrier); }

TEST(SimulationOfABarrier, KeepsThePromisesUnderEveryFault) {
  const std::uint64_t seeds = usually(400);
  const auto sum = sum_of(seeds, simulate_barrier);
  ASSERT_EQ(sum.violation, "");
  expect_every_fault(sum, seeds, {"request repeated"});
  EXPECT_GT(sum.grants, 20 * seeds);
  EXPECT_GT(sum.told, 5 * seeds);
  EXPECT_GT(sum.openings, 5 * seeds);
  EXPECT_GT(sum.losses, seeds / 50);
}

gate_outcome any_value(std::uint64_t seed) {
  return simulate_value(seed % value_names.size(), seed);
}

TEST(SimulationOfValues, KeepsThePromises) { keep_the_promises("value", any_value); }

TEST(SimulationOfValues, IsTheSameForTheSameSeed) { expect_the_same(any_value); }

class SimulationOfAValue : public testing::TestWithParam<std::size_t> {};

TEST_P(SimulationOfAValue, KeepsThePromisesUnderEveryFault) {
  const std::uint64_t seeds = usually(500);
  const auto sum =
      sum_of(seeds, [](std::uint64_t seed) { return simulate_value(GetParam(), seed); });
  ASSERT_EQ(sum.violation, "");
  expect_every_fault(sum, seeds,
                     {"push lost", "stalled", "deaf", "frozen past lease", "gave up", "cancelled"});
  EXPECT_GT(sum.grants, 100 * seeds);
  EXPECT_GT(sum.copies, 5 * seeds);
}

INSTANTIATE_TEST_SUITE_P(Each, SimulationOfAValue,
                         testing::Range(std::size_t{0}, value_names.size()), [](const auto& which) {
                           std::string name{value_names.at(which.param)};
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::simulation
