// An attempt in the queue: when it asks, what it believes, how it leaves.
#include <gtest/gtest.h>

#include "lease/acquire_machine.hpp"
#include "lease/answers_for_tests.hpp"
#include "lease/deadline.hpp"
#include "lease/waiting_times.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {
namespace {

using std::chrono::seconds;

constexpr milliseconds claim_length{1000};
constexpr substrate::token_major old_major = 41, new_major = 59;

class AcquireWaiting : public ::testing::Test {
 protected:
  AcquireWaiting() : AcquireWaiting(substrate::wakeup_way::channel) {}
  explicit AcquireWaiting(substrate::wakeup_way way)
      : machine_(new_claim(claim(way)), patience_, {}) {
    sent(machine_.start(now()));
  }

  static substrate::claim claim(substrate::wakeup_way way) {
    auto wanted = test_claim(seconds(30));
    wanted.floor = old_major;
    wanted.waits = true;
    wanted.way = way;
    return wanted;
  }
  monotonic_time now() const { return local_; }
  void pass(nanoseconds time) { local_ += time; }
  step sent(step next) {
    if (next.send != ask::nothing) sent_at_ = local_;
    return next;
  }
  step answer(const substrate::acquire_verdict& verdict, std::uint64_t position = 0) {
    pass(milliseconds(1));
    return sent(machine_.on_acquired(verdict, sent_at_, now(), position));
  }
  step answer_back(std::string_view word) {
    pass(milliseconds(1));
    return sent(machine_.on_given_back(say_back(word), now()));
  }
  step queued(std::uint64_t place, milliseconds remaining, std::uint64_t position = 0) {
    return answer(say_queued(place, remaining), position);
  }
  // The server handed the lock over `age` ago, as far as our clock can tell.
  step told(substrate::token_major major, nanoseconds age, std::uint64_t position = 0) {
    return sent(machine_.on_handed_over({major, claim_length}, local_ - age, now(), position));
  }
  step told_first(std::uint64_t position = 0) {
    return sent(machine_.on_first_in_line(claim_length, now(), position));
  }
  void expect_to_ask_after(const step& next, nanoseconds pause) const {
    ASSERT_TRUE(next.wake_at);
    EXPECT_GE(*next.wake_at - local_, pause);
    EXPECT_LE(*next.wake_at - local_, pause + milliseconds(10));
  }

