// A run is the same for the same seed in every process, so that a failure can be replayed in
// another one.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "simulation/gates.hpp"
#include "simulation/quorum.hpp"
#include "simulation/seeds.hpp"
#include "simulation/several.hpp"
#include "simulation/simulation.hpp"
#include "simulation/values.hpp"

namespace holdfast::simulation {
namespace {

// Digests of some runs of every world: the same before and after a change of the code that is not
// to change what clients do (HOLDFAST_TELL_DIGEST=500 prints the digest of so many seeds).
std::string digest(std::uint64_t seeds) {
  std::uint64_t sum = 0;
  const auto add = [&](const auto& run) { sum = (sum ^ run.trace) * 0x100000001b3; };
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const auto* const one : all_kinds()) add(simulate({.seed = seed, .of = one}));
    add(simulate_several(seed));
    add(simulate_quorum(seed));
    add(simulate_latch(seed));
    add(simulate_barrier(seed));
    for (std::size_t which = 0; which < value_names.size(); ++which) {
      add(simulate_value(which, seed));
    }
  }
  return "digest " + std::to_string(sum);
}

// All that this program prints when it runs again, as one in which this test only tells.
std::string printed_by_another() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX HOLDFAST_TELL_DIGEST=15 '" +
                       program + "' --gtest_filter=SameSeed.IsTheSameInAnotherProcess";
  std::FILE* const other = ::popen(command.c_str(), "r");
  if (other == nullptr) return "it cannot be run";
  std::string printed;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), other) != nullptr) printed += part.data();
  ::pclose(other);
  return printed;
}

TEST(SameSeed, IsTheSameInAnotherProcess) {
  const auto ours = digest(number_in("HOLDFAST_TELL_DIGEST", 15));
  if (std::getenv("HOLDFAST_TELL_DIGEST") != nullptr) {
    std::cout << ours << '\n';
    return;
  }
  const auto theirs = printed_by_another();
  EXPECT_NE(theirs.find(ours + "\n"), theirs.npos) << ours << ", but there:\n" << theirs;
}

}  // namespace
}  // namespace holdfast::simulation
