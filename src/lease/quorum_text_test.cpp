// The steps of a quorum's machines, as text, in which failed tests and simulations are read.
#include <gtest/gtest.h>

#include "lease/quorum_lease.hpp"
#include "lease/quorum_machine.hpp"

namespace holdfast::leasing {
namespace {

constexpr monotonic_time at_12_ms{milliseconds(12)};

TEST(QuorumText, NamesTheOrdersOfAStepFromTheTop) {
  EXPECT_EQ(to_string(quorum_step{}), "nothing");
  using what = member_ask::what;
  EXPECT_EQ(to_string(quorum_step{.take_back = {0, 2},
                                  .in_doubt = {2},
                                  .new_request = true,
                                  .send = {{0, what::vote},
                                           {1, what::join},
                                           {2, what::enter},
                                           {3, what::stay_out},
                                           {4, what::agree}},
                                  .wake_at = at_12_ms}),
            "take back 0; take back 2; in doubt 2; new request; ask 0 to vote; ask 1 to join; "
            "ask 2 to enter; ask 3 to stay out; ask 4 to agree; wake at 12000000 ns");
}

TEST(QuorumText, NamesTheOutcomeOfAnAcquisition) {
  EXPECT_EQ(to_string(quorum_step{.done = quorum_outcome{}}), "held");
  EXPECT_EQ(
      to_string(quorum_step{.done = quorum_outcome{errc::busy, "two are missing"}, .leaves = true}),
      "done: two are missing; leaves");
}

TEST(QuorumText, NamesTheOrdersOfAHold) {
  EXPECT_EQ(to_string(quorum_lease_step{}), "nothing");
  EXPECT_EQ(to_string(quorum_lease_step{.renew = {1}, .wake_at = at_12_ms}),
            "renew 1; wake at 12000000 ns");
  EXPECT_EQ(to_string(quorum_lease_step{.lost = true}), "lost");
}

TEST(QuorumText, NamesTheOrdersOfARelease) {
  EXPECT_EQ(to_string(quorum_release_step{}), "nothing");
  EXPECT_EQ(to_string(quorum_release_step{.send = {0, 1}, .wake_at = at_12_ms}),
            "release 0; release 1; wake at 12000000 ns");
  EXPECT_EQ(to_string(quorum_release_step{.done = outcome{}, .finished = true}), "done; finished");
  EXPECT_EQ(to_string(quorum_release_step{.done = outcome{errc::lost, "nobody had it"}}),
            "done: nobody had it");
}

}  // namespace
}  // namespace holdfast::leasing