  patience patience_{.waits = true, .give_up_at = local_start + seconds(3600)};
  monotonic_time local_ = local_start;
  monotonic_time sent_at_{};
  acquire_machine machine_;
};

// The server forgot a grant (FLUSHALL), then said that we wait; two threads hear both in either
// order.
TEST_F(AcquireWaiting, DoesNotBelieveAGrantThatTheServersLaterAnswerContradicts) {
  queued(0, seconds(9), 8);
  EXPECT_EQ(told(new_major, milliseconds(400), 7), step{});
  EXPECT_EQ(sent(machine_.on_woken(now())).send, ask::acquire);
  EXPECT_EQ(told(new_major, milliseconds(400), 9), step{});
  expect_to_ask_after(queued(0, seconds(1), 10), seconds(1));
  EXPECT_TRUE(told(new_major, milliseconds(400), 11).done) << "said later than the answer";
}

TEST_F(AcquireWaiting, HearsMessagesFromItsPlaceInTheQueueOnUntilItIsDone) {
  EXPECT_FALSE(machine_.hears_messages()) << "it has no place yet";
  queued(0, seconds(9), 1);
  EXPECT_TRUE(machine_.hears_messages());
  EXPECT_FALSE(machine_.is_polling()) << "it has a place";
  machine_.on_stop(now());
  EXPECT_FALSE(machine_.hears_messages()) << "its caller has an outcome";
}

TEST_F(AcquireWaiting, HearsNoMessagesOnceItsConnectionIsDeaf) {
  queued(0, seconds(9), 1);
  machine_.on_deaf(now());
  EXPECT_FALSE(machine_.hears_messages());
}

TEST_F(AcquireWaiting, AsksWhenTheClaimBeforeItEndsOnceToldThatItIsTheFirst) {
  queued(8, seconds(30), 1);
  expect_to_ask_after(told_first(2), claim_length);
  EXPECT_EQ(told_first(0), step{}) << "said before the answer";
}

TEST_F(AcquireWaiting, KeepsInMindThatItIsTheFirstWhileItAsks) {
  EXPECT_EQ(told_first(2), step{});
  expect_to_ask_after(queued(8, seconds(30), 1), claim_length - milliseconds(1));
}

// Anybody who may publish can say it.
TEST_F(AcquireWaiting, NeverAsksLaterForBeingToldThatItIsTheFirst) {
  const auto asks_at = queued(0, milliseconds(300), 1).wake_at;
  ASSERT_TRUE(asks_at);
  for (int i = 0; i < 3; ++i) {
    pass(milliseconds(90));
    EXPECT_EQ(told_first(2).wake_at, asks_at);
  }
}

TEST_F(AcquireWaiting, AsksWhenItsTurnComesAtTheLatestAtItsBound) {
  const auto first = queued(0, milliseconds(700));
  ASSERT_TRUE(first.wake_at);
  EXPECT_GE(*first.wake_at - local_, milliseconds(700));
  EXPECT_LE(*first.wake_at - local_, milliseconds(710));
  EXPECT_EQ(first.learned, server_start);
  local_ = *first.wake_at;
  EXPECT_EQ(sent(machine_.on_timer(now())).send, ask::acquire);
  const auto third = queued(2, milliseconds(700));
  EXPECT_GE(*third.wake_at - local_, milliseconds(740));
  EXPECT_LE(*third.wake_at - local_, milliseconds(750)) << "those before may be dead";
  EXPECT_EQ(until_turn({0, seconds(30), 1, {}}), seconds(2));
  EXPECT_EQ(until_turn({1, seconds(30), 1, {}}), seconds(2));
  EXPECT_EQ(until_turn({14, seconds(30), 1, {}}), seconds(15));
  EXPECT_EQ(until_turn({18, seconds(1), 1, {}}), milliseconds(1000 + 16 * 20 + 2000));
  EXPECT_EQ(until_turn({60, seconds(1), 1, {}}), ask_bound(60)) << "a crowd does not";
  EXPECT_EQ(ask_bound(1'000'000), seconds(60));
}

TEST_F(AcquireWaiting, BelievesAFreshMessage) {
  queued(0, seconds(30));
  pass(seconds(5));
  const auto next = told(new_major, milliseconds(2));
  ASSERT_TRUE(next.done);
  EXPECT_FALSE(next.done->code);
  EXPECT_EQ(next.done->grant, (substrate::granted{new_major, claim_length}));
  EXPECT_EQ(next.done->granted_at, local_ - milliseconds(2));
  EXPECT_EQ(next.done->deadline, lease_deadline(local_ - milliseconds(2), claim_length));
  EXPECT_TRUE(next.finished);
}

TEST_F(AcquireWaiting, AsksWhenTheMessageIsOldOrFromTheFutureOrOfAnEarlierGrant) {
  queued(0, seconds(30));
  EXPECT_EQ(told(new_major, milliseconds(501)).send, ask::acquire) << "long under way";
  queued(0, seconds(30));
  EXPECT_EQ(told(new_major, milliseconds(-1)).send, ask::acquire) << "the server's clock was set";
  queued(0, seconds(30));
  EXPECT_EQ(told(old_major, milliseconds(1)).send, ask::acquire) << "not above what we know";
  EXPECT_TRUE(answer(say_granted(claim_length, new_major)).done) << "the answer proves it";
}

// Somebody else may have heard the first message, which it missed.
TEST_F(AcquireWaiting, BelievesNoMessageWhenItCameIntoTheQueueAgain) {
  answer(say_queued(0, seconds(30), true));
  EXPECT_EQ(sent(machine_.on_woken(now())).send, ask::acquire);
  answer(say_queued(0, seconds(30), true));
  EXPECT_EQ(told(new_major, milliseconds(1)).send, ask::acquire);
  queued(0, seconds(30));
  EXPECT_EQ(told(new_major, milliseconds(1)).send, ask::acquire) << "nor ever again";
  EXPECT_TRUE(answer(say_granted(claim_length, new_major)).done) << "the answer proves it";
}

TEST_F(AcquireWaiting, BelievesNoMessageWhenTheAnswerToWhoIsInTheQueueWasLost) {
  queued(0, seconds(30));
  EXPECT_EQ(sent(machine_.on_woken(now())).send, ask::acquire);
  auto next = machine_.on_missing(no_answer::unknown, {errc::unavailable, "cut"}, now());
  local_ = next.wake_at.value();
  EXPECT_EQ(sent(machine_.on_timer(now())).send, ask::acquire);
  queued(0, seconds(30));
  EXPECT_EQ(told(new_major, milliseconds(1)).send, ask::acquire);
}

TEST_F(AcquireWaiting, BelievesAMessageWhenItComesIntoTheQueueForTheFirstTime) {
  answer(say_queued(0, seconds(30), true));
  const auto next = told(new_major, milliseconds(1));
  ASSERT_TRUE(next.done);
  EXPECT_TRUE(next.done->by_message) << "to be confirmed";
}

TEST_F(AcquireWaiting, KeepsAMessageThatComesWhileItAsks) {
  EXPECT_EQ(told(new_major, milliseconds(1)), step{});
  const auto next = queued(0, seconds(30));  // was answered before the lock was handed over
  ASSERT_TRUE(next.done);
  EXPECT_EQ(next.done->grant.major, new_major);
}

TEST_F(AcquireWaiting, PrefersTheAnswerToAMessage) {
  EXPECT_EQ(told(new_major, milliseconds(1)), step{});
  const auto next = answer(say_granted(milliseconds(800), new_major));
  ASSERT_TRUE(next.done);
  EXPECT_EQ(next.done->grant.ttl, milliseconds(800));
  EXPECT_FALSE(next.done->by_message);
}

TEST_F(AcquireWaiting, LeavesTheQueueWhenItGivesUp) {
  queued(3, seconds(30));
  const auto next = sent(machine_.on_stop(now()));
  EXPECT_EQ(next.done->code, errc::cancelled);
  EXPECT_EQ(next.send, ask::withdraw);
  EXPECT_EQ(told(new_major, milliseconds(1)), step{}) << "the withdraw passes it on";
  EXPECT_TRUE(answer_back("released").finished);
}

TEST_F(AcquireWaiting, LeavesTheQueueThatItJoinedAfterItGaveUp) {
  EXPECT_EQ(machine_.on_stop(now()).done->code, errc::cancelled);
  EXPECT_EQ(queued(0, seconds(30)).send, ask::withdraw);
}

TEST_F(AcquireWaiting, LeavesTheQueueThatTheServerDidNotFinishAfterItGaveUp) {
  EXPECT_EQ(machine_.on_stop(now()).done->code, errc::cancelled);
  EXPECT_EQ(answer(say("more")).send, ask::withdraw);
}

TEST_F(AcquireWaiting, AsksAgainWhenItsConnectionBrokeWithItsOldTicket) {
  queued(1, seconds(30));
  EXPECT_EQ(sent(machine_.on_woken(now())).send, ask::acquire);
  EXPECT_EQ(machine_.claim().ticket, usual_ticket);
}

TEST_F(AcquireWaiting, AsksAtOnceWhenTheServerDidNotFinish) {
  EXPECT_EQ(answer(say("more")).send, ask::acquire);
}

// Else it would stand in the queue twice, and leave it once.
TEST_F(AcquireWaiting, GivesUpItsPlaceBeforeItPollsWhenThereIsNoChannel) {
  queued(0, seconds(30));
  EXPECT_EQ(sent(machine_.on_deaf(now())).send, ask::withdraw);
  EXPECT_EQ(machine_.claim().way, substrate::wakeup_way::channel) << "the place is found by it";
  auto next = answer_back("not mine");
  EXPECT_FALSE(next.done);
  local_ = next.wake_at.value();
  EXPECT_EQ(sent(machine_.on_timer(now())).send, ask::acquire);
  EXPECT_EQ(machine_.claim().way, substrate::wakeup_way::poll);
  EXPECT_EQ(machine_.claim().ticket, usual_ticket);
  next = queued(0, seconds(30));
  EXPECT_LE(next.wake_at.value() - local_, milliseconds(64));
}

TEST_F(AcquireWaiting, GivesUpItsPlaceAlsoWhenItLearnsWhileAskingThatThereIsNoChannel) {
  queued(0, seconds(30));
  sent(machine_.on_woken(now()));
  EXPECT_EQ(machine_.on_deaf(now()), step{});
  EXPECT_EQ(queued(0, seconds(30)).send, ask::withdraw);
}

TEST_F(AcquireWaiting, PollsAtOnceWhenItHasNoPlaceYet) {
  EXPECT_EQ(machine_.on_deaf(now()), step{});
  EXPECT_EQ(answer(say("late", 0)).send, ask::acquire);
  EXPECT_EQ(machine_.claim().way, substrate::wakeup_way::poll);
}

TEST_F(AcquireWaiting, GivesAGrantBackWhoseTokenIsNotAboveTheFloor) {
  const auto next = answer(say_granted(seconds(30), old_major));
  EXPECT_FALSE(next.done);
  EXPECT_EQ(next.send, ask::release);
}

// The first copy of its request may have come into the queue, and have been told.
TEST_F(AcquireWaiting, BelievesNoMessageWhenTheFirstCopyOfItsRequestWasLost) {
  const auto next = machine_.on_missing(no_answer::unknown, {errc::unavailable, "cut"}, now());
  local_ = next.wake_at.value();
  EXPECT_EQ(sent(machine_.on_timer(now())).send, ask::acquire);
  answer(say_queued(0, seconds(30), true));
  EXPECT_EQ(told(new_major, milliseconds(1)).send, ask::acquire);
}

TEST_F(AcquireWaiting, TimesOutInTheQueueWithTheReason) {
  queued(0, seconds(30));
  local_ = patience_.give_up_at;
  const auto next = sent(machine_.on_timer(now()));
  ASSERT_TRUE(next.done);
  EXPECT_EQ(next.done->code, errc::timed_out);
  EXPECT_EQ(next.done->detail, "somebody else still held the lock when last asked");
  EXPECT_EQ(next.send, ask::withdraw);
}

TEST_F(AcquireWaiting, TimesOutWhateverItHearsAtTheEnd) {
  local_ = patience_.give_up_at;
  const auto answered = queued(0, seconds(30));
  ASSERT_TRUE(answered.done);
  EXPECT_EQ(answered.done->code, errc::timed_out);
  EXPECT_EQ(answered.send, ask::withdraw);
  EXPECT_EQ(answered.learned, server_start);
}

TEST_F(AcquireWaiting, TimesOutAtTheEndThoughItWasWokenMeanwhile) {
  machine_.on_woken(now());
  local_ = patience_.give_up_at;
  const auto answered = queued(0, seconds(30));
  ASSERT_TRUE(answered.done);
  EXPECT_EQ(answered.done->code, errc::timed_out);
  EXPECT_EQ(answered.send, ask::withdraw);
}

TEST_F(AcquireWaiting, TimesOutWhateverItIsToldAtTheEnd) {
  queued(0, seconds(30));
  local_ = patience_.give_up_at;
  const auto next = told(new_major, milliseconds(1));
  ASSERT_TRUE(next.done);
  EXPECT_EQ(next.done->code, errc::timed_out);
}

TEST_F(AcquireWaiting, BelievesAMessageUntilHalfOfItsClaimHasPassed) {
  queued(0, seconds(30));
  const auto next = told(new_major, claim_length / 2);
  ASSERT_TRUE(next.done);
  EXPECT_FALSE(next.done->code);
  EXPECT_EQ(machine_.claim().granted, new_major);
}

TEST_F(AcquireWaiting, BelievesAMessageThatWasSaidInThisMoment) {
  queued(0, seconds(30));
  ASSERT_TRUE(told(new_major, nanoseconds(0)).done);
}

TEST_F(AcquireWaiting, BelievesNoKeptMessageWhoseClaimIsOver) {
  told(new_major, nanoseconds(0));
  const auto deadline = lease_deadline(local_, claim_length);
  local_ = deadline - milliseconds(1);
  EXPECT_EQ(queued(0, seconds(30)).send, ask::acquire) << "it was answered at the deadline";
}

// A lock of the kind that nobody else can get before it was given back.
TEST_F(AcquireWaiting, BelievesTheWholeTimeOfAGrantForGood) {
  queued(0, seconds(30));
  substrate::granted grant{new_major, milliseconds(3'600'000)};
  grant.for_good = true;
  const auto next = machine_.on_handed_over(grant, local_, now());
  ASSERT_TRUE(next.done);
  EXPECT_EQ(next.done->deadline, lease_deadline(local_, grant.ttl));
}

}  // namespace
}  // namespace holdfast::leasing
