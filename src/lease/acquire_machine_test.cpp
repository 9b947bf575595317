// Details beside the table in acquire_machine.hpp: times, texts, retries and commands.
#include "lease/acquire_machine.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>

#include "lease/deadline.hpp"
#include "lease/started_attempt_for_tests.hpp"
#include "lease/step_text_for_tests.hpp"

namespace holdfast::leasing {

void PrintTo(const step& what, std::ostream* out) { *out << to_string(what); }

namespace {

using std::chrono::hours;
using std::chrono::seconds;

// When the copy of a request sent at the start can no longer be executed.
constexpr monotonic_time doubt_ends = local_start + milliseconds(2000 + 20 + 2);

const outcome no_route{errc::unavailable, "no route"};

void expect_done(const step& what, errc code, std::string_view detail_has = "") {
  ASSERT_TRUE(what.done) << to_string(what);
  EXPECT_EQ(what.done->code, code) << to_string(what);
  EXPECT_NE(what.done->detail.find(detail_has), std::string::npos) << to_string(what);
}

// ---- asking

TEST(AcquireMachine, CountsTheLeaseFromTheSendingOfTheAnsweredRequest) {
  acquire_machine machine = started(once);
  const monotonic_time sent_at = local_start + milliseconds(3);
  const step held = machine.on_acquired(say("granted", 10'000), sent_at, sent_at + seconds(1));
  ASSERT_TRUE(held.done);
  EXPECT_FALSE(held.done->code);
  EXPECT_EQ(held.done->deadline, lease_deadline(sent_at, lease));
  EXPECT_EQ(held.done->grant, (substrate::granted{usual_major, lease}));
  EXPECT_EQ(machine.claim().granted, usual_major);
  EXPECT_TRUE(held.finished);
}

// A server whose clock was set back says that more is left than anybody asked for.
TEST(AcquireMachine, BelievesNoLongerThanWasAskedFor) {
  acquire_machine machine = started(once);
  const step held = machine.on_acquired(say("granted", 3'600'000), local_start, start);
  ASSERT_TRUE(held.done);
  EXPECT_EQ(held.done->deadline, lease_deadline(local_start, lease));
}

// The lease that it replaces may have been extended, and the server never shortens one.
TEST(AcquireMachine, BelievesOfAChangeWhatWasLeftBeforeIt) {
  auto change = test_claim(lease);
  change.replaced_lease = short_milliseconds(60'000);
  acquire_machine machine(new_claim(change), once, {.response_timeout = response_timeout});
  machine.start(start);
  const step held = machine.on_acquired(say("granted", 3'600'000), local_start, start);
  ASSERT_TRUE(held.done);
  EXPECT_EQ(held.done->deadline, lease_deadline(local_start, milliseconds(60'000)));
}

TEST(AcquireMachine, SetsATimerForTheEndOfThePatienceOnly) {
  EXPECT_EQ(machine_of(once).start(start), step{.send = ask::acquire});
  EXPECT_EQ(machine_of(for_ever).start(start), step{.send = ask::acquire});
  EXPECT_EQ(machine_of(until(local_start + seconds(5))).start(start),
            (step{.send = ask::acquire, .wake_at = local_start + seconds(5)}));
}

TEST(AcquireMachine, AsksEvenWhenThePatienceIsOverAtTheStart) {
  EXPECT_EQ(machine_of(until(local_start - seconds(5))).start(start),
            (step{.send = ask::acquire, .wake_at = local_start}));
}

TEST(AcquireMachine, BelievesAGrantUntilJustBeforeItsDeadline) {
  const monotonic_time deadline = lease_deadline(local_start, lease);
  acquire_machine in_time = started(once);
  EXPECT_FALSE(
      in_time.on_acquired(say("granted", lease.count()), local_start, deadline - nanoseconds(1))
          .done->code);
  acquire_machine too_late = started(once);
  const step next = too_late.on_acquired(say("granted", lease.count()), local_start, deadline);
  expect_done(next, errc::timed_out, "so late that its lease could have ended");
  EXPECT_EQ(next.send, ask::release);
}

TEST(AcquireMachine, AsksAgainAfterGivingBackAGrantThatCameTooLate) {
  acquire_machine machine = started(for_ever);
  const monotonic_time later = local_start + seconds(60);
  ASSERT_EQ(machine.on_acquired(say("granted", lease.count()), local_start, later).send,
            ask::release);
  EXPECT_EQ(machine.claim().granted, usual_major);
  const step pause = machine.on_given_back(say_back("released"), later);
  ASSERT_TRUE(pause.wake_at);
  EXPECT_EQ(machine.claim().granted, 0U);
  EXPECT_EQ(machine.on_timer(*pause.wake_at), step{.send = ask::acquire});
  EXPECT_FALSE(machine.on_acquired(say("granted", lease.count()), *pause.wake_at, *pause.wake_at)
                   .done->code);
}

TEST(AcquireMachine, AGrantThatCameTooLateIsNotAskedForAgainAfterThePatience) {
  acquire_machine machine = started(until(local_start + seconds(1)));
  const step told = machine.on_acquired(say("granted", 10), local_start, local_start + seconds(1));
  expect_done(told, errc::timed_out, "so late");
  EXPECT_EQ(told.send, ask::release);
}

TEST(AcquireMachine, StillGivesUpInTimeWhileItGivesBackAGrantThatCameTooLate) {
  const monotonic_time end = local_start + seconds(1);
  acquire_machine machine = started(until(end));
  machine.on_acquired(say("granted", 1), local_start, start);
  const step retry = machine.on_missing(no_answer::not_sent, no_route, start);
  EXPECT_EQ(machine.on_timer(*retry.wake_at), (step{.send = ask::release, .wake_at = end}));
  expect_done(machine.on_timer(end), errc::timed_out);
}

TEST(AcquireMachine, WillNotReuseItsIdAfterAReleaseWithoutTokenWentMissing) {
  acquire_machine machine = started(for_ever);
  const monotonic_time later = local_start + milliseconds(1);
  machine.on_acquired(say_granted(milliseconds(1), 0), local_start, later);
  const step next = machine.on_missing(no_answer::unknown, no_route, later);
  expect_done(next, errc::unavailable, "no route");
  EXPECT_FALSE(next.finished);
  EXPECT_EQ(machine.on_timer(*next.wake_at).send, ask::release);
}

// ---- busy

TEST(AcquireMachine, SaysHowLongTheHoldersLeaseRuns) {
  expect_done(started(once).on_acquired(say("busy for", 250), local_start, start), errc::busy,
              "250 ms");
  EXPECT_EQ(started(once).on_acquired(say("busy"), local_start, start).done->detail, "");
}

TEST(AcquireMachine, WaitsFromTwoTo64MillisecondsWhileBusy) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    acquire_machine machine = started(for_ever, seed);
    for (const int whole : {2, 4, 8, 16, 32, 64, 64, 64}) {
      const step next = machine.on_acquired(say("busy"), local_start, start);
      ASSERT_TRUE(next.wake_at);
      EXPECT_GE(*next.wake_at, local_start + milliseconds(whole) / 2);
      EXPECT_LE(*next.wake_at, local_start + milliseconds(whole));
      machine.on_timer(*next.wake_at);
    }
  }
}

TEST(AcquireMachine, AsksSoonAfterTheHoldersLeaseCouldEnd) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    acquire_machine machine = started(for_ever, seed);
    for (int i = 0; i < 8; ++i) {
      const step next = machine.on_acquired(say("busy for", 5), local_start, start);
      EXPECT_LE(*next.wake_at, local_start + milliseconds(5 + 2));
      // From the fourth try on the back-off alone would be longer.
      EXPECT_GE(*next.wake_at, local_start + milliseconds(i < 3 ? 1 : 5));
      machine.on_timer(start);
    }
  }
}

TEST(AcquireMachine, WaitersDoNotAllAskWhenTheHoldersLeaseEnds) {
  std::set<monotonic_time> asked_at;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    acquire_machine machine = started(for_ever, seed);
    asked_at.insert(*machine.on_acquired(say("busy for", 0), local_start, start).wake_at);
  }
  EXPECT_GT(asked_at.size(), 90U);
}

TEST(AcquireMachine, WaitsNoLongerThanThePatience) {
  const monotonic_time end = local_start + microseconds(10);
  acquire_machine machine = started(until(end));
  EXPECT_EQ(machine.on_acquired(say("busy"), local_start, start), step{.wake_at = end});
  const step last = machine.on_timer(end);
  expect_done(last, errc::timed_out, "somebody else");
  EXPECT_TRUE(last.finished);
}

TEST(AcquireMachine, ABusyAnswerAfterThePatienceEndsTheAttempt) {
  acquire_machine machine = started(until(local_start + seconds(1)));
  const step last = machine.on_acquired(say("busy"), local_start, local_start + seconds(1));
  expect_done(last, errc::timed_out);
  EXPECT_TRUE(last.finished);
}

TEST(AcquireMachine, AsksAgainWhenWokenWhileWaiting) {
  acquire_machine machine = started(for_ever);
  machine.on_acquired(say("busy"), local_start, start);
  EXPECT_EQ(machine.on_woken(start), step{.send = ask::acquire});
}

TEST(AcquireMachine, AsksAgainAtOnceAndOnlyOnceWhenWokenWhileAsking) {
  acquire_machine machine = started(for_ever);
  EXPECT_EQ(machine.on_woken(start), step{});
  EXPECT_EQ(machine.on_acquired(say("busy"), local_start, start), step{.send = ask::acquire});
  EXPECT_TRUE(machine.on_acquired(say("busy"), local_start, start).wake_at);
}

// It may have been given back after the answer and before it listened.
TEST(AcquireMachine, AsksAgainWhenItHasBegunToListen) {
  acquire_machine waits = started(for_ever);
  waits.on_acquired(say("busy"), local_start, start);
  EXPECT_EQ(waits.on_tuned_in(true, start), step{.send = ask::acquire});
  acquire_machine asks = started(for_ever);
  EXPECT_EQ(asks.on_tuned_in(true, start), step{});
  EXPECT_EQ(asks.on_acquired(say("busy"), local_start, start), step{.send = ask::acquire});
}

TEST(AcquireMachine, AWakeUpWhileAskingDoesNotProlongThePatience) {
  const monotonic_time end = local_start + seconds(1);
  acquire_machine machine = started(until(end));
  machine.on_woken(start);
  expect_done(machine.on_acquired(say("busy"), local_start, end), errc::timed_out);
}

TEST(AcquireMachine, AWakeUpDoesNotProlongThePatience) {
  const monotonic_time end = local_start + seconds(1);
  acquire_machine machine = started(until(end));
  machine.on_acquired(say("busy"), local_start, start);
  expect_done(machine.on_woken(end), errc::timed_out);
}

TEST(AcquireMachine, TimedOutQuotesTheLastRefusal) {
  const monotonic_time end = local_start + microseconds(10);
  acquire_machine machine = started(until(end));
  machine.on_acquired(say("passing", errc::loading), local_start, start);
  expect_done(machine.on_timer(end), errc::timed_out, "the server said so");
}

TEST(AcquireMachine, TimedOutWithoutAnyAnswerSaysSo) {
  const monotonic_time end = local_start + seconds(1);
  acquire_machine machine = started(until(end));
  expect_done(machine.on_timer(end), errc::timed_out, "not answered");
}

TEST(AcquireMachine, ARefusalTellsItsCodeAndReason) {
  expect_done(started(for_ever).on_acquired(say("refused", errc::foreign_key), local_start, start),
              errc::foreign_key, "the server said so");
  expect_done(started(once).on_acquired(say("passing", errc::read_only), local_start, start),
              errc::read_only, "the server said so");
}

// ---- not-after and late

TEST(AcquireMachine, SaysUntilWhenTheLastRequestMayBeExecuted) {
  acquire_machine machine = started(for_ever);
  EXPECT_EQ(machine.executable_until(), local_start + response_timeout);
  machine.on_acquired(say("busy"), local_start, start);
  machine.on_woken(local_start + seconds(3));
  EXPECT_EQ(machine.executable_until(), local_start + seconds(3) + response_timeout);
}

TEST(AcquireMachine, AsksAgainAtOnceAndTellsTheTimeOfALateAnswer) {
  acquire_machine machine = started(once);
  const server_time said = server_start + hours(7);
  const step next =
      machine.on_acquired(say("late", said.time_since_epoch().count()), local_start, start);
  EXPECT_EQ(next, (step{.send = ask::acquire, .learned = said}));
}

TEST(AcquireMachine, ReportsClockSkewAfterThreeLateRetriesInARow) {
  for (const patience how_long : {once, for_ever}) {
    acquire_machine machine = started(how_long);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(machine.on_acquired(say("late"), local_start, start).send, ask::acquire);
    }
    const step last = machine.on_acquired(say("late"), local_start, start);
    expect_done(last, errc::clock_skew);
    EXPECT_TRUE(last.finished);
    EXPECT_TRUE(last.learned);
  }
}

TEST(AcquireMachine, ALateAnswerIsForgottenWhenSomethingElseHappens) {
  acquire_machine machine = started(for_ever);
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 3; ++j) machine.on_acquired(say("late"), local_start, start);
    ASSERT_TRUE((i % 2 == 0 ? machine.on_acquired(say("busy"), local_start, start)
                            : machine.on_missing(no_answer::not_sent, no_route, start))
                    .wake_at);
    machine.on_woken(start);
  }
}

