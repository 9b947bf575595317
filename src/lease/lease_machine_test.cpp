#include "lease/lease_machine.hpp"

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <random>
#include <vector>

#include "lease/answers_for_tests.hpp"
#include "lease/deadline.hpp"
#include "lease/step_text_for_tests.hpp"
#include "substrate/claim.hpp"

namespace holdfast::leasing {

void PrintTo(const lease_step& what, std::ostream* out) { *out << to_string(what); }

namespace {

using std::chrono::seconds;
using substrate::late;
using substrate::not_mine;
using substrate::refused;
using substrate::renewed;

constexpr milliseconds lease{12'000};
constexpr monotonic_time deadline = lease_deadline(local_start, lease);
constexpr monotonic_time early = local_start + seconds(1);
constexpr monotonic_time later = local_start + seconds(5);  // renewing since the third
constexpr monotonic_time third = local_start + seconds(4);

const refused passing{errc::out_of_memory, true, "OOM"};
const refused permanent{errc::permission_denied, false, "NOPERM"};

lease_machine held() { return {lease, true, lease, local_start, deadline}; }
lease_machine fixed() { return {lease, false, lease, local_start, deadline}; }
lease_machine renewing() {
  lease_machine machine = held();
  EXPECT_TRUE(machine.on_timer(third).renew);
  return machine;
}
lease_machine lost() {
  lease_machine machine = held();
  EXPECT_TRUE(machine.on_timer(deadline).lost);
  return machine;
}

lease_step wake(monotonic_time at) { return {.wake_at = at}; }
lease_step renew_until(monotonic_time end) { return {.renew = true, .wake_at = end}; }
const lease_step is_lost{.lost = true};
const lease_step nothing{};

// Events of the table. They come at `now`; requests were sent 100 ms before that.
enum class event { timer, renewal, foreign, silence, refusal, denial, lateness, extension };

lease_step play(lease_machine& machine, event what, monotonic_time now) {
  const monotonic_time sent_at = now - milliseconds(100);
  switch (what) {
    case event::timer:
      return machine.on_timer(now);
    case event::renewal:
      return machine.on_renewed(renewed{lease}, sent_at, now);
    case event::foreign:
      return machine.on_renewed(not_mine{}, sent_at, now);
    case event::silence:
      return machine.on_missing(now);
    case event::refusal:
      return machine.on_renewed(passing, sent_at, now);
    case event::denial:
      return machine.on_renewed(permanent, sent_at, now);
    case event::lateness:
      return machine.on_renewed(late{server_start}, sent_at, now);
    case event::extension:
      return machine.on_extended(seconds(60), seconds(60), sent_at, now);
  }
  return {};
}

constexpr event all_events[] = {event::timer,   event::renewal, event::foreign,  event::silence,
                                event::refusal, event::denial,  event::lateness, event::extension};

struct cell {
  const char* state;
  lease_machine before;
  event what;
  monotonic_time at;
  lease_step expected;
};

TEST(LeaseMachine, FollowsItsTable) {
  constexpr monotonic_time sent = later - milliseconds(100);
  constexpr monotonic_time extended = lease_deadline(sent, seconds(60));
  const std::vector<cell> table = {
      {"held", held(), event::timer, early, wake(third)},
      {"held", held(), event::timer, third, renew_until(deadline)},
      {"held", held(), event::renewal, early, wake(early - milliseconds(100) + lease / 3)},
      {"held", held(), event::foreign, early, is_lost},
      {"held", held(), event::silence, early, nothing},
      {"held", held(), event::refusal, early, nothing},
      {"held", held(), event::denial, early, nothing},
      {"held", held(), event::lateness, early, nothing},
      {"held", held(), event::extension, early, wake(third)},
      {"renewing", renewing(), event::timer, later, wake(deadline)},
      {"renewing", renewing(), event::renewal, later, wake(sent + lease / 3)},
      {"renewing", renewing(), event::foreign, later, is_lost},
      {"renewing", renewing(), event::silence, later, wake(later + seconds(1))},
      {"renewing", renewing(), event::refusal, later, wake(later + seconds(1))},
      {"renewing", renewing(), event::denial, later, wake(later + seconds(1))},
      {"renewing", renewing(), event::lateness, later, renew_until(deadline)},
      {"renewing", renewing(), event::extension, later, wake(extended)},
      {"fixed", fixed(), event::timer, third, wake(deadline)},
      {"fixed", fixed(), event::extension, later, wake(extended)},
  };
  for (const cell& one : table) {
    lease_machine machine = one.before;
    EXPECT_EQ(play(machine, one.what, one.at), one.expected)
        << one.state << ", event " << static_cast<int>(one.what);
  }
}

TEST(LeaseMachine, LeasesOfABeatAreRenewedTogether) {
  const auto third_of = [](monotonic_time granted_at) { return granted_at + lease / 3; };
  for (const std::uint16_t beat : {0, 5, 16383}) {
    std::map<monotonic_time, int> due;
    for (auto granted_at = local_start; granted_at < local_start + lease / 3;
         granted_at += milliseconds(7)) {
      lease_machine one(lease, true, lease, granted_at, lease_deadline(granted_at, lease), beat);
      const auto first = one.start().wake_at.value();
      EXPECT_LE(first, third_of(granted_at));
      EXPECT_GT(first, granted_at);
      EXPECT_TRUE(one.on_timer(first + milliseconds(100)).renew);
      const auto sent_at = first + milliseconds(100);
      const auto second = one.on_renewed(renewed{lease}, sent_at, sent_at + milliseconds(1));
      EXPECT_EQ(second.wake_at, third_of(first)) << "they keep their rhythm";
      EXPECT_EQ(first.time_since_epoch() % (nanoseconds(lease) / 3),
                nanoseconds(lease) / 3 / lease_machine::beats * beat);
      ++due[second.wake_at.value()];
    }
    EXPECT_LE(due.size(), 2U) << "at one of its moments, or the next";
  }
  lease_machine alone(lease, true, lease, local_start, deadline, 9);
  lease_machine other(lease, true, lease, local_start, deadline, 8000);
  EXPECT_NE(alone.start().wake_at, other.start().wake_at) << "not all at once";
}

TEST(LeaseMachine, EveryEventAtTheDeadlineMeansLost) {
  for (const event what : all_events) {
    for (const lease_machine& before : {held(), renewing(), fixed()}) {
      lease_machine machine = before;
      EXPECT_EQ(play(machine, what, deadline), is_lost) << static_cast<int>(what);
      EXPECT_FALSE(machine.held(local_start));
    }
  }
}

TEST(LeaseMachine, NothingHappensOnceLost) {
  for (const event what : all_events) {
    for (const monotonic_time at : {local_start, third, deadline, deadline + seconds(60)}) {
      lease_machine machine = lost();
      EXPECT_EQ(play(machine, what, at), nothing) << static_cast<int>(what);
      EXPECT_FALSE(machine.held(local_start));
      EXPECT_EQ(machine.deadline(), deadline);
    }
  }
}

TEST(LeaseMachine, WakesAtAThirdOfTheLeaseOrAtTheDeadlineWhenItIsNotRenewed) {
  EXPECT_EQ(held().start(), wake(third));
  EXPECT_EQ(fixed().start(), wake(deadline));
}

TEST(LeaseMachine, WakesAtTheDeadlineWhenThatComesBeforeTheFirstRenewal) {
  lease_machine short_grant(lease, true, lease, local_start, local_start + seconds(1));
  EXPECT_EQ(short_grant.start(), wake(local_start + seconds(1)));
}

TEST(LeaseMachine, IsHeldUntilJustBeforeTheDeadline) {
  EXPECT_TRUE(held().held(deadline - nanoseconds(1)));
  EXPECT_FALSE(held().held(deadline));
}

TEST(LeaseMachine, CountsTheRenewedLeaseFromTheSendingOfTheRenewal) {
  lease_machine machine = renewing();
  machine.on_renewed(renewed{lease}, third, third + seconds(3));
  EXPECT_EQ(machine.deadline(), lease_deadline(third, lease));
}

TEST(LeaseMachine, ARenewalThatWouldEndEarlierKeepsTheLaterDeadline) {
  lease_machine machine = renewing();
  EXPECT_EQ(machine.on_renewed(renewed{seconds(1)}, third, third), wake(third + lease / 3));
  EXPECT_EQ(machine.deadline(), deadline);
}

TEST(LeaseMachine, RetriesAFailedRenewalUntilTheDeadlineAndIsThenLostOnce) {
  lease_machine machine = held();
  monotonic_time now = *machine.start().wake_at;
  int renewals = 0;
  while (true) {
    const lease_step due = machine.on_timer(now);
    if (due.lost) break;
    ASSERT_TRUE(due.renew);
    ASSERT_LT(++renewals, 100);
    const lease_step after = machine.on_missing(now);
    ASSERT_EQ(after, wake(std::min(now + seconds(1), deadline)));
    now = *after.wake_at;
  }
  EXPECT_EQ(now, deadline);
  EXPECT_EQ(renewals, 8);  // at 4, 5 ... 11 s of 11.878 s
  EXPECT_EQ(machine.on_timer(now), nothing);
}

TEST(LeaseMachine, RetriesAShortLeaseAfterATwelfthOfIt) {
  constexpr milliseconds brief{1200};
  lease_machine machine(brief, true, brief, local_start, lease_deadline(local_start, brief));
  ASSERT_TRUE(machine.on_timer(local_start + milliseconds(400)).renew);
  EXPECT_EQ(machine.on_missing(local_start + milliseconds(450)),
            wake(local_start + milliseconds(550)));
}

TEST(LeaseMachine, RetriesAClaimAfterATwelfthOfIt) {
  lease_machine machine(lease, true, substrate::longest_claim, local_start,
                        lease_deadline(local_start, substrate::longest_claim));
  const monotonic_time due = *machine.start().wake_at;
  ASSERT_TRUE(machine.on_timer(due).renew);
  EXPECT_EQ(machine.on_missing(due), wake(due + nanoseconds(substrate::longest_claim) / 12));
}

TEST(LeaseMachine, RetriesALongLeaseAfterASecond) {
  lease_machine machine(seconds(3600), true, seconds(3600), local_start,
                        local_start + seconds(3000));
  ASSERT_TRUE(machine.on_timer(local_start + seconds(1200)).renew);
  EXPECT_EQ(machine.on_missing(local_start + seconds(1200)), wake(local_start + seconds(1201)));
}

TEST(LeaseMachine, ASecondLateRenewalInARowIsRetriedSoonNotAtOnce) {
  lease_machine machine = renewing();
  EXPECT_EQ(play(machine, event::lateness, third), renew_until(deadline));
  EXPECT_EQ(play(machine, event::lateness, third), wake(third + seconds(1)));
  ASSERT_TRUE(machine.on_timer(third + seconds(1)).renew);
  play(machine, event::renewal, third + seconds(1));
  ASSERT_TRUE(machine.on_timer(third + seconds(5)).renew);
  EXPECT_TRUE(play(machine, event::lateness, third + seconds(5)).renew) << "forgotten by a success";
}

TEST(LeaseMachine, AnExtendedLeaseIsStillRenewedInTheUsualRhythm) {
  lease_machine machine = held();
  machine.on_extended(seconds(3600), seconds(3600), local_start, local_start + seconds(1));
  EXPECT_EQ(machine.deadline(), lease_deadline(local_start, seconds(3600)));
  EXPECT_EQ(machine.on_timer(third), renew_until(machine.deadline()));
}

TEST(LeaseMachine, RemembersTheLongestExtensionUntilOneIsAnswered) {
  lease_machine machine = held();
  EXPECT_EQ(machine.may_be_extended_by(), milliseconds(0));
  machine.on_extending(seconds(60));
  machine.on_extending(seconds(50));
  EXPECT_EQ(machine.may_be_extended_by(), seconds(60));
  machine.on_extended(seconds(60), seconds(60), local_start, local_start + seconds(1));
  EXPECT_EQ(machine.may_be_extended_by(), milliseconds(0));
}

// A server whose clock was set back says that more is left than anybody asked for.
TEST(LeaseMachine, BelievesNoLongerThanWasAskedFor) {
  constexpr monotonic_time sent = later - milliseconds(100);
  constexpr milliseconds blip = std::chrono::hours(1);
  lease_machine renewed_in_it = renewing();
  renewed_in_it.on_renewed(renewed{lease + blip}, sent, later);
  EXPECT_EQ(renewed_in_it.deadline(), lease_deadline(sent, lease));

  for (lease_machine machine : {held(), fixed()}) {
    machine.on_extending(seconds(60));
    machine.on_extended(seconds(60) + blip, seconds(60), sent, later);
    EXPECT_EQ(machine.deadline(), lease_deadline(sent, seconds(60)));
  }

  lease_machine shortened = fixed();
  shortened.on_extended(blip, milliseconds(10), sent, later);
  EXPECT_EQ(shortened.deadline(), lease_deadline(sent, lease)) << "as asked for at first";

  constexpr milliseconds claim{1000};
  lease_machine claimed(lease, true, claim, local_start, lease_deadline(local_start, claim));
  claimed.on_renewed(renewed{blip}, local_start, early - milliseconds(100));
  EXPECT_EQ(claimed.deadline(), lease_deadline(local_start, lease));
}

// The server may have executed it, so a renewal may find it in force.
TEST(LeaseMachine, BelievesAnExtensionThatWasNotAnswered) {
  lease_machine machine = renewing();
  machine.on_extending(seconds(60));
  machine.on_renewed(renewed{seconds(59)}, third, later);
  EXPECT_EQ(machine.deadline(), lease_deadline(third, seconds(59)));
}

// One extension that is answered does not limit another, which is longer and still under way.
TEST(LeaseMachine, BelievesEachExtensionAsItWasAskedFor) {
  lease_machine machine = held();
  machine.on_extending(seconds(30));
  machine.on_extending(seconds(60));
  machine.on_extended(seconds(30), seconds(30), local_start, early);
  machine.on_extended(seconds(60), seconds(60), local_start, early);
  EXPECT_EQ(machine.deadline(), lease_deadline(local_start, seconds(60)));
}

TEST(LeaseMachine, AnExtensionNeverShortens) {
  lease_machine machine = held();
  machine.on_extended(milliseconds(10), milliseconds(10), local_start + seconds(1),
                      local_start + seconds(1));
  EXPECT_EQ(machine.deadline(), deadline);
}

TEST(LeaseMachine, AnExtendedFixedLeaseIsLostAtItsNewDeadline) {
  lease_machine machine = fixed();
  machine.on_extended(seconds(60), seconds(60), local_start + seconds(1), local_start + seconds(1));
  EXPECT_FALSE(machine.on_timer(deadline).lost);
  EXPECT_TRUE(machine.on_timer(lease_deadline(local_start + seconds(1), seconds(60))).lost);
}

TEST(LeaseMachine, NeverRenewsAFixedLease) {
  lease_machine machine = fixed();
  for (monotonic_time now = local_start; now < deadline; now += milliseconds(250)) {
    EXPECT_EQ(machine.on_timer(now), wake(deadline));
  }
}

// The runtime and the server act in any order; a failure names the seed.
TEST(LeaseMachine, KeepsItsPromisesUnderAnyEvents) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    std::mt19937_64 random(seed);
    lease_machine machine(lease, random() % 4 != 0, lease, local_start, deadline);
    monotonic_time now = local_start;
    bool over = false;
    bool renewal_under_way = false;
    for (int i = 0; i < 40; ++i) {
      now += milliseconds(random() % 2500);
      const monotonic_time deadline_before = machine.deadline();
      const event what = all_events[random() % std::size(all_events)];
      const lease_step next = play(machine, what, now);
      if (what != event::timer && what != event::extension) renewal_under_way = false;
      if (over) {
        ASSERT_EQ(next, nothing) << "seed " << seed;
      }
      ASSERT_FALSE(next.renew && renewal_under_way) << "seed " << seed;
      ASSERT_GE(machine.deadline(), deadline_before) << "seed " << seed;
      if (!over && now >= deadline_before) {
        ASSERT_TRUE(next.lost) << "seed " << seed;
      }
      if (next.wake_at) {
        ASSERT_LE(*next.wake_at, machine.deadline()) << "seed " << seed;
      }
      over = over || next.lost;
      renewal_under_way = renewal_under_way || next.renew;
      ASSERT_EQ(machine.held(now), !over && now < machine.deadline()) << "seed " << seed;
    }
  }
}

TEST(LeaseMachine, ConfirmsAtOnceWhatIsInDoubt) {
  lease_machine machine = held();
  EXPECT_FALSE(machine.is_doubted());
  EXPECT_EQ(machine.on_doubt(early), renew_until(deadline));
  EXPECT_TRUE(machine.is_doubted());
  lease_machine gone = machine;
  EXPECT_EQ(gone.on_renewed(not_mine{}, early, later), is_lost);
  const auto grown = machine.on_renewed(renewed{lease}, early, later);
  EXPECT_FALSE(machine.is_doubted());
  EXPECT_EQ(grown, wake(early + lease / 3));
  EXPECT_EQ(machine.deadline(), lease_deadline(early, lease));
}

TEST(LeaseMachine, IsNotConfirmedByWhatWasAskedBefore) {
  lease_machine machine = renewing();
  EXPECT_EQ(machine.on_doubt(later), nothing) << "a renewal is under way";
  EXPECT_TRUE(machine.on_renewed(renewed{lease}, early, later).renew);
  EXPECT_EQ(machine.on_renewed(renewed{lease}, later, later), wake(later + lease / 3));
}

TEST(LeaseMachine, ConfirmsAFixedLeaseWithoutProlongingIt) {
  lease_machine machine = fixed();
  EXPECT_EQ(machine.on_doubt(early), renew_until(deadline));
  EXPECT_EQ(machine.on_missing(early), wake(early + seconds(1)));
  EXPECT_EQ(machine.on_timer(early + seconds(1)), renew_until(deadline));
  EXPECT_EQ(machine.on_renewed(renewed{lease}, early, later), wake(deadline));
  EXPECT_EQ(machine.deadline(), deadline);
  lease_machine gone = fixed();
  EXPECT_TRUE(gone.on_doubt(early).renew);
  EXPECT_EQ(gone.on_renewed(not_mine{}, early, later), is_lost);
}

TEST(LeaseMachine, DoubtChangesNothingWhileARenewalIsUnderWayOrAfterTheEnd) {
  lease_machine machine = renewing();
  EXPECT_EQ(machine.on_doubt(later), nothing);
  EXPECT_EQ(lost().on_doubt(later), nothing);
  EXPECT_EQ(held().on_doubt(deadline), is_lost);
}

TEST(LeaseMachine, IsOverdueWhenRenewalsHaveFailedForAThirdOfTheLease) {
  const auto late_enough = deadline - nanoseconds(lease) / 3 + nanoseconds(1);
  auto machine = renewing();
  EXPECT_FALSE(machine.is_overdue(third));
  EXPECT_FALSE(machine.is_overdue(late_enough - nanoseconds(1)));
  EXPECT_TRUE(machine.is_overdue(late_enough));
  machine.on_renewed(renewed{lease}, late_enough, late_enough);
  EXPECT_FALSE(machine.is_overdue(late_enough));
  EXPECT_FALSE(fixed().is_overdue(late_enough));
  // Of a claim, little is left from the beginning.
  const lease_machine claim{lease, true, milliseconds(100), local_start,
                            local_start + milliseconds(100)};
  EXPECT_FALSE(claim.is_overdue(local_start + milliseconds(99)));
}

TEST(LeaseMachine, SaysHowLateARenewalIs) {
  const auto half_is_left = deadline - lease / 2;
  EXPECT_EQ(held().lateness(half_is_left), nanoseconds{0});
  const auto next = half_is_left + milliseconds(1);
  EXPECT_EQ(held().lateness(next), lease / 6 + milliseconds(1)) << "it was due at a third";
  EXPECT_EQ(fixed().lateness(next), nanoseconds{0}) << "it is not renewed";
  const lease_machine claim{lease, true, milliseconds(100), local_start,
                            local_start + milliseconds(100)};
  EXPECT_EQ(claim.lateness(local_start), nanoseconds{0}) << "it was never the whole lease";
}

TEST(LeaseMachine, MakesAClaimTheWholeLeaseAtAThirdOfIt) {
  const milliseconds claim(1000);
  lease_machine machine(lease, true, claim, local_start, lease_deadline(local_start, claim));
  const auto due = local_start + nanoseconds(claim) / 3;
  EXPECT_EQ(machine.start(), wake(due));
  EXPECT_TRUE(machine.on_timer(due).renew);
  machine.on_renewed(substrate::renewed{lease}, due, due + milliseconds(1));
  EXPECT_EQ(machine.deadline(), lease_deadline(due, lease));
}

// The claim is no shorter than the lease, but only a message has said so.
TEST(LeaseMachine, ConfirmsAClaimAsLongAsTheLease) {
  const milliseconds claim(600);
  const auto until = lease_deadline(local_start, claim);
  lease_machine renewed(claim, true, claim, local_start, until, {}, true);
  EXPECT_EQ(renewed.start(), wake(local_start + nanoseconds(claim) / 3));
  lease_machine fixed(claim, false, claim, local_start, until, {}, true);
  EXPECT_TRUE(fixed.start().renew);
  EXPECT_TRUE(fixed.on_renewed(substrate::not_mine{}, local_start, local_start).lost);
}

TEST(LeaseMachine, ConfirmsAClaimOfAFixedLeaseAtOnceAndNeverAgain) {
  const milliseconds claim(1000);
  lease_machine machine(lease, false, claim, local_start, lease_deadline(local_start, claim));
  EXPECT_TRUE(machine.start().renew);
  const auto next =
      machine.on_renewed(substrate::renewed{lease}, local_start, local_start + milliseconds(1));
  EXPECT_EQ(next, wake(lease_deadline(local_start, lease)));
  EXPECT_FALSE(machine.on_timer(local_start + nanoseconds(lease) / 2).renew);
}

}  // namespace
}  // namespace holdfast::leasing
