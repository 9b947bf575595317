#include "lease/renewal_lateness.hpp"

#include <gtest/gtest.h>

namespace holdfast::leasing {
namespace {

constexpr monotonic_time now{std::chrono::hours{1}};
constexpr milliseconds lease{3000};

nanoseconds with_left(milliseconds left) { return renewal_lateness(now + left, now, lease); }

TEST(RenewalLateness, CountsFromAThirdOfTheLeaseOn) {
  EXPECT_EQ(with_left(milliseconds{3000}), nanoseconds{0});
  EXPECT_EQ(with_left(milliseconds{2000}), nanoseconds{0}) << "when it is due";
  EXPECT_EQ(with_left(milliseconds{1500}), nanoseconds{0}) << "usual";
  EXPECT_EQ(with_left(milliseconds{1499}), milliseconds{501});
  EXPECT_EQ(with_left(milliseconds{1}), milliseconds{1999});
}

TEST(RenewalLateness, OfALeaseThatIsOverIsNone) {
  EXPECT_EQ(with_left(milliseconds{0}), nanoseconds{0});
  EXPECT_EQ(with_left(milliseconds{-1}), nanoseconds{0});
  EXPECT_EQ(renewal_lateness(monotonic_time::min(), now, lease), nanoseconds{0});
}

}  // namespace
}  // namespace holdfast::leasing