TEST(AcquireMachine, ALateAnswerAfterThePatienceEndsTheAttempt) {
  const monotonic_time end = local_start + seconds(1);
  acquire_machine machine = started(until(end));
  const step last = machine.on_acquired(say("late"), local_start, end);
  expect_done(last, errc::timed_out);
  EXPECT_TRUE(last.learned);
  EXPECT_TRUE(last.finished);
}

// ---- no answer

TEST(AcquireMachine, RetriesAnUnreachableServerFrom10To500Milliseconds) {
  acquire_machine machine = started(for_ever);
  machine.on_acquired(say("busy"), local_start, start);
  machine.on_woken(start);
  for (const int whole : {10, 20, 40, 80, 160, 320, 500, 500}) {
    const step next = machine.on_missing(no_answer::not_sent, no_route, start);
    ASSERT_TRUE(next.wake_at);
    EXPECT_GE(*next.wake_at, local_start + milliseconds(whole) / 2);
    EXPECT_LE(*next.wake_at, local_start + milliseconds(whole));
    EXPECT_EQ(machine.on_timer(*next.wake_at), step{.send = ask::acquire});
  }
  const step busy = machine.on_acquired(say("busy"), local_start, start);
  EXPECT_LE(*busy.wake_at, local_start + milliseconds(2)) << "the other back-off begins anew";
}

