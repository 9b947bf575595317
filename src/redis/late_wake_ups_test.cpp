#include "redis/late_wake_ups.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "redis/waiter.hpp"

namespace holdfast::redis {
namespace {

TEST(LateWakeUps, AreNotedAndSentAtTheEnd) {
  waiter w(waiter::kind::executor);
  std::thread sleeper([&] { w.sleep(); });
  std::vector<late_wake_ups::word*> kept;
  {
    const late_wake_ups late(kept);
    while (!w.offer_role()) std::this_thread::yield();  // it is taken only while asleep
    EXPECT_EQ(kept.size(), 1U);
  }
  EXPECT_TRUE(kept.empty());
  sleeper.join();
}

TEST(LateWakeUps, AreSentBeforeTheEndWhenAskedTo) {
  waiter w(waiter::kind::executor);
  std::thread sleeper([&] { w.sleep(); });
  std::vector<late_wake_ups::word*> kept;
  late_wake_ups late(kept);
  while (!w.offer_role()) std::this_thread::yield();
  late.send();
  EXPECT_TRUE(kept.empty());
  sleeper.join();
}

TEST(LateWakeUps, OfAnInnerScopeDoNotWaitForTheOuter) {
  waiter w(waiter::kind::executor);
  std::thread sleeper([&] { w.sleep(); });
  std::vector<late_wake_ups::word*> outer_kept, inner_kept;
  const late_wake_ups outer(outer_kept);
  {
    const late_wake_ups inner(inner_kept);
    while (!w.offer_role()) std::this_thread::yield();
  }
  EXPECT_TRUE(outer_kept.empty());
  sleeper.join();
}

}  // namespace
}  // namespace holdfast::redis
