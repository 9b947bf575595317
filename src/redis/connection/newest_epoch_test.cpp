#include "redis/connection/newest_epoch.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using std::chrono::seconds;

const monotonic_time start{seconds(1000)};

TEST(NewestEpoch, IsTheHighestThatWasHeardOf) {
  newest_epoch known;
  EXPECT_FALSE(known.is_after(0));
  known.learn(7, start);
  known.learn(5, start);
  known.learn({}, start);
  EXPECT_TRUE(known.is_after(6));
  EXPECT_FALSE(known.is_after(7));
  EXPECT_FALSE(known.is_after({})) << "who may not ask is not kept away";
}

TEST(NewestEpoch, IsForgottenWhenMostHaveNotHeardOfItForSomeSeconds) {
  newest_epoch known;
  known.learn(7, start);
  EXPECT_FALSE(known.begin_again_at(1, true, start + seconds(4)));
  known.learn(7, start + seconds(4));
  EXPECT_FALSE(known.begin_again_at(1, true, start + seconds(8))) << "somebody had";
  EXPECT_TRUE(known.is_after(6));
  EXPECT_TRUE(known.begin_again_at(1, true, start + seconds(9)));
  EXPECT_FALSE(known.is_after(1));
  EXPECT_TRUE(known.is_after(0));
}

TEST(NewestEpoch, IsForgottenAfterAMinuteInAnyCase) {
  newest_epoch known;
  known.learn(7, start);
  EXPECT_FALSE(known.begin_again_at(1, false, start + seconds(59)));
  EXPECT_TRUE(known.begin_again_at(1, false, start + seconds(60)));
}

TEST(NewestEpoch, IsForgottenAlthoughItIsHeardWhenItLeadsToNoMaster) {
  newest_epoch known;
  EXPECT_TRUE(known.learn(7, start));
  known.led_to_a_master(false);
  EXPECT_FALSE(known.learn(7, start + seconds(4)));
  EXPECT_TRUE(known.begin_again_at(1, true, start + seconds(5)));
  EXPECT_TRUE(known.learn(8, start + seconds(6)));
  EXPECT_FALSE(known.is_settled(start + seconds(10)));
  EXPECT_TRUE(known.is_settled(start + seconds(11)));
}

}  // namespace
}  // namespace holdfast::redis