TEST(AcquireMachine, AnUnreachableServerIsUnavailableWhenThePatienceEnds) {
  const monotonic_time end = local_start + microseconds(10);
  acquire_machine machine = started(until(end));
  EXPECT_EQ(machine.on_missing(no_answer::not_sent, no_route, start), step{.wake_at = end});
  expect_done(machine.on_timer(end), errc::unavailable, "no route");
}

TEST(AcquireMachine, ReasonsThatWaitingDoesNotMendEndTheWaiting) {
  for (const errc code :
       {errc::authentication, errc::permission_denied, errc::not_redis, errc::invalid_argument,
        errc::invalid_url, errc::unsupported, errc::forked, errc::would_deadlock,
        errc::embedded_server, errc::untrusted_server}) {
    const step last = started(for_ever).on_missing(no_answer::not_sent, {code, "because"}, start);
    expect_done(last, code, "because");
    EXPECT_TRUE(last.finished);
  }
  for (const errc code : {errc::unavailable, errc::loading, errc::server_busy, errc::misconfigured,
                          errc::server_error}) {
    EXPECT_TRUE(started(for_ever).on_missing(no_answer::not_sent, {code, ""}, start).wake_at);
  }
}

TEST(AcquireMachine, DoesNotWaitForAServerThatWasNeverReached) {
  const step last = started(for_ever).on_missing(no_answer::unreachable, no_route, start);
  expect_done(last, errc::unavailable, "no route");
  EXPECT_TRUE(last.finished);
}

