#include "lease/back_off.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace holdfast::leasing {
namespace {

constexpr pauses bounds{milliseconds(10), milliseconds(500)};

TEST(BackOff, DoublesFromTheFirstPauseToTheLongestWithJitterInTheUpperHalf) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    back_off tries(seed);
    for (const int whole : {10, 20, 40, 80, 160, 320, 500, 500, 500}) {
      const nanoseconds pause = tries.next(bounds);
      EXPECT_GE(pause, milliseconds(whole) / 2) << seed;
      EXPECT_LE(pause, milliseconds(whole)) << seed;
    }
  }
}

TEST(BackOff, StaysAtTheLongestPauseForEver) {
  back_off tries(1);
  for (int i = 0; i < 1000; ++i) tries.next(bounds);
  EXPECT_GE(tries.next(bounds), milliseconds(250));
  EXPECT_LE(tries.next(bounds), milliseconds(500));
}

TEST(BackOff, BeginsAgainAfterReset) {
  back_off tries(1);
  for (int i = 0; i < 5; ++i) tries.next(bounds);
  tries.reset();
  EXPECT_LE(tries.next(bounds), milliseconds(10));
}

TEST(BackOff, SpreadsClientsOfNeighbouringSeeds) {
  std::set<nanoseconds> first_pauses;
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    first_pauses.insert(back_off(seed).next(bounds));
  EXPECT_GT(first_pauses.size(), 990U);
  EXPECT_LT(*first_pauses.begin(), microseconds(5100));
  EXPECT_GT(*first_pauses.rbegin(), microseconds(9900));
}

TEST(BackOff, IsAValueThatGoesOnTheSameWayInACopy) {
  back_off one(42);
  one.next(bounds);
  back_off other = one;
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.next(bounds), other.next(bounds));
  one.next(bounds);
  EXPECT_NE(one, other);
}

TEST(BackOff, DrawsBothEndsOfASmallRange) {
  back_off tries(3);
  std::set<nanoseconds> drawn;
  for (int i = 0; i < 200; ++i) drawn.insert(tries.up_to(nanoseconds(2)));
  EXPECT_EQ(drawn, (std::set{nanoseconds(0), nanoseconds(1), nanoseconds(2)}));
}

}  // namespace
}  // namespace holdfast::leasing
