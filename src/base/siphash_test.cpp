#include "base/siphash.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

// Key 00 01 ... 0f and message 00 01 ... 07 of the authors' test vectors.
TEST(SipHash, IsThatOfItsAuthors) {
  const siphash_key key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  EXPECT_EQ(siphash(key, 0x0706050403020100), 0x93f5f5799a932462);
}

TEST(SipHash, DependsOnEachHalfOfTheKey) {
  const auto whole = siphash({1, 2}, 3);
  EXPECT_NE(whole, siphash({0, 2}, 3));
  EXPECT_NE(whole, siphash({1, 0}, 3));
  EXPECT_NE(whole, siphash({1, 2}, 4));
}

}  // namespace
}  // namespace holdfast
