#include "redis/connection/unread_watch.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

constexpr monotonic_time soon{milliseconds{1}};
constexpr monotonic_time later{milliseconds{10}};

TEST(UnreadWatch, KeepsTheEarliestTime) {
  unread_watch watch;
  EXPECT_TRUE(watch.look_by(later, 0));
  EXPECT_TRUE(watch.look_by(soon, 0));
  EXPECT_FALSE(watch.look_by(later, 0));
  EXPECT_EQ(watch.at(), soon);
  watch.cancel();
  EXPECT_EQ(watch.at(), monotonic_time::max());
}

TEST(UnreadWatch, ComparesWithTheBatchesThatWereReadWhenItWasSet) {
  unread_watch watch;
  watch.look_by(soon, 3);
  watch.look_by(later, 4);  // changes nothing
  EXPECT_TRUE(watch.found_nobody_reading(3));
  EXPECT_FALSE(watch.found_nobody_reading(4));
}

}  // namespace
}  // namespace holdfast::redis
