// Where a grant, a revocation or a full budget comes while somebody is about to do something else.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "net/clock.hpp"

namespace holdfast::conformance {
namespace {

class WaitingRaces : public mutex_test {
 protected:
  // The server counts majors instead of reading its clock: the next one is always its neighbour.
  void count_on_from_tomorrow() const {
    (void)redis().mutex("a").acquire();
    const auto keys = server().command({"KEYS", "hf:fence:*"}).items;
    ASSERT_EQ(keys.size(), 1U);
    const auto now = server().command({"TIME"}).items.at(0).text;
    server().command({"SET", keys[0].text, std::to_string(std::stoll(now) + 3600) + "000000"});
  }

  one_at_a_time held_;
};
HOLDFAST_ON_EACH_SERVER(WaitingRaces);

TEST_P(WaitingRaces, TakingARetainedLockAgainMeetsThoseWhoWantIt) {
  const auto kept = redis().mutex("a", {.retain = 1h});
  const auto wanted = another_client().mutex("a");
  std::atomic<bool> enough{false};
  std::thread keeper{[&] {
    while (!enough) held_.enter(kept.acquire());
  }};
  for (int i = 0; i < 500; ++i) {
    const auto got = wanted.try_acquire({.timeout = generous});
    EXPECT_TRUE(got) << i;
    if (got) held_.enter(*got);
  }
  enough = true;
  keeper.join();
}

// Passing the lock on among threads ends before their tokens reach those of the next grant.
TEST_P(WaitingRaces, NobodyIsGivenATokenOfTheNextGrant) {
  count_on_from_tomorrow();
  std::atomic<int> here{0};
  const auto mine = redis().mutex("a"), others = another_client().mutex("a");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10'000; ++round) held_.enter(mine.acquire());
      ++here;
    });
  }
  while (here < 4) held_.enter(others.acquire());
  for (auto& one : threads) one.join();
}

// A provisional grant lasts a second: the waiter that leaves would hold up the next one for so
// long.
TEST_P(WaitingRaces, AGrantThatCrossesTheLeavingOfItsWaiterGoesOn) {
  const auto leaves = another_client().mutex("a"), stays = another_client().mutex("a");
  int slow = 0;
  for (int round = 0; round < 100; ++round) {
    auto held = redis().mutex("a").acquire();
    std::stop_source stop;
    std::thread leaver{
        [&] { (void)leaves.try_acquire({.timeout = forever}, stop.get_token()).has_value(); }};
    ASSERT_TRUE(waits("a", 1));
    std::thread stops{[&] { stop.request_stop(); }};
    EXPECT_TRUE(held.release());
    const auto before = net::now();
    EXPECT_TRUE(stays.try_acquire({.timeout = generous}));
    if (net::now() - before > 700ms) ++slow;
    stops.join();
    leaver.join();
  }
  EXPECT_LT(slow, 5);
}

TEST_P(WaitingRaces, WhoPollsIsServedSoonAfterTheRelease) {
  const client polls{server().url(), {.wakeup = wakeup::poll}};
  auto held = redis().mutex("a", {.lease = 60s}).acquire();
  std::thread waiter{[&] { EXPECT_TRUE(polls.mutex("a").try_acquire({.timeout = generous})); }};
  ASSERT_TRUE(waits("a", 1));
  const auto before = net::now();
  EXPECT_TRUE(held.release());
  waiter.join();
  EXPECT_LT(net::now() - before, 1s) << "it asks every 64 ms";
}

}  // namespace
}  // namespace holdfast::conformance