// A timer may call it late, with the time for which it was set.
TEST(AcquireMachine, CountsUntilWhenARequestMayBeExecutedFromWhenItWasToldToAsk) {
  acquire_machine machine = machine_of(for_ever);
  machine.start(start);
  EXPECT_EQ(machine.executable_until(), local_start + response_timeout);
  machine.on_missing(no_answer::unknown, no_route, local_start + seconds(1));
  const auto later = local_start + seconds(9);
  EXPECT_EQ(machine.on_timer(later).send, ask::acquire);
  EXPECT_EQ(machine.executable_until(), later + response_timeout);
}

TEST(AcquireMachine, ResendsOnlyWhenTheEarlierCopyWouldBeRefused) {
  acquire_machine machine = started(for_ever);
  EXPECT_EQ(machine.on_missing(no_answer::unknown, no_route, start), step{.wake_at = doubt_ends});
  EXPECT_EQ(machine.on_timer(doubt_ends - nanoseconds(1)), step{.wake_at = doubt_ends});
  EXPECT_EQ(machine.on_timer(doubt_ends), (step{.send = ask::acquire, .resend = true}));
}

TEST(AcquireMachine, AnAnswerThatMissesAfterTheDoubtIsResentAtOnce) {
  acquire_machine machine = started(for_ever);
  const monotonic_time later = doubt_ends + seconds(1);
  EXPECT_EQ(machine.on_missing(no_answer::unknown, no_route, later), step{.wake_at = later});
}

