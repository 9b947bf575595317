#include "lease/cycle.hpp"

#include <gtest/gtest.h>

namespace holdfast::leasing {
namespace {

using substrate::known_wait;

std::string key(const std::string& name) { return "hf:{" + name + "}"; }

// `wants` and `holds`: a mode and a name each.
known_wait waiting(const std::string& id, const std::string& wants,
                   const std::vector<std::string>& holds) {
  known_wait one{
      .id = id, .who = "host:" + id, .wants = {wants[0], key(wants.substr(1))}, .holds = {}};
  for (const auto& held : holds) {
    one.holds.push_back({{held[0], key(held.substr(1))}, "request of " + id});
  }
  return one;
}

std::string cycle_of(const std::vector<known_wait>& all, const std::string& first) {
  std::string text;
  for (const auto& one : find_cycle(all, first)) text += one.waits->id;
  return text;
}

TEST(Cycle, IsAShortestOneThroughTheFirst) {
  const std::vector all{waiting("1", "xb", {"xa"}), waiting("2", "xc", {"xb"}),
                        waiting("3", "xa", {"xc", "xd"}), waiting("4", "xd", {"xe"})};
  EXPECT_EQ(cycle_of(all, "1"), "123");
  EXPECT_EQ(cycle_of(all, "3"), "312");
  EXPECT_EQ(cycle_of(all, "4"), "") << "it only waits for those in the cycle";
  EXPECT_EQ(cycle_of(all, "5"), "") << "not known any more";
}

TEST(Cycle, MayBeOfOne) { EXPECT_EQ(cycle_of({waiting("1", "xa", {"ra"})}, "1"), "1"); }

TEST(Cycle, GoesThroughAnyHolderWhomAWriterWaitsFor) {
  const std::vector all{waiting("1", "xa", {"xb"}), waiting("2", "xz", {"ra"}),
                        waiting("3", "xb", {"ra"})};
  EXPECT_EQ(cycle_of(all, "1"), "13");
}

TEST(Cycle, NeedsWaitsThatOnlyTheHolderCanEnd) {
  EXPECT_EQ(cycle_of({waiting("1", "ra", {"xb"}), waiting("2", "rb", {"ra"})}, "1"), "")
      << "readers do not wait for each other";
  EXPECT_EQ(cycle_of({waiting("1", "na", {"xb"}), waiting("2", "xb", {"xa"})}, "1"), "");
  EXPECT_EQ(cycle_of({waiting("1", "xa", {"xb"}), waiting("2", "xb", {"na"})}, "1"), "");
  EXPECT_EQ(cycle_of({waiting("1", "ra", {"xb"}), waiting("2", "rb", {"xa"})}, "1"), "12");
}

// Each waits for what the next one has.
std::vector<known_wait> ring(std::size_t waits) {
  std::vector<known_wait> all;
  for (std::size_t i = 0; i < waits; ++i) {
    all.push_back(waiting(std::to_string(i), "x" + std::to_string((i + 1) % waits),
                          {"x" + std::to_string(i)}));
  }
  return all;
}

TEST(Cycle, IsNoLongerThanAScriptMayLookAt) {
  EXPECT_EQ(find_cycle(ring(longest_cycle), "0").size(), longest_cycle);
  EXPECT_TRUE(find_cycle(ring(longest_cycle + 1), "0").empty());
}

TEST(Cycle, IsToldToPeople) {
  const std::vector all{waiting("1", "xb", {"xa"}), waiting("2", "xa", {"xb"})};
  EXPECT_EQ(describe(find_cycle(all, "1")),
            "this thread of host:1 waits for 'b', which host:2 holds, waiting for 'a', which this "
            "thread holds");
}

}  // namespace
}  // namespace holdfast::leasing
