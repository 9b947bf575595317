// Seeded runs. A failure names its kind and seed; beside what seeds.hpp reads,
// HOLDFAST_HISTORY=FILE writes what happened, HOLDFAST_DRIFT=M lets clocks differ by up to M
// millionths.
#include "simulation/simulation.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "simulation/seeds.hpp"

namespace holdfast::simulation {
namespace {

std::vector<const kind*> kinds_wanted() {
  std::vector<const kind*> wanted;
  for (const auto* const one : all_kinds()) {
    if (kind_wanted().empty() || one->name == kind_wanted()) wanted.push_back(one);
  }
  return wanted;
}

struct tally {
  std::uint64_t seeds = 0, grants = 0, losses = 0, commands = 0;
};

void write_history(const std::vector<history::event>& told) {
  const char* const file = std::getenv("HOLDFAST_HISTORY");
  if (file == nullptr) return;
  std::ofstream lines{file};
  for (const auto& one : told) lines << history::to_line(one) << '\n';
}

// One seed of each kind in turn.
TEST(Simulation, KeepsThePromises) {
  const auto kinds = kinds_wanted();
  if (kind_wanted() == "all-of" || kind_wanted() == "quorum") GTEST_SKIP() << "has its own world";
  ASSERT_FALSE(kinds.empty()) << "there is no such kind";
  const auto drift = static_cast<std::int64_t>(number_in("HOLDFAST_DRIFT", 10'000));
  seed_range wanted;
  std::vector<tally> sums(kinds.size());
  const bool tells = std::getenv("HOLDFAST_HISTORY") != nullptr;
  std::vector<history::event> told;
  do {
    const auto seed = wanted.present();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const auto result = simulate(
          {.seed = seed, .of = kinds[i], .drift = drift, .history = tells ? &told : nullptr});
      write_history(told);
      ASSERT_EQ(result.violation, "")
          << "scripts/simulate --kind " << kinds[i]->name << " --seed " << seed;
      ++sums[i].seeds;
      sums[i].grants += result.grants;
      sums[i].losses += result.losses;
      sums[i].commands += result.commands;
    }
  } while (wanted.next());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto& sum = sums[i];
    std::cout << kinds[i]->name << ": " << sum.seeds << " seeds from " << wanted.first() << ", "
              << sum.grants << " grants, " << sum.losses << " losses, " << sum.commands
              << " commands\n";
    EXPECT_GT(sum.grants, 0U);
  }
}

// Nobody asks more often the more there are: besides two commands for each acquisition and two for
// each connection, 20 a second of all waiters, and the renewals of the holder. Nor does the server
// keep more of each waiter than its place, when it asked, and that it is there.
TEST(Simulation, ServesAThousandClientsWithoutAStampede) {
  constexpr std::uint64_t clients = 1000;
  constexpr double renewals = 3 / 0.2;  // a second, of the shortest lease
  const auto run = simulate({.seed = 1, .faults = false, .varies = false, .clients = clients});
  ASSERT_EQ(run.violation, "");
  EXPECT_EQ(run.grants, clients);
  // A client that heard of the server's clock long ago asks whether a message is true.
  EXPECT_GE(run.handed_over, clients * 8 / 10);
  const double seconds = std::chrono::duration<double>(run.lasted).count();
  EXPECT_LT(static_cast<double>(run.commands), 4 * clients + (20 + renewals) * seconds);
  EXPECT_GT(run.most_elements, clients);
  EXPECT_LT(run.most_elements, 4 * clients);
}

class SimulationOf : public testing::TestWithParam<const kind*> {
 protected:
  static outcome simulate(std::uint64_t seed) {
    return simulation::simulate({.seed = seed, .of = GetParam()});
  }
};

INSTANTIATE_TEST_SUITE_P(Each, SimulationOf,
                         testing::ValuesIn(all_kinds().begin(), all_kinds().end()),
                         [](const auto& of) {
                           std::string name{of.param->name};
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(SimulationOf, IsTheSameForTheSameSeed) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto one = simulate(seed), two = simulate(seed);
    EXPECT_EQ(one.trace, two.trace) << seed;
  }
  EXPECT_NE(simulate(1).trace, simulate(2).trace);
}

// The same seeds each time, for scripts/mutants; and so that what the runs show is not shown by
// runs in which nothing happens.
TEST_P(SimulationOf, KeepsThePromisesUnderEveryFault) {
  const std::uint64_t seeds = usually(1000);
  fault_counts sum{};
  std::uint64_t contended = 0, handed_over = 0, kept = 0, asked_for = 0, queue_full = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto result = simulate(seed);
    ASSERT_EQ(result.violation, "") << "seed " << seed;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += result.faults[i];
    contended += result.contended ? 1 : 0;
    handed_over += result.handed_over;
    kept += result.kept;
    asked_for += result.asked_for;
    queue_full += result.queue_full;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_GE(sum[i], seeds / 20) << fault_names[i];
  }
  EXPECT_GT(contended, seeds * 9 / 10);
  EXPECT_GT(handed_over, seeds);
  EXPECT_GT(queue_full, seeds / 20);
  if (!GetParam()->is_kept) return;
  EXPECT_GT(kept, seeds / 2);
  EXPECT_GT(asked_for, seeds / 20);
}

// A replica repeats to the clients of a demoted master what its new master says to others.
TEST_P(SimulationOf, IsNotMisledByReplicas) {
  const std::uint64_t seeds = usually(240);
  std::uint64_t left = 0, repeated = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto result = simulation::simulate({.seed = seed, .of = GetParam(), .succeeds = true});
    ASSERT_EQ(result.violation, "") << "seed " << seed;
    left += result.faults[static_cast<std::size_t>(fault::replica_left)];
    repeated += result.faults[static_cast<std::size_t>(fault::repeated)];
  }
  EXPECT_GT(left, seeds);
  EXPECT_GT(repeated, seeds / 4);
}

