#include "values/snowflake.hpp"

#include <gtest/gtest.h>

namespace holdfast::values {
namespace {

using namespace std::chrono_literals;

constexpr server_time granted{milliseconds{1'577'836'800'000 + 5} + 999us};
constexpr std::int64_t ms = 1 << 22;

TEST(Snowflake, BeginsAfterTheTimeGiven) {
  snowflake ids{3, granted};
  EXPECT_FALSE(ids.next(granted - 1h));
  EXPECT_EQ(ids.wait(granted - 3ms), 5ms);
  EXPECT_FALSE(ids.next(granted)) << "the one before may have used this millisecond";
  EXPECT_EQ(ids.wait(granted), 2ms);
  EXPECT_FALSE(ids.next(granted + 1ms)) << "and this, since the clock may have been ahead then";
  EXPECT_EQ(ids.next(granted + 1ms + 1us), 7 * ms + (3 << 12));
}

TEST(Snowflake, ComesOnceAlthoughTheClockWasAheadForAMillisecond) {
  snowflake before{3, granted - 1h};
  const auto last = before.next(granted + 999us);
  snowflake next{3, granted};
  std::optional<std::int64_t> first;
  for (auto now = granted; !first; now += 100us) first = next.next(now);
  EXPECT_GT(*first, *last);
}

TEST(Snowflake, CountsWithinAMillisecondAndThenWaits) {
  snowflake ids{1023, granted};
  const auto now = granted + 2ms;
  for (std::int64_t n = 0; n < 4096; ++n) EXPECT_EQ(ids.next(now), 7 * ms + (1023 << 12) + n);
  EXPECT_FALSE(ids.next(now));
  EXPECT_EQ(ids.next(now + 1ms), 8 * ms + (1023 << 12));
}

TEST(Snowflake, GoesOnWhenTheClockStepsBackUntilTheMillisecondIsUsedUp) {
  snowflake ids{0, granted};
  auto last = ids.next(granted + 10ms);
  for (int n = 1; n < 4096; ++n) {
    const auto next = ids.next(granted - 1h);
    ASSERT_TRUE(next);
    EXPECT_GT(*next, *last);
    last = next;
  }
  EXPECT_FALSE(ids.next(granted - 1h));
  EXPECT_EQ(ids.wait(granted - 1h), 1h + 11ms);
}

TEST(Snowflake, LastsUntil2089) {
  snowflake ids{1023, granted};
  const server_time late{milliseconds{1'577'836'800'000 + (std::int64_t{1} << 41) - 1}};
  EXPECT_GT(*ids.next(late), std::int64_t{1} << 62);
}

}  // namespace
}  // namespace holdfast::values
