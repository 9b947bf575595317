#include "base/number.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace holdfast {
namespace {

TEST(Number, IsAllOfTheTextOrNothing) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<int>("-42"), -42);
  EXPECT_EQ(parse_number<std::uint64_t>("ff", 16), 255U);
  for (const auto* const text : {"", "-", " 1", "1 ", "1x", "x", "+1", "0x1"}) {
    EXPECT_FALSE(parse_number<int>(text)) << text;
  }
}

TEST(Number, MustFit) {
  EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535U);
  EXPECT_FALSE(parse_number<std::uint16_t>("65536"));
  EXPECT_FALSE(parse_number<std::uint16_t>("-1"));
}

}  // namespace
}  // namespace holdfast
