#include <gtest/gtest.h>

#include <holdfast/errc.hpp>
#include <holdfast/fencing_token.hpp>

namespace holdfast {
namespace {

TEST(fencing_token, orders_by_number_with_none_below_all) {
  EXPECT_LT(fencing_token{}, fencing_token{1});
  EXPECT_LT(fencing_token{9}, fencing_token{10});
  EXPECT_EQ(fencing_token{7}, fencing_token{7});
}

TEST(fencing_token, shows_all_64_bits) {
  EXPECT_EQ(fencing_token{UINT64_MAX}.to_string(), "18446744073709551615");
  EXPECT_EQ(fencing_token{UINT64_MAX}.value(), UINT64_MAX);
}

TEST(fencing_token, that_is_missing_cannot_be_taken_for_a_number) {
  const fencing_token none;
  EXPECT_FALSE(none);
  EXPECT_TRUE(fencing_token{1});
  EXPECT_EQ(none.to_string(), "none");
  try {
    static_cast<void>(none.value());
    ADD_FAILURE() << "a missing token gave a number";
  } catch (const failure& refused) {
    EXPECT_EQ(refused.reason(), errc::unsupported);
  }
}

}  // namespace
}  // namespace holdfast
