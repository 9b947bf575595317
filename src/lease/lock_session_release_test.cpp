// How a session gives its lease back: what its caller hears, and how long it is tried.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "lease/answers_for_tests.hpp"
#include "lease/deadline.hpp"
#include "lease/lock_session.hpp"

namespace holdfast::leasing {
namespace {

using std::chrono::seconds;

constexpr milliseconds lease{10'000};
constexpr nanoseconds moment{1};
const outcome cut{errc::unavailable, "cut"};

class LockSessionRelease : public ::testing::Test {
 protected:
  void hold(milliseconds timeout = seconds(2)) {
    session_.emplace(claim_, patience{.waits = true, .give_up_at = monotonic_time::max()},
                     lock_session::terms{.response_timeout{timeout}});
    session_->begin(now_);
    session_->on_acquired(say("granted", lease.count()), now_, now_);
  }
  void release(milliseconds timeout = seconds(2)) {
    hold(timeout);
    session_->release(now_);
  }
  // At the deadline the server may keep the lock for another `kept`, and nobody answers.
  void expect_tried_for(milliseconds kept, monotonic_time deadline) {
    const auto gone = deadline + kept + clock_allowance(kept);
    session_->on_missing(no_answer::unknown, cut, gone - moment);
    EXPECT_TRUE(session_->is_under_way());
    session_->on_timer(gone);
    EXPECT_FALSE(session_->is_under_way());
  }

  substrate::claim claim_ = test_claim(lease);
  std::optional<lock_session> session_;
  monotonic_time now_ = local_start;
};

TEST_F(LockSessionRelease, SaysAtOnceThatTheLeaseWasLostAndIsStillSent) {
  hold();
  session_->on_renewed(substrate::not_mine{}, now_, false, now_);
  EXPECT_TRUE(session_->was_lost());
  const auto all = session_->release(now_);
  EXPECT_EQ(all.ended->code, errc::lost);
  EXPECT_TRUE(all.unheard);
  EXPECT_EQ(all.send, ask::release);
  EXPECT_FALSE(session_->delays_closing());
}

TEST_F(LockSessionRelease, SaysBeforeTheTimerDoesThatTheLeaseHasEnded) {
  hold();
  const auto deadline = session_->deadline();
  EXPECT_EQ(session_->release(deadline).ended->code, errc::lost);
  EXPECT_TRUE(session_->is_released());

  hold();
  EXPECT_FALSE(session_->release(deadline - moment).ended);
}

TEST_F(LockSessionRelease, DelaysClosingUntilTheLeaseHasEnded) {
  hold();
  session_->release(now_);
  EXPECT_TRUE(session_->delays_closing());
  now_ += lease;
  session_->on_missing(no_answer::unknown, cut, now_);
  EXPECT_FALSE(session_->delays_closing());
  EXPECT_TRUE(session_->is_under_way()) << "it is still tried";
}

// A lease whose renewals fail has a server that answers nothing else either.
TEST_F(LockSessionRelease, DoesNotDelayClosingWhereRenewalsAreOverdue) {
  hold();
  session_->release(now_ + lease * 3 / 4);
  EXPECT_FALSE(session_->delays_closing());
}

TEST_F(LockSessionRelease, KeepsNoCallerLongerThanAnAnswerMayTake) {
  release(milliseconds(500));
  EXPECT_FALSE(session_->on_missing(no_answer::not_sent, cut, now_).tell);
  const auto late = session_->on_timer(now_ + seconds(1));
  EXPECT_EQ(late.send, ask::release);
  const auto all = session_->on_missing(no_answer::not_sent, cut, now_ + seconds(1));
  EXPECT_TRUE(all.tell);
  EXPECT_FALSE(session_->is_released());
  EXPECT_NE(session_->why_unconfirmed(), "");
}

// A server that frees the lock in several tries is asked again at once.
TEST_F(LockSessionRelease, KeepsNoCallerLongerWhereTheServerNeedsManyTries) {
  release(milliseconds(500));
  const auto late = now_ + milliseconds(500);
  EXPECT_FALSE(session_->on_given_back(say_back("more"), late - moment).tell);
  const auto all = session_->on_given_back(say_back("more"), late);
  EXPECT_EQ(all.send, ask::release);
  EXPECT_TRUE(all.tell);
  EXPECT_FALSE(session_->is_released());
}

// The last renewal may have come late.
TEST_F(LockSessionRelease, IsTriedUntilTheServerMustHaveEndedTheLease) {
  for (const milliseconds timeout : {milliseconds(500), milliseconds(2000)}) {
    hold(timeout);
    const auto deadline = session_->deadline();
    session_->release(now_);
    expect_tried_for(lease + timeout, deadline);
  }
}

// Until an extension is answered, the server may have carried it out.
TEST_F(LockSessionRelease, IsTriedForAsLongAsAnExtensionMayLast) {
  hold();
  session_->on_extending(lease * 3);
  const auto deadline = session_->deadline();
  session_->release(now_);
  expect_tried_for(lease * 3 + seconds(2), deadline);
}

// Before its caller is told that it cannot be done.
TEST_F(LockSessionRelease, WaitsForAMoveOfItsSlotForHalfAnAnswerAtMost) {
  const auto sent_after = [&](milliseconds timeout, nanoseconds pause) {
    release(timeout);
    session_->on_given_back(say_back("divided", errc::server_busy), now_);
    return session_->on_timer(now_ + pause).send;
  };
  for (const milliseconds timeout : {milliseconds(300), milliseconds(2000)}) {
    const nanoseconds longest = std::min(longest_move, timeout / 2);
    EXPECT_EQ(sent_after(timeout, longest - moment), ask::release);
    EXPECT_EQ(sent_after(timeout, longest), ask::lone_release);
  }
}

}  // namespace
}  // namespace holdfast::leasing
