// Seeded runs. A failure names its seed; HOLDFAST_SEED=N runs that one alone,
// HOLDFAST_DRIFT=M lets clocks differ by up to M millionths.
#include "simulation/simulation.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "net/clock.hpp"

namespace holdfast::simulation {
namespace {

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Simulation, KeepsThePromises) {
  const auto only = number_in("HOLDFAST_SEED", 0);
  const auto first = only != 0 ? only : number_in("HOLDFAST_FIRST_SEED", 1);
  const auto drift = static_cast<std::int64_t>(number_in("HOLDFAST_DRIFT", 5000));
  const std::chrono::seconds time{number_in("HOLDFAST_SECONDS", 5)};
  const auto until = net::now() + time;
  std::uint64_t seed = first, grants = 0, losses = 0, commands = 0;
  do {
    const auto result = simulate({.seed = seed, .drift = drift});
    grants += result.grants;
    losses += result.losses;
    commands += result.commands;
    ASSERT_EQ(result.violation, "") << "scripts/simulate --seed " << seed;
  } while (++seed != first + (only != 0 ? 1 : 0) && net::now() < until);
  std::cout << seed - first << " seeds from " << first << ": " << grants << " grants, " << losses
            << " losses, " << commands << " commands\n";
  EXPECT_GT(grants, 0U);
}

TEST(Simulation, IsTheSameForTheSameSeed) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto one = simulate(seed), two = simulate(seed);
    EXPECT_EQ(one.trace, two.trace) << seed;
  }
  EXPECT_NE(simulate(1).trace, simulate(2).trace);
}

// So that what the runs show is not shown by runs in which nothing happens.
TEST(Simulation, InjectsEveryFault) {
  constexpr std::uint64_t seeds = 2000;
  fault_counts sum{};
  std::uint64_t contended = 0, handed_over = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto result = simulate(seed);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += result.faults[i];
    contended += result.contended ? 1 : 0;
    handed_over += result.handed_over;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_GE(sum[i], seeds / 20) << fault_names[i];
  }
  EXPECT_GT(contended, seeds * 9 / 10);
  EXPECT_GT(handed_over, seeds);
}

// Three clients who want the lock once. Each of them is stopped after each event of the run, and
// all must be served all the same.
TEST(Simulation, BearsACancellationAtEveryEvent) {
  std::uint64_t runs = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (std::uint64_t who = 0; who < 3; ++who) {
      for (std::uint64_t k = 1, events = 1; k <= events; ++k, ++runs) {
        const auto result = simulate(
            {.seed = seed, .faults = false, .clients = 3, .cancel = {{.client = who, .after = k}}});
        ASSERT_EQ(result.violation, "") << "seed " << seed << ", client " << who << ", event " << k;
        events = result.events;
      }
    }
  }
  EXPECT_GT(runs, 300U);
}

}  // namespace
}  // namespace holdfast::simulation
