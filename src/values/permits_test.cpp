#include "values/permits.hpp"

#include <gtest/gtest.h>

namespace holdfast::values {
namespace {

// In no time may more come back than the rate says, so what does not divide is rounded up.
TEST(Permits, ComeBackNoFasterThanTheirRate) {
  for (const std::int64_t rate :
       {1, 3, 7, 1'000, 3'000, 9'990, 99'000, 165'000, 900'000, 999'999}) {
    const auto each = time_of_one(static_cast<double>(rate)).count();
    EXPECT_GE(each * rate, 1'000'000'000) << rate;
    EXPECT_LT((each - 1) * rate, 1'000'000'000) << rate;
  }
  EXPECT_EQ(time_of_one(1e6), nanoseconds(1'000));
  EXPECT_EQ(time_of_one(0.1), std::chrono::seconds(10));
}

}  // namespace
}  // namespace holdfast::values
