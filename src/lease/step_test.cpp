#include "lease/step.hpp"

#include <gtest/gtest.h>

#include "lease/answers_for_tests.hpp"
#include "lease/deadline.hpp"
#include "lease/lease_machine.hpp"
#include "lease/step_text_for_tests.hpp"

namespace holdfast::leasing {
namespace {

constexpr monotonic_time at_12_ms{milliseconds(12)};

TEST(Step, PrintsWhatItAsksFor) {
  EXPECT_EQ(to_string(step{}), "nothing");
  EXPECT_EQ(to_string(step{.send = ask::acquire}), "send acquire");
  EXPECT_EQ(to_string(step{.send = ask::withdraw, .wake_at = at_12_ms}),
            "send withdraw; wake at 12000000 ns");
  EXPECT_EQ(to_string(step{
                .send = ask::acquire, .resend = true, .learned = server_time(microseconds(5))}),
            "send acquire again; the server's time is 5 us");
}

TEST(Step, PrintsOutcomes) {
  step held{.done = acquire_outcome{}, .finished = true};
  held.done->grant = {.major = 5, .ttl = milliseconds(30)};
  held.done->deadline = at_12_ms;
  EXPECT_EQ(to_string(held), "done: held until 12000000 ns, major 5, ttl 30 ms; finished");

  step stopped{.done = acquire_outcome{.code = errc::cancelled}};
  EXPECT_EQ(to_string(stopped), "done: " + make_error_code(errc::cancelled).message());
  stopped.done->detail = "because";
  EXPECT_EQ(to_string(stopped), "done: because: " + make_error_code(errc::cancelled).message());
}

TEST(Step, PrintsReleases) {
  EXPECT_EQ(to_string(release_step{.send = ask::release, .resend = true}), "send release again");
  EXPECT_EQ(to_string(release_step{.done = outcome{}, .finished = true}),
            "done: released; finished");
  EXPECT_EQ(to_string(release_step{.done = outcome{errc::lost, ""}}),
            "done: " + make_error_code(errc::lost).message());
}

TEST(Step, PrintsWhatAHeldLeaseNeeds) {
  EXPECT_EQ(to_string(lease_step{}), "nothing");
  EXPECT_EQ(to_string(lease_step{.renew = true, .wake_at = at_12_ms}),
            "renew; wake at 12000000 ns");
  EXPECT_EQ(to_string(lease_step{.lost = true}), "lost");
}

TEST(Step, EveryMemberCountsInComparisons) {
  const step same{.send = ask::acquire};
  EXPECT_EQ(same, step{.send = ask::acquire});
  EXPECT_NE(same, step{.send = ask::release});
  EXPECT_NE(same, (step{.send = ask::acquire, .resend = true}));
  EXPECT_NE(same, (step{.send = ask::acquire, .wake_at = at_12_ms}));
  EXPECT_NE(same, (step{.send = ask::acquire, .done = acquire_outcome{}}));
  EXPECT_NE(same, (step{.send = ask::acquire, .finished = true}));
  EXPECT_NE(same, (step{.send = ask::acquire, .learned = server_start}));
}

TEST(LeaseDeadline, CountsFromTheSendingAndLeavesRoomForDriftAndMilliseconds) {
  EXPECT_EQ(lease_deadline(local_start, milliseconds(30'000)),
            local_start + milliseconds(30'000 - 300 - 2));
  EXPECT_EQ(lease_deadline(local_start, milliseconds(50)), local_start + microseconds(47'500));
}

// The correction of the clock that a kernel reports (chrony: up to 83,333 millionths by default).
TEST(LeaseDeadline, LeavesMoreRoomWhileTheClockIsCorrected) {
  EXPECT_EQ(rate_allowance_for(0), 10'000);
  EXPECT_EQ(rate_allowance_for(500), 10'000);
  EXPECT_EQ(rate_allowance_for(-500), 10'000);
  EXPECT_EQ(rate_allowance_for(83'333), 92'833);
  EXPECT_EQ(rate_allowance_for(-83'333), 92'833);

  const auto before = rate_allowance().exchange(rate_allowance_for(-83'333));
  const milliseconds lease{30'000};
  const monotonic_time until = lease_deadline(local_start, lease);
  const monotonic_time no_copies_from = too_late_from(local_start, milliseconds(1000));
  rate_allowance() = before;
  // Our clock shows less than has passed: at most 30 s may have.
  EXPECT_EQ(until, local_start + milliseconds(30'000 - 2) - microseconds(2'784'990));
  EXPECT_LT((until - local_start) * 1'000'000 / (1'000'000 - 83'333), nanoseconds(lease));
  EXPECT_EQ(no_copies_from, local_start + milliseconds(1002) + microseconds(92'833));
}

TEST(LeaseDeadline, IsBeforeTheSendingForALeaseTooShortToBelieve) {
  EXPECT_LT(lease_deadline(local_start, milliseconds(2)), local_start);
}

TEST(LeaseDeadline, IsFarEnoughForTheTimeThatIsNeeded) {
  EXPECT_EQ(lease_with_deadline_in(milliseconds(9898)), milliseconds(10'000));
  EXPECT_EQ(lease_with_deadline_in(milliseconds(9898) + nanoseconds(1)), milliseconds(10'002));
  EXPECT_EQ(lease_with_deadline_in(nanoseconds(0)), milliseconds(3));
  for (int micros = 0; micros < 300'000; micros += 777) {
    const nanoseconds left = microseconds(micros);
    const auto enough = lease_with_deadline_in(left);
    EXPECT_GE(lease_deadline(local_start, enough), local_start + left);
    EXPECT_LT(lease_deadline(local_start, enough - milliseconds(2)), local_start + left);
  }
  // With this correction a millisecond less would end it one nanosecond too early.
  const auto before = rate_allowance().exchange(rate_allowance_for(501));
  const nanoseconds left = milliseconds(980'100 - 2);
  const monotonic_time until = lease_deadline(local_start, lease_with_deadline_in(left));
  rate_allowance() = before;
  EXPECT_GE(until, local_start + left);
}

TEST(Step, SaysThatWhatWasChangedIsLost) {
  EXPECT_EQ(to_string(step{.finished = true, .cannot_undo = true}),
            "what was changed is lost; finished");
}

}  // namespace
}  // namespace holdfast::leasing
