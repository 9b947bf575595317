#include "substrate/common_mode.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace holdfast::substrate {
namespace {

constexpr std::string_view modes = "ncdrpxu";

// A mode that goes with either of the two goes with their common mode.
TEST(CommonMode, KeepsOutNobodyThatOneOfThemLetsIn) {
  for (const char one : modes) {
    for (const char other : modes) {
      const char common = common_mode(one, other);
      EXPECT_EQ(common, common_mode(other, one));
      for (const char third : conflicts_of(common)) {
        EXPECT_NE(conflicts_of(one).find(third), std::string_view::npos) << one << other << third;
        EXPECT_NE(conflicts_of(other).find(third), std::string_view::npos) << one << other << third;
      }
    }
  }
}

TEST(CommonMode, IsTheWeakerOfTwo) {
  EXPECT_EQ(common_mode('x', 'r'), 'r');
  EXPECT_EQ(common_mode('u', 'x'), 'u');
  EXPECT_EQ(common_mode('u', 'r'), 'r');
  EXPECT_EQ(common_mode('p', 'd'), 'd');
  EXPECT_EQ(common_mode('n', 'x'), 'n');
  EXPECT_EQ(common_mode('r', 'd'), 'c') << "neither is the weaker";
  for (const char one : modes) EXPECT_EQ(common_mode(one, one), one);
}

// The table is symmetric: it says of each pair twice whether they go together.
TEST(CommonMode, IsSaidOfBoth) {
  for (const char one : modes) {
    for (const char other : modes) {
      EXPECT_EQ(conflicts_of(one).find(other) == std::string_view::npos,
                conflicts_of(other).find(one) == std::string_view::npos);
    }
  }
}

}  // namespace
}  // namespace holdfast::substrate