// Several of one process freeze together, and the living one behind them may be too far back for
// anybody to tell it.
TEST_P(SimulationOf, PassesARowOfFrozenWaiters) {
  for (std::uint64_t seed = 1; seed <= usually(40); ++seed) {
    const auto row = 2 + seed % 29;
    const auto result = simulation::simulate({.seed = seed,
                                              .of = GetParam(),
                                              .faults = false,
                                              .clients = row + 4,
                                              .freezes_a_row_of = row});
    ASSERT_EQ(result.violation, "") << "seed " << seed;
  }
}

// Three clients who want the lock once. Each of them is stopped after each event of the run, and
// all must be served all the same.
TEST_P(SimulationOf, BearsACancellationAtEveryEvent) {
  std::uint64_t runs = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (std::uint64_t who = 0; who < 3; ++who) {
      for (std::uint64_t k = 1, events = 1; k <= events; ++k, ++runs) {
        const auto result = simulation::simulate({.seed = seed,
                                                  .of = GetParam(),
                                                  .faults = false,
                                                  .clients = 3,
                                                  .cancel = {{.client = who, .after = k}}});
        ASSERT_EQ(result.violation, "") << "seed " << seed << ", client " << who << ", event " << k;
        events = result.events;
      }
    }
  }
  EXPECT_GT(runs, 300U);
}

// The same while things go wrong, of every so many-th event.
TEST_P(SimulationOf, BearsACancellationAmongFaults) {
  constexpr std::uint64_t step = 61;
  std::uint64_t runs = 0;
  for (std::uint64_t seed = 1; seed <= usually(40); ++seed) {
    for (std::uint64_t k = 1 + seed % step, events = k; k <= events; k += step, ++runs) {
      const scenario::stop one{.client = k % 3, .after = k};
      const auto result =
          simulation::simulate({.seed = seed, .of = GetParam(), .clients = 3, .cancel = one});
      ASSERT_EQ(result.violation, "") << "seed " << seed << ", event " << k;
      events = result.events;
    }
  }
  EXPECT_GT(runs, 5 * usually(40));
}

}  // namespace
}  // namespace holdfast::simulation
