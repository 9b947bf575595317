#include "runtime/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace holdfast::runtime {
namespace {

struct timed : timer_wheel::node {
  timer_wheel::tick at = 0;
};

TEST(TimerWheel, FiresAtItsTickAndNotBefore) {
  timer_wheel wheel(1000);
  timed t;
  wheel.arm(t, 1005);
  EXPECT_EQ(wheel.pop_due(1004), nullptr);
  EXPECT_EQ(wheel.pop_due(1005), &t);
  EXPECT_FALSE(t.is_armed());
  EXPECT_EQ(wheel.pop_due(2000), nullptr);
}

TEST(TimerWheel, FiresAtOnceWhatIsInThePast) {
  timer_wheel wheel(1000);
  timed t;
  wheel.arm(t, 3);
  EXPECT_EQ(wheel.pop_due(1000), &t);
}

TEST(TimerWheel, VisitsAllThatAreArmedAndKnowsWhenNoneIs) {
  timer_wheel wheel(0);
  EXPECT_TRUE(wheel.is_empty());
  std::vector<timed> timers(100);
  std::set<const timer_wheel::node*> armed;
  for (std::size_t i = 0; i < timers.size(); ++i) {
    wheel.arm(timers[i], std::uint64_t{1} << (i % 40));
    armed.insert(&timers[i]);
  }
  wheel.disarm(timers[7]);
  armed.erase(&timers[7]);
  EXPECT_FALSE(wheel.is_empty());
  wheel.for_each([&](const timer_wheel::node& n) { EXPECT_EQ(armed.erase(&n), 1U); });
  EXPECT_TRUE(armed.empty());
  for (auto& t : timers) wheel.disarm(t);
  EXPECT_TRUE(wheel.is_empty());
}

TEST(TimerWheel, ForgetsWhatIsDisarmed) {
  timer_wheel wheel(0);
  timed t;
  wheel.arm(t, 70);
  wheel.disarm(t);
  EXPECT_EQ(wheel.pop_due(100'000), nullptr);
}

TEST(TimerWheel, HasNothingDueBeforeItsAnnouncement) {
  timer_wheel wheel(0);
  EXPECT_EQ(wheel.next_due(), timer_wheel::never);
  timed t;
  wheel.arm(t, 5000);
  EXPECT_LE(wheel.next_due(), 5000U);
  EXPECT_GT(wheel.next_due(), 0U);
}

TEST(TimerWheel, BearsTimersBeyondItsLastLevel) {
  timer_wheel wheel(12'345);
  timed t;
  const timer_wheel::tick far = timer_wheel::tick{1} << 40;
  wheel.arm(t, far);
  timer_wheel::tick now = 12'345;
  int wake_ups = 0;
  timer_wheel::node* fired = nullptr;
  while (fired == nullptr && ++wake_ups < 100'000) {
    now = std::max(now, wheel.next_due());
    fired = wheel.pop_due(now);
  }
  EXPECT_EQ(fired, &t);
  EXPECT_EQ(now, far);
}

// Against a sorted map: random arming, moving, disarming and passing of time.
TEST(TimerWheel, AgreesWithASortedMap) {
  std::mt19937_64 random(20261121);
  timer_wheel wheel(777);
  timer_wheel::tick now = 777;
  std::vector<timed> timers(200);
  std::multimap<timer_wheel::tick, timed*> expected;
  const auto forget = [&](timed* t) {
    for (auto i = expected.begin(); i != expected.end(); ++i) {
      if (i->second == t) return void(expected.erase(i));
    }
  };
  for (int round = 0; round < 200'000; ++round) {
    timed& t = timers[random() % timers.size()];
    const auto what = random() % 10;
    if (what < 5) {
      t.at = now + (random() % (std::uint64_t{1} << (random() % 24)));
      forget(&t);
      wheel.arm(t, t.at);
      expected.emplace(t.at, &t);
    } else if (what < 7) {
      forget(&t);
      wheel.disarm(t);
    } else {
      ASSERT_LE(wheel.next_due(), expected.empty() ? timer_wheel::never : expected.begin()->first);
      now += random() % (std::uint64_t{1} << (random() % 16));
      std::size_t due = 0;
      while (auto* fired = wheel.pop_due(now)) {
        auto* const which = static_cast<timed*>(fired);
        ASSERT_LE(which->at, now);
        forget(which);
        ++due;
      }
      ASSERT_TRUE(expected.empty() || expected.begin()->first > now) << due;
    }
  }
}

}  // namespace
}  // namespace holdfast::runtime
