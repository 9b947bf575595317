#include "net/late_wake_ups.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "net/waiter.hpp"

namespace holdfast::net {
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
};

TEST_F(LateWakeUps, AreNotedAndSentAtTheEnd) {
  {
    const late_wake_ups late;
    wake();
    EXPECT_EQ(late_wake_ups::count(), 1U);
  }
  EXPECT_EQ(late_wake_ups::count(), 0U);
}

TEST_F(LateWakeUps, AreSentBeforeTheEndWhenAskedTo) {
  late_wake_ups late;
  wake();
  late.send();
  EXPECT_EQ(late_wake_ups::count(), 0U);
}

TEST_F(LateWakeUps, OfAnInnerScopeDoNotWaitForTheOuter) {
  const late_wake_ups outer;
  {
    const late_wake_ups inner;
    wake();
    EXPECT_EQ(late_wake_ups::count(), 1U);
  }
  EXPECT_EQ(late_wake_ups::count(), 0U);
}

}  // namespace
}  // namespace holdfast::net
