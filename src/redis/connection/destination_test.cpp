#include "redis/connection/destination.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

TEST(Destination, IsUpFromTheArrivalOn) {
  destination where(false);
  EXPECT_TRUE(where.may_set_out());
  where.set_out();
  EXPECT_FALSE(where.may_set_out());
  EXPECT_FALSE(where.is_up());
  EXPECT_TRUE(where.arrive("a:1"));
  EXPECT_TRUE(where.is_up());
  where.lose();
  EXPECT_FALSE(where.is_up());
  EXPECT_TRUE(where.may_set_out());
}

TEST(Destination, IsStillUpWhenItsEndIsSeen) {
  destination where(false);
  where.set_out();
  where.arrive("a:1");
  where.see_end();
  EXPECT_TRUE(where.is_up());
  EXPECT_TRUE(where.has_ended());
}

TEST(Destination, IsRememberedAsReached) {
  EXPECT_TRUE(destination(true).was_reached());
  destination where(false);
  where.set_out();
  where.fail(false);
  EXPECT_FALSE(where.was_reached());
  where.set_out();
  where.fail(true);
  EXPECT_TRUE(where.was_reached());
}

// The sentinels were asked before the failover, and tell of it while we log in.
TEST(Destination, IsRefusedWhenTheServerMovedOnTheWay) {
  destination where(false);
  where.set_out();
  EXPECT_FALSE(where.must_leave_for("b:1"));
  EXPECT_FALSE(where.arrive("a:1"));
  EXPECT_FALSE(where.is_up());
  EXPECT_TRUE(where.may_set_out());
  where.set_out();  // forgets what was said before
  EXPECT_TRUE(where.arrive("a:1"));
}

TEST(Destination, IsLeftForAnotherOneOnly) {
  destination where(false);
  where.set_out();
  where.arrive("a:1");
  EXPECT_FALSE(where.must_leave_for("a:1"));
  EXPECT_TRUE(where.must_leave_for("b:1"));
  EXPECT_TRUE(where.must_leave_for(""));
}

TEST(Destination, IsNeverSetOutForAfterTheEnd) {
  destination where(true);
  where.close();
  EXPECT_TRUE(where.is_closed());
  EXPECT_FALSE(where.is_up());
  EXPECT_FALSE(where.may_set_out());
}

}  // namespace
}  // namespace holdfast::redis
