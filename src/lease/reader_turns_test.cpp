#include "lease/reader_turns.hpp"

#include <gtest/gtest.h>

namespace holdfast::leasing {
namespace {

constexpr milliseconds lease_of_readers{1000};
constexpr nanoseconds enough_left = lease_of_readers / 4;
constexpr monotonic_time granted_at{std::chrono::seconds(1)};
// At the beginning of each.
constexpr monotonic_time in_first_turn = granted_at;
constexpr monotonic_time in_second_turn = in_first_turn + local_turn;
constexpr monotonic_time later = in_second_turn + local_turn;

// A reader that has the lock, and those that come.
class ReaderTurns : public testing::Test {
 protected:
  ReaderTurns() { turns_.on_granted(share_, granted_at); }

  bool may_join(monotonic_time now, nanoseconds left = std::chrono::seconds(10)) const {
    return turns_.may_join({now, left});
  }

  reader_turns turns_{lease_of_readers};
  reader_turns::share share_{.major = 8};
  const int request_ = 0, other_request_ = 0;
};

TEST_F(ReaderTurns, FollowTheirTable) {
  EXPECT_FALSE(reader_turns{lease_of_readers}.may_join({granted_at, std::chrono::seconds(10)}));
  EXPECT_TRUE(may_join(in_first_turn));
  EXPECT_FALSE(may_join(in_second_turn));
  EXPECT_FALSE(may_join(later));
  turns_.ask(&request_);
  EXPECT_TRUE(may_join(in_first_turn));
  EXPECT_TRUE(may_join(in_second_turn));
  EXPECT_FALSE(may_join(later));
}

TEST_F(ReaderTurns, EndWhenTheOneThatAskedHasItsAnswer) {
  turns_.ask(&request_);
  EXPECT_FALSE(turns_.has_asked(&other_request_));
  EXPECT_TRUE(may_join(in_second_turn));
  EXPECT_TRUE(turns_.has_asked(&request_));
  EXPECT_FALSE(may_join(in_second_turn));
  EXPECT_FALSE(turns_.has_asked(&request_)) << "it is said once";
}

TEST_F(ReaderTurns, DrawAMinorForEachReader) {
  EXPECT_EQ(turns_.join(), 1U);
  EXPECT_EQ(turns_.join(), 2U);
  reader_turns::share next{.major = 9};
  turns_.on_granted(next, in_second_turn);
  EXPECT_EQ(turns_.join(), 1U) << "of another major";
}

TEST_F(ReaderTurns, LeaveHalfOfTheMinorsForTheSecondTurn) {
  while (may_join(in_first_turn)) turns_.join();
  EXPECT_EQ(share_.minor, last_minor / 2);
  turns_.ask(&request_);
  while (may_join(in_first_turn)) turns_.join();
  EXPECT_EQ(share_.minor, last_minor);
}

TEST_F(ReaderTurns, LetNobodyJoinALeaseThatIsNearlyOver) {
  EXPECT_TRUE(may_join(in_first_turn, enough_left + nanoseconds(1)));
  EXPECT_FALSE(may_join(in_first_turn, enough_left));
}

TEST_F(ReaderTurns, LetNobodyJoinWhatAResourceRefuses) {
  turns_.raise_floor(7);
  EXPECT_TRUE(may_join(in_first_turn));
  turns_.raise_floor(8);
  turns_.raise_floor(7);
  EXPECT_FALSE(may_join(in_first_turn));
}

TEST_F(ReaderTurns, GiveAGrantBackWithItsLastReader) {
  turns_.join();
  reader_turns::share next{.major = 9};
  turns_.on_granted(next, in_first_turn);
  EXPECT_FALSE(turns_.on_left(share_));
  EXPECT_TRUE(turns_.on_left(share_));
  EXPECT_TRUE(may_join(in_first_turn)) << "the other one";
  EXPECT_TRUE(turns_.on_left(next));
  EXPECT_FALSE(may_join(in_first_turn)) << "nobody reads";
}

}  // namespace
}  // namespace holdfast::leasing
