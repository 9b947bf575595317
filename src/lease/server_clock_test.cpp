#include "lease/server_clock.hpp"

#include <gtest/gtest.h>

#include <random>

#include "lease/answers_for_tests.hpp"

namespace holdfast::leasing {
namespace {

using std::chrono::seconds;

TEST(ServerClock, SaysTheFarFutureBeforeTheFirstSample) {
  const server_clock clock;
  EXPECT_FALSE(clock.known());
  EXPECT_EQ(clock.estimate(local_start), far_future);
}

TEST(ServerClock, FallsBackByAHundredthOfTheTimeSinceTheSample) {
  server_clock clock;
  clock.sample(local_start, local_start + milliseconds(5), server_start);
  EXPECT_TRUE(clock.known());
  EXPECT_EQ(clock.estimate(local_start + milliseconds(5)), server_start);
  EXPECT_EQ(clock.estimate(local_start + milliseconds(5) + seconds(10)),
            server_start + seconds(10) - milliseconds(100));
}

TEST(ServerClock, ANewerSampleReplacesTheOlderOneAlsoWhenTheServerClockSteppedBack) {
  server_clock clock;
  clock.sample(local_start, local_start, server_start);
  clock.sample(local_start + seconds(1), local_start + seconds(1), server_start - seconds(600));
  EXPECT_EQ(clock.estimate(local_start + seconds(1)), server_start - seconds(600));
}

TEST(ServerClock, AnOlderSampleThatIsHandedInLaterIsIgnored) {
  server_clock clock;
  clock.sample(local_start + seconds(1), local_start + seconds(1), server_start);
  clock.sample(local_start, local_start + seconds(2), server_start + seconds(600));
  EXPECT_EQ(clock.estimate(local_start + seconds(1)), server_start);
}

TEST(ServerClock, OfTwoSamplesThatWereAskedForTogetherTheLastCounts) {
  server_clock clock;
  clock.sample(local_start, local_start, server_start);
  clock.sample(local_start, local_start + seconds(1), server_start + seconds(1));
  EXPECT_EQ(clock.estimate(local_start + seconds(1)), server_start + seconds(1));
}

TEST(ServerClock, IsNotAheadEitherForATimeReadBeforeTheSample) {
  server_clock clock;
  clock.sample(local_start, local_start + seconds(2), server_start);
  EXPECT_EQ(clock.estimate(local_start + seconds(1)), server_start - seconds(1) - milliseconds(10));
}

// The server answers somewhere between sending and receiving, and the clocks drift apart.
TEST(ServerClock, IsNeverAheadOfAServerWithinTheDriftAllowance) {
  std::mt19937_64 random(20);
  const auto between = [&random](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int i = 0; i < 10'000; ++i) {
    const nanoseconds there(between(0, 2'000'000'000));
    const nanoseconds back(between(0, 2'000'000'000));
    const nanoseconds since(between(-2'000'000'000, 86'400'000'000'000));
    const std::int64_t parts_per_million = between(-9'900, 9'900);
    server_clock clock;
    const monotonic_time received_at = local_start + there + back;
    clock.sample(local_start, received_at, server_start);
    const nanoseconds at_server = back + since + (back + since) / 1'000'000 * parts_per_million;
    if (back + since < nanoseconds(0)) continue;
    EXPECT_LE(clock.estimate(received_at + since),
              server_start + std::chrono::ceil<microseconds>(at_server))
        << "sample " << i;
  }
}

TEST(ServerClock, NotAfterIsTheResponseTimeoutFromNow) {
  EXPECT_EQ(not_after({local_start, server_start}, milliseconds(2000)), server_start + seconds(2));
}

TEST(ServerClock, NotAfterStaysInTheFarFutureWhenTheTimeIsNotKnown) {
  EXPECT_EQ(not_after({local_start, far_future}, milliseconds(2000)), far_future);
  EXPECT_EQ(not_after({local_start, server_time::max()}, milliseconds(2000)), far_future);
}

TEST(server_clock, maps_the_servers_time_on_ours_rather_too_early) {
  server_clock clock;
  EXPECT_FALSE(clock.earliest(server_time{}));
  const monotonic_time sent{std::chrono::seconds(100)};
  const server_time said{std::chrono::hours(400'000)};
  clock.sample(sent, sent + milliseconds(2), said);
  EXPECT_EQ(*clock.earliest(said), sent);
  EXPECT_EQ(*clock.earliest(said + std::chrono::seconds(10)),
            sent + std::chrono::seconds(10) - milliseconds(100));
  EXPECT_EQ(*clock.earliest(said - std::chrono::seconds(10)),
            sent - std::chrono::seconds(10) - milliseconds(100));
}

}  // namespace
}  // namespace holdfast::leasing
