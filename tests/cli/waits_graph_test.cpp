// Who waits for whom, as `holdfast serve` shows it.
#include "cli/serve/waits_graph.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using cycles = std::vector<std::vector<std::string>>;

holder client(const std::string& id) {
  holder who;
  who.id = id;
  return who;
}

lock_status lock(const std::string& name, const std::vector<std::string>& held_by,
                 const std::vector<std::string>& waited_for_by, lock_kind kind = lock_kind::mutex) {
  lock_status one;
  one.name = name;
  one.state = lock_state::held;
  one.kind = kind;
  for (const auto& id : held_by) one.holders.push_back({.who = client(id)});
  for (const auto& id : waited_for_by) one.queue.push_back({.who = client(id), .since = {}});
  one.holding = held_by.size();
  one.waiting = waited_for_by.size();
  return one;
}

TEST(WaitsGraph, HasAnEdgeFromEachWaiterToEachHolder) {
  const auto graph = make_waits_graph({lock("a", {"1", "2"}, {"3", "4"}, lock_kind::mode_lock)});
  EXPECT_EQ(graph.nodes.size(), 4U);
  EXPECT_EQ(graph.edges.size(), 4U);
  EXPECT_TRUE(graph.cycles.empty());
  EXPECT_TRUE(graph.complete);
}

TEST(WaitsGraph, FindsEachRingOnce) {
  const auto graph = make_waits_graph({lock("a", {"1"}, {"2", "9"}), lock("b", {"2"}, {"1"}),
                                       lock("c", {"3"}, {"4"}), lock("d", {"4"}, {"5"}),
                                       lock("e", {"5"}, {"3"}), lock("f", {"3"}, {"1"})});
  EXPECT_EQ(graph.cycles, (cycles{{"1", "2"}, {"3", "4", "5"}}));
}

TEST(WaitsGraph, AChainIsNoRing) {
  EXPECT_TRUE(
      make_waits_graph({lock("a", {"1"}, {"2"}), lock("b", {"2"}, {"3"}), lock("c", {"1"}, {"3"})})
          .cycles.empty());
}

TEST(WaitsGraph, AClientDoesNotWaitForItself) {
  const auto graph = make_waits_graph({lock("a", {"1"}, {"1"})});
  EXPECT_TRUE(graph.edges.empty());
  EXPECT_TRUE(graph.cycles.empty());
}

// Any of the others may give a permit back.
TEST(WaitsGraph, OneOfSeveralHoldersOfASemaphoreClosesNoRing) {
  const auto ring = [](const std::vector<std::string>& held_by) {
    return make_waits_graph(
               {lock("seats", held_by, {"2"}, lock_kind::semaphore), lock("b", {"2"}, {"1"})})
        .cycles;
  };
  EXPECT_TRUE(ring({"1", "3"}).empty());
  EXPECT_EQ(ring({"1"}), (cycles{{"1", "2"}}));
}

TEST(WaitsGraph, SaysWhenItHasNoRoomForAll) {
  std::vector<std::string> crowd;
  for (int i = 0; i < 100; ++i) crowd.push_back("w" + std::to_string(i));
  const auto graph = make_waits_graph({lock("a", {"1"}, crowd), lock("b", {"2"}, crowd)}, 150);
  EXPECT_EQ(graph.edges.size(), 150U);
  EXPECT_FALSE(graph.complete);
  auto long_queue = lock("a", {"1"}, crowd);
  long_queue.waiting = 1000;
  EXPECT_FALSE(make_waits_graph({long_queue}).complete);
}

TEST(WaitsGraph, OtherWaitersHideNoRing) {
  std::vector<std::string> crowd;
  for (int i = 0; i < 100; ++i) crowd.push_back("w" + std::to_string(i));
  const auto graph = make_waits_graph(
      {lock("a", {"9"}, crowd), lock("x", {"1"}, {"2"}), lock("y", {"2"}, {"1"})}, 10);
  EXPECT_EQ(graph.cycles, (cycles{{"1", "2"}}));
  EXPECT_EQ(graph.edges.size(), 10U);
  EXPECT_EQ(graph.edges[0].lock, "x");
  EXPECT_EQ(graph.edges[1].lock, "y");
  EXPECT_FALSE(graph.complete);
}

// Neither recursion nor a search that begins anew at each node would live through this.
TEST(WaitsGraph, IsMadeOfALongChainAndALongRing) {
  constexpr int length = 50'000;
  std::vector<lock_status> chain;
  for (int i = 0; i < length; ++i) {
    chain.push_back(lock("l", {std::to_string(i)}, {std::to_string(i + 1)}));
  }
  EXPECT_TRUE(make_waits_graph(chain, 1'000'000).cycles.empty());
  chain.push_back(lock("l", {std::to_string(length)}, {"0"}));
  const auto ring = make_waits_graph(chain, 1'000'000).cycles;
  ASSERT_EQ(ring.size(), 1U);
  EXPECT_EQ(ring.front().size(), std::size_t{length + 1});
}

}  // namespace
}  // namespace holdfast::cli