TEST(AcquireMachine, DoubtsNoLongerThanThePatience) {
  const monotonic_time end = local_start + seconds(1);
  acquire_machine machine = started(until(end));
  EXPECT_EQ(machine.on_missing(no_answer::unknown, no_route, start), step{.wake_at = end});
  const step told = machine.on_timer(end);
  expect_done(told, errc::unavailable, "no route");
  EXPECT_EQ(told.wake_at, doubt_ends);
  EXPECT_EQ(machine.on_timer(doubt_ends), step{.send = ask::withdraw});
}

TEST(AcquireMachine, AnAnswerThatMissesAfterThePatienceEndsTheAttempt) {
  acquire_machine machine = started(until(local_start + seconds(1)));
  const step told = machine.on_missing(no_answer::unknown, no_route, local_start + seconds(1));
  expect_done(told, errc::unavailable, "no route");
  EXPECT_EQ(told.wake_at, doubt_ends);
}

TEST(AcquireMachine, ABusyAnswerProvesThatNoEarlierCopyWasGranted) {
  acquire_machine machine = started(for_ever);
  machine.on_missing(no_answer::unknown, no_route, start);
  ASSERT_TRUE(machine.on_timer(doubt_ends).resend);
  machine.on_acquired(say("busy"), doubt_ends, doubt_ends);
  EXPECT_EQ(machine.on_woken(doubt_ends), step{.send = ask::acquire});
}

// ---- withdrawing

TEST(AcquireMachine, AskingOnceWithoutAnswerWithdrawsUntilTheLockHasEndedByItself) {
  acquire_machine machine = started(once);
  const step told = machine.on_missing(no_answer::unknown, no_route, start);
  expect_done(told, errc::unavailable, "no route");
  ASSERT_EQ(told.wake_at, doubt_ends);
  const monotonic_time ended = doubt_ends + lease + lease / 100 + milliseconds(2);
  monotonic_time now = doubt_ends;
  int tries = 0;
  while (true) {
    ASSERT_EQ(machine.on_timer(now), step{.send = ask::withdraw});
    ASSERT_LT(++tries, 100);
    const step next = machine.on_missing(no_answer::unknown, no_route, now);
    if (next.finished) break;
    ASSERT_TRUE(next.wake_at);
    ASSERT_GT(*next.wake_at, now);
    ASSERT_LE(*next.wake_at, now + milliseconds(500));
    now = *next.wake_at;
  }
  EXPECT_EQ(now, ended);
}

