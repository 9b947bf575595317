#include "redis/connection/silence_watch.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

constexpr monotonic_time start{milliseconds{5}};

TEST(SilenceWatch, LooksAtEachPeriodOnItsOwn) {
  silence_watch watch(milliseconds{100});
  EXPECT_EQ(watch.at(), monotonic_time::max());
  watch.start(start);
  EXPECT_EQ(watch.at(), start + milliseconds{100});
  EXPECT_FALSE(watch.was_silent(watch.at(), 1));
  EXPECT_EQ(watch.at(), start + milliseconds{200});
  EXPECT_TRUE(watch.was_silent(watch.at(), 1));
  EXPECT_FALSE(watch.was_silent(watch.at(), 2));
}

}  // namespace
}  // namespace holdfast::redis
