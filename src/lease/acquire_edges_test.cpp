// An attempt at the edges of its rules: the last moment, no token, no detail.
#include <gtest/gtest.h>

#include <string_view>

#include "lease/started_attempt_for_tests.hpp"
#include "lease/step_text_for_tests.hpp"
#include "lease/waiting_times.hpp"

namespace holdfast::leasing {
namespace {

using std::chrono::seconds;

void expect_done(const step& what, errc code, std::string_view detail_has = "") {
  ASSERT_TRUE(what.done) << to_string(what);
  EXPECT_EQ(what.done->code, code) << to_string(what);
  EXPECT_NE(what.done->detail.find(detail_has), std::string::npos) << to_string(what);
}

TEST(AcquireEdges, AsksRarelyWhenItHearsOfReleases) {
  acquire_machine machine = started(for_ever);
  EXPECT_FALSE(machine.is_polling());
  machine.on_tuned_in(true, start);
  machine.on_acquired(say("busy"), local_start, start);
  EXPECT_EQ(machine.on_acquired(say("busy"), local_start, start),
            step{.wake_at = local_start + ask_bound(0)});
  EXPECT_TRUE(machine.is_polling());
  machine.on_tuned_in(false, start);
  const step next = machine.on_acquired(say("busy"), local_start, start);
  EXPECT_LE(next.wake_at.value(), local_start + milliseconds(64));
}

TEST(AcquireEdges, AsksAgainAsACopyWhatTheServerDidNotFinish) {
  EXPECT_EQ(started(once).on_acquired(say("more"), local_start, start),
            (step{.send = ask::acquire, .resend = true}));
  const monotonic_time end = local_start + seconds(1);
  expect_done(started(until(end)).on_acquired(say("more"), local_start, end), errc::timed_out);
}

TEST(AcquireEdges, HoldsAlsoWithoutATokenAndNotWithOneBelowTheFloor) {
  const step held = started(once).on_acquired(say_granted(lease, 0), local_start, start);
  ASSERT_TRUE(held.done);
  EXPECT_FALSE(held.done->code);
  auto above = test_claim(lease);
  above.floor = usual_major;
  acquire_machine machine = started(once, 1, above);
  expect_done(machine.on_acquired(say("granted", lease.count()), local_start, start),
              errc::timed_out, "a grant whose token is not above those before it");
}

TEST(AcquireEdges, AsksOnceWithoutAPlaceWhenTheServerGaveItNone) {
  auto queues = test_claim(lease);
  queues.waits = true;
  const monotonic_time end = local_start + seconds(1);
  acquire_machine machine = started(until(end), 1, queues);
  EXPECT_EQ(machine.on_acquired(say("busy"), local_start, start),
            (step{.send = ask::acquire, .resend = true, .wake_at = end}));
  EXPECT_EQ(machine.on_acquired(say("busy"), local_start, start).send, ask::nothing);
  acquire_machine late = started(until(end), 1, queues);
  expect_done(late.on_acquired(say("busy"), local_start, end), errc::timed_out);
}

TEST(AcquireEdges, AsksAtOnceWhenTheHoldersLeaseIsOver) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const milliseconds left : {milliseconds(0), milliseconds(-5)}) {
      acquire_machine machine = started(for_ever, seed);
      for (int i = 0; i < 4; ++i) {
        const step next = machine.on_acquired(say("busy for", left.count()), local_start, start);
        EXPECT_LE(next.wake_at.value(), local_start + milliseconds(2));
        machine.on_timer(start);
      }
    }
  }
}

TEST(AcquireEdges, GivesBackOnceMoreWhatTheServerDidNotFinish) {
  acquire_machine machine = started(for_ever);
  const monotonic_time later = local_start + seconds(60);
  machine.on_acquired(say("granted", lease.count()), local_start, later);
  EXPECT_EQ(machine.on_given_back(say_back("more"), later).send, ask::release);
  ASSERT_TRUE(machine.on_given_back(say_back("released"), later).wake_at);
  // The next time it gives back a place in the queue.
  machine.on_timer(later + seconds(1));
  machine.on_stop(later + seconds(1));
  const step next = machine.on_acquired(say_queued(0, lease), later, later + seconds(1));
  EXPECT_EQ(next.send, ask::withdraw);
}

TEST(AcquireEdges, TellsOnceThatItMayBeHeldAlthoughItIsGivenBackAgainAndAgain) {
  acquire_machine machine = started(for_ever);
  const monotonic_time later = local_start + milliseconds(1);
  machine.on_acquired(say_granted(milliseconds(1), 0), local_start, later);
  const step next =
      machine.on_missing(no_answer::unknown, outcome{errc::unavailable, "no route"}, later);
  ASSERT_TRUE(next.done);
  machine.on_timer(*next.wake_at);
  EXPECT_FALSE(
      machine.on_missing(no_answer::unknown, outcome{errc::unavailable, "no route"}, *next.wake_at)
          .done);
}

TEST(AcquireEdges, NeedsNoDetailOfWhatWentMissing) {
  acquire_machine machine = started(once);
  const step last = machine.on_missing(no_answer::unknown, {errc::unavailable, {}}, start);
  expect_done(last, errc::unavailable);
  EXPECT_EQ(last.done->detail, "");
}

}  // namespace
}  // namespace holdfast::leasing
