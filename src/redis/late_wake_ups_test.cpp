#include "redis/late_wake_ups.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "redis/waiter.hpp"

namespace holdfast::redis {
namespace {

class LateWakeUps : public testing::Test {
 protected:
  ~LateWakeUps() override { sleeper.join(); }  // it would sleep for ever if nobody woke it

  // An executor takes the role only while it sleeps.
  void wake() {
    while (!w.offer_role()) std::this_thread::yield();
  }

  waiter w{waiter::kind::executor};
  std::thread sleeper{[this] { w.sleep(); }};
  std::vector<late_wake_ups::word*> kept;
};

TEST_F(LateWakeUps, AreNotedAndSentAtTheEnd) {
  {
    const late_wake_ups late(kept);
    wake();
    EXPECT_EQ(kept.size(), 1U);
  }
  EXPECT_TRUE(kept.empty());
}

TEST_F(LateWakeUps, AreSentBeforeTheEndWhenAskedTo) {
  late_wake_ups late(kept);
  wake();
  late.send();
  EXPECT_TRUE(kept.empty());
}

TEST_F(LateWakeUps, OfAnInnerScopeDoNotWaitForTheOuter) {
  std::vector<late_wake_ups::word*> kept_inside;
  const late_wake_ups outer(kept);
  {
    const late_wake_ups inner(kept_inside);
    wake();
  }
  EXPECT_TRUE(kept.empty());
}

}  // namespace
}  // namespace holdfast::redis
