// The effects behind the table in lock_session.hpp.
#include "lease/lock_session.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "lease/answers_for_tests.hpp"
#include "lease/deadline.hpp"

namespace holdfast::leasing {
namespace {

using std::chrono::seconds;
using state = lock_session::state;

constexpr patience for_ever{.waits = true, .give_up_at = monotonic_time::max()};
constexpr milliseconds lease{10'000};
const outcome cut{errc::unavailable, "cut"};

class LockSession : public ::testing::Test {
 protected:
  void begin(const lock_session::terms& terms = {}, patience how_long = for_ever) {
    session_.emplace(claim_, how_long, terms);
    session_->begin(now_);
  }
  effects be_granted() { return session_->on_acquired(say("granted", lease.count()), now_, now_); }
  void hold(const lock_session::terms& terms = {}) {
    begin(terms);
    be_granted();
  }
  void queue(const lock_session::terms& terms) {
    begin(terms);
    stand_in_line();
  }
  void stand_in_line() { session_->on_acquired(say_queued(0, lease), now_, now_); }
  effects be_handed(milliseconds ttl) {
    return session_->on_handed_over({usual_major, ttl}, now_, now_);
  }
  // Until when the lease lasts once the server has answered a renewal.
  monotonic_time renewed_for(milliseconds ttl) {
    session_->on_renewed(substrate::renewed{ttl}, now_, false, now_);
    return session_->deadline();
  }
  void change() {
    claim_.wants = &wanted_;
    session_.emplace(claim_, for_ever, lock_session::terms{});
    session_->note_changed(seconds(5));
  }

  substrate::demand wanted_{.mode = 'r', .replaced = test_claim().owner};
  substrate::claim claim_ = test_claim(lease);
  std::optional<lock_session> session_;
  monotonic_time now_ = local_start;
};

TEST_F(LockSession, TellsItsCallerOfAGrantAndGoesOnByTimer) {
  begin();
  const auto all = be_granted();
  EXPECT_EQ(all.granted, now_);
  EXPECT_TRUE(all.tell);
  EXPECT_EQ(all.ended, outcome{});
  EXPECT_TRUE(all.wake_at);
  EXPECT_TRUE(session_->has_lease());
  EXPECT_EQ(session_->deadline(), lease_deadline(now_, lease));
  EXPECT_EQ(claim_.granted, usual_major);
}

TEST_F(LockSession, AGrantCountsOnlyWhenReplicasHaveIt) {
  begin({.needs_replicas = true});
  const auto all = be_granted();
  EXPECT_TRUE(all.replicate);
  EXPECT_FALSE(all.tell);
  EXPECT_TRUE(session_->has_lease()) << "it is renewed meanwhile";
  EXPECT_FALSE(session_->is_told());
  EXPECT_EQ(session_->on_replicated({}, now_), (effects{.tell = true, .ended = outcome{}}));
}

TEST_F(LockSession, AGrantThatTooFewReplicasHaveIsOnItsWayBackBeforeItsCallerHears) {
  hold({.needs_replicas = true});
  const auto all = session_->on_replicated(cut, now_);
  EXPECT_TRUE(all.gives_back);
  EXPECT_EQ(all.send, ask::release);
  EXPECT_TRUE(all.unheard);
  EXPECT_TRUE(all.tell);
  EXPECT_EQ(all.ended, cut);
  const auto over = session_->on_given_back(say_back("not mine"), now_);
  EXPECT_FALSE(over.ended) << "how the way back ends, nobody asks";
}

// It may know of the lease no more.
TEST_F(LockSession, WhatWasGrantedByAServerThatHasBeenReplacedIsConfirmedAtOnce) {
  begin();
  session_->on_doubt(now_);
  EXPECT_TRUE(be_granted().renew);
}

TEST_F(LockSession, WhatTheServerAfterThatHasGrantedNeedsNoConfirmation) {
  begin();
  session_->on_doubt(now_);
  session_->on_missing(no_answer::not_sent, cut, now_);
  ASSERT_EQ(session_->on_woken(now_).send, ask::acquire);
  EXPECT_FALSE(be_granted().renew);
}

// Until the server has answered a question, only a message says that it is held.
TEST_F(LockSession, AFixedLeaseThatWasHandedOverIsConfirmedAtOnceButNotAPassedGate) {
  for (const bool is_gate : {false, true}) {
    queue({.renews = false, .is_gate = is_gate});
    EXPECT_EQ(be_handed(lease).renew, !is_gate);
  }
}

TEST_F(LockSession, ADoubtDoesNotTakeTheTimerFromALeaseThatIsBeingConfirmed) {
  queue({.renews = false});
  session_->on_doubt(now_);
  const auto all = be_handed(lease);
  EXPECT_EQ(all.wake_at, session_->deadline());
}

TEST_F(LockSession, CountsOnNoMoreThanTheLeaseWhereTheServerKeepsItLonger) {
  claim_.delay = short_milliseconds{3000};
  hold();
  now_ += seconds(1);
  session_->on_renewed(substrate::renewed{lease + seconds(3)}, now_, false, now_);
  EXPECT_EQ(session_->deadline(), lease_deadline(now_, lease));
}

TEST_F(LockSession, ARenewalThatAChangeHasOvertakenProvesNoLoss) {
  hold();
  EXPECT_FALSE(session_->on_renewed(substrate::not_mine{}, now_, true, now_).lost);
  EXPECT_TRUE(session_->has_lease());
  const auto how = session_->on_extended(substrate::not_mine{}, lease, now_, true, now_).how;
  EXPECT_EQ(how.code, errc::busy);
  EXPECT_TRUE(session_->has_lease());
}

TEST_F(LockSession, AnExtensionSaysWhatCameOfIt) {
  hold();
  const auto more =
      session_->on_extended(substrate::renewed{lease * 2}, lease * 2, now_, false, now_);
  EXPECT_EQ(more.how, outcome{});
  EXPECT_EQ(session_->deadline(), lease_deadline(now_, lease * 2));
  EXPECT_EQ(
      session_->on_extended(refusal("refused", errc::read_only).value(), lease, now_, false, now_)
          .how.code,
      errc::read_only);
  const auto gone = session_->on_extended(substrate::not_mine{}, lease, now_, false, now_);
  EXPECT_EQ(gone.how.code, errc::lost);
  EXPECT_TRUE(gone.then.lost);
}

// ---- a request that changes a lease, and that lease

TEST_F(LockSession, AChangeOfWhatHasEndedIsNotAskedFor) {
  change();
  session_->note_changed(nanoseconds{0});
  const auto all = session_->begin(now_);
  EXPECT_EQ(all.send, ask::nothing);
  EXPECT_EQ(all.ended->code, errc::lost);
}

TEST_F(LockSession, AChangeSaysFirstThatTheLeaseMayBecomeAnother) {
  change();
  const auto all = session_->begin(now_);
  EXPECT_EQ(all.to_changed, change_news::may_become);
  EXPECT_EQ(all.send, ask::acquire);
  EXPECT_EQ(claim_.replaced_lease, short_milliseconds{lease_with_deadline_in(seconds(5))});
  EXPECT_FALSE(claim_.forsakes);
}

TEST_F(LockSession, AChangeThatIsRefusedLeavesTheLeaseAsItWas) {
  change();
  session_->begin(now_);
  const auto all = session_->on_acquired(say("refused", errc::permission_denied), now_, now_);
  EXPECT_EQ(all.to_changed, change_news::stays);
}

TEST_F(LockSession, AChangeThatNobodyAnswersLeavesItOpenWhatTheLeaseIs) {
  change();
  session_->begin(now_);
  session_->on_stop(now_);
  effects all;
  for (int i = 0; i < 1000 && session_->is_under_way(); ++i) {
    now_ = all.wake_at.value_or(now_ + seconds(1));
    all = all.send != ask::nothing || i == 0 ? session_->on_missing(no_answer::unknown, cut, now_)
                                             : session_->on_timer(now_);
  }
  EXPECT_EQ(session_->present_state(), state::over);
  EXPECT_EQ(all.to_changed, change_news::may_stay);
}

// Others have come in beside what the change was granted, and its answer was never heard.
TEST_F(LockSession, ALeaseCannotStayWhereItsChangeCannotBeUndone) {
  change();
  session_->begin(now_);
  session_->on_stop(now_);
  session_->on_missing(no_answer::unknown, cut, now_);
  now_ += seconds(3);
  ASSERT_EQ(session_->on_timer(now_).send, ask::withdraw);
  const auto all = session_->on_given_back(say_back("not undone"), now_);
  EXPECT_EQ(all.to_changed, change_news::cannot_stay);
  EXPECT_EQ(all.send, ask::withdraw);
  EXPECT_EQ(session_->on_given_back(say_back("released"), now_).to_changed, change_news::stays);
}

TEST_F(LockSession, ALeaseCannotStayWhatAnAbandonedChangeHasReplaced) {
  change();
  session_->begin(now_);
  be_granted();
  const auto all = session_->abandon(now_);
  EXPECT_EQ(all.to_changed, change_news::cannot_stay);
  EXPECT_EQ(all.send, ask::release);
}

// The server keeps what is left of an extended lease.
TEST_F(LockSession, AChangeCountsOnAllThatWasLeftWhenItWasAskedFor) {
  change();
  session_->note_changed(seconds(60));
  session_->begin(now_);
  session_->note_changed(seconds(5));
  be_granted();
  EXPECT_EQ(renewed_for(seconds(30)), lease_deadline(now_, seconds(30)));
}

TEST_F(LockSession, AChangeCountsOnAnExtensionThatCameWhileItWaited) {
  change();
  session_->begin(now_);
  stand_in_line();
  session_->note_changed(seconds(60));
  be_handed(seconds(1));
  EXPECT_EQ(renewed_for(seconds(30)), lease_deadline(now_, seconds(30)));
}

TEST_F(LockSession, AChangeDoesNotBringBackALeaseThatWasLostMeanwhile) {
  change();
  session_->begin(now_);
  session_->note_changed(lock_session::none_left);
  const auto all = be_granted();
  EXPECT_EQ(all.ended->code, errc::lost);
  EXPECT_TRUE(all.gives_back);
  EXPECT_TRUE(claim_.forsakes);
  EXPECT_EQ(session_->present_state(), state::taken_back);
}

TEST_F(LockSession, ALeaseIsGoodForWhatBothModesAllowUntilARenewalShowsWhichItHas) {
  const substrate::demand exclusive{.mode = 'x'};
  claim_.wants = &exclusive;
  hold();
  session_->on_change(change_news::may_become, 'r', now_);
  EXPECT_EQ(session_->mode(), 'r');
  EXPECT_TRUE(session_->on_change(change_news::may_stay, 'r', now_).renew);
  session_->on_renewed(substrate::renewed{lease}, now_, false, now_);
  EXPECT_EQ(session_->mode(), 'x');
}

TEST_F(LockSession, ARenewalThatWasAskedForBeforeDoesNotShowWhichModeItHas) {
  const substrate::demand exclusive{.mode = 'x'};
  claim_.wants = &exclusive;
  hold();
  session_->on_change(change_news::may_become, 'r', now_);
  session_->on_change(change_news::may_stay, 'r', now_ + nanoseconds(1));
  EXPECT_TRUE(session_->on_renewed(substrate::renewed{lease}, now_, false, now_).renew);
  EXPECT_EQ(session_->mode(), 'r');
}

// It may still stand in the queue there.
TEST_F(LockSession, ALeaseIsGoodForLessWhenAnotherServerMayNotKnowThatAChangeWasGivenUp) {
  const substrate::demand exclusive{.mode = 'x'};
  claim_.wants = &exclusive;
  hold();
  session_->on_change(change_news::may_become, 'r', now_);
  session_->on_change(change_news::stays, 'r', now_);
  ASSERT_EQ(session_->mode(), 'x');
  session_->on_doubt(now_);
  session_->on_renewed(substrate::renewed{lease}, now_, false, now_);
  EXPECT_EQ(session_->mode(), 'r');
}

TEST_F(LockSession, ALeaseThatCannotStayIsLost) {
  hold();
  EXPECT_TRUE(session_->on_change(change_news::cannot_stay, 'r', now_).lost);
  EXPECT_FALSE(session_->has_lease());
}

// Nobody releases what has passed a gate, so it would be kept for messages for ever.
TEST_F(LockSession, WhatHasPassedAGateTooLateHasNothingToGiveBackEither) {
  hold({.renews = false, .is_gate = true});
  now_ = session_->deadline();
  EXPECT_TRUE(session_->on_timer(now_).lost);
  EXPECT_EQ(session_->on_replaced(), effects{.stops_timer = true});
  EXPECT_FALSE(session_->may_hear_of_its_grant());
}

TEST_F(LockSession, ALostLeaseIsStillToBeReleasedWhenItIsReplaced) {
  hold({.renews = false});
  now_ = session_->deadline();
  EXPECT_TRUE(session_->on_timer(now_).lost);
  EXPECT_EQ(session_->on_replaced(), effects{});
  EXPECT_TRUE(session_->can_be_released());
}

TEST_F(LockSession, AReplacedLeaseHasNothingToGiveBack) {
  hold();
  EXPECT_EQ(session_->on_replaced(), effects{.stops_timer = true});
  EXPECT_FALSE(session_->can_be_released());
}

}  // namespace
}  // namespace holdfast::leasing
