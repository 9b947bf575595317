// Seeded runs. A failure names its seed; HOLDFAST_SEED=N runs that one alone.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "net/clock.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {
namespace {

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Simulation, KeepsThePromises) {
  const auto only = number_in("HOLDFAST_SEED", 0);
  const auto first = only != 0 ? only : number_in("HOLDFAST_FIRST_SEED", 1);
  const std::chrono::seconds time{number_in("HOLDFAST_SECONDS", 5)};
  const auto until = net::now() + time;
  std::uint64_t seed = first, grants = 0, losses = 0, commands = 0;
  do {
    const auto result = simulate(seed);
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

}  // namespace
}  // namespace holdfast::simulation