TEST(AcquireMachine, AGrantThatCrossesTheWithdrawIsReleasedAfterIt) {
  acquire_machine machine = started(once);
  machine.on_missing(no_answer::unknown, no_route, start);
  ASSERT_EQ(machine.on_timer(doubt_ends).send, ask::withdraw);
  EXPECT_EQ(machine.on_acquired(say("granted", 10'000), local_start, doubt_ends), step{});
  EXPECT_EQ(machine.on_given_back(say_back("not mine"), doubt_ends), step{.send = ask::release});
  EXPECT_EQ(machine.on_given_back(say_back("released"), doubt_ends), step{.finished = true});
}

TEST(AcquireMachine, AGrantThatCrossesAFailingWithdrawIsReleasedToo) {
  acquire_machine machine = started(once);
  machine.on_missing(no_answer::unknown, no_route, start);
  machine.on_timer(doubt_ends);
  machine.on_acquired(say("granted", 10'000), local_start, doubt_ends);
  const step retry = machine.on_missing(no_answer::unknown, no_route, doubt_ends);
  EXPECT_EQ(machine.on_timer(*retry.wake_at), step{.send = ask::release});
}

TEST(AcquireMachine, GivingBackBeginsItsOwnBackOff) {
  acquire_machine machine = started(for_ever);
  for (int i = 0; i < 20; ++i) {
    machine.on_acquired(say("busy"), local_start, start);
    machine.on_woken(start);
  }
  machine.on_stop(start);
  ASSERT_EQ(machine.on_acquired(say("granted", 10'000), local_start, start).send, ask::release);
  EXPECT_LE(*machine.on_missing(no_answer::not_sent, no_route, start).wake_at,
            local_start + milliseconds(10));
}

TEST(AcquireMachine, AGrantAfterTheStopIsReleasedByItsToken) {
  acquire_machine machine = started(for_ever);
  expect_done(machine.on_stop(start), errc::cancelled);
  EXPECT_EQ(machine.on_stop(start), step{});
  EXPECT_EQ(machine.on_timer(local_start + hours(1)), step{});
  EXPECT_EQ(machine.on_acquired(say("granted", 10'000), local_start, start),
            step{.send = ask::release});
  EXPECT_EQ(machine.claim().granted, usual_major);
}

// Releasing would end what is held, which its owner still counts on.
TEST(AcquireMachine, AGrantedChangeThatIsNotWantedAnyMoreIsWithdrawn) {
  static const substrate::demand upgrade{.mode = 'x', .replaced = test_claim().owner};
  substrate::claim& changes = new_claim(test_claim(lease));
  changes.wants = &upgrade;
  acquire_machine machine{changes, for_ever, {.response_timeout = response_timeout}};
  machine.start(start);
  expect_done(machine.on_stop(start), errc::cancelled);
  EXPECT_EQ(machine.on_acquired(say("granted", 10'000), local_start, start).send, ask::withdraw);
}

acquire_machine changing(patience how_long) {
  static const substrate::demand down{.mode = 'r', .replaced = test_claim().owner};
  auto change = test_claim(lease);
  change.wants = &down;
  return {new_claim(change), how_long, {.response_timeout = response_timeout, .seed = 1}};
}

// Its holder must stop believing in what it had before the server lets anybody in beside that.
TEST(AcquireMachine, SaysThatAChangeCannotBeUndoneBeforeItGivesItBackForGood) {
  acquire_machine machine = changing(once);
  machine.start(start);
  machine.on_missing(no_answer::unknown, no_route, start);
  ASSERT_EQ(machine.on_timer(doubt_ends).send, ask::withdraw);
  const step told = machine.on_given_back(say_back("not undone"), doubt_ends);
  EXPECT_EQ(told, (step{.send = ask::withdraw, .cannot_undo = true}));
  const step over = machine.on_given_back(say_back("released"), doubt_ends);
  EXPECT_TRUE(over.finished);
  EXPECT_FALSE(over.cannot_undo);
  EXPECT_FALSE(machine.is_unclear());
}

TEST(AcquireMachine, TellsACallerThatStillWaitsThatItHasLostWhatItWantedToChange) {
  acquire_machine machine = changing(for_ever);
  machine.start(start);
  const step late = machine.on_acquired(say("granted", 10'000), local_start, local_start + lease);
  ASSERT_EQ(late.send, ask::withdraw);
  const auto now = local_start + lease;
  const step told = machine.on_given_back(say_back("not undone"), now);
  expect_done(told, errc::lost);
  EXPECT_TRUE(told.cannot_undo);
  EXPECT_EQ(told.send, ask::withdraw);
}

TEST(AcquireMachine, IsUnclearWhenNobodySaysWhatHasBecomeOfAChange) {
  acquire_machine machine = changing(once);
  machine.start(start);
  machine.on_missing(no_answer::unknown, no_route, start);
  auto now = doubt_ends;
  step next = machine.on_timer(now);
  for (int i = 0; i < 1000 && !next.finished; ++i) {
    if (next.send != ask::nothing) {
      next = machine.on_missing(no_answer::unknown, no_route, now);
      continue;
    }
    now = *next.wake_at;
    next = machine.on_timer(now);
  }
  EXPECT_TRUE(next.finished);
  EXPECT_TRUE(machine.is_unclear());
}

}  // namespace
}  // namespace holdfast::leasing
