#include "lease/quorum_lease.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "lease/deadline.hpp"

namespace holdfast::leasing {

void PrintTo(const quorum_lease_step& what, std::ostream* out) { *out << to_string(what); }
void PrintTo(const quorum_release_step& what, std::ostream* out) { *out << to_string(what); }

namespace {

using std::chrono::seconds;
using substrate::not_mine;
using substrate::refused;
using substrate::released;
using substrate::renewed;

constexpr milliseconds lease{12'000};
constexpr monotonic_time start{std::chrono::hours(1)};
constexpr monotonic_time deadline = lease_deadline(start, lease);
constexpr monotonic_time third = start + seconds(4);
constexpr monotonic_time no_vote = monotonic_time::min();

quorum_lease_machine held(bool renews = true) {
  return {{.lease = lease, .renews = renews},
          {.deadlines = {deadline, deadline, no_vote}, .asked_at = start}};
}
quorum_lease_machine renewing() {
  auto machine = held();
  EXPECT_EQ(machine.on_timer(third).renew, (std::vector<std::size_t>{0, 1, 2}));
  return machine;
}

TEST(QuorumLease, is_renewed_at_all_members_at_a_third_of_the_lease) {
  auto machine = held();
  EXPECT_EQ(machine.start(), quorum_lease_step{.wake_at = third});
  EXPECT_EQ(machine.on_timer(third),
            (quorum_lease_step{.renew = {0, 1, 2}, .wake_at = third + seconds(1)}));
}

TEST(QuorumLease, lasts_as_long_as_a_majority) {
  auto machine = renewing();
  machine.on_kept(0, renewed{lease}, third, third);
  EXPECT_EQ(machine.deadline(), deadline);
  const auto step = machine.on_kept(2, renewed{lease}, third, third);
  EXPECT_EQ(machine.deadline(), lease_deadline(third, lease));
  EXPECT_EQ(step.wake_at, third + seconds(4));
}

TEST(QuorumLease, tries_soon_again_until_a_majority_has_renewed) {
  auto machine = renewing();
  machine.on_kept(0, renewed{lease}, third, third);
  machine.on_missing(1, third);
  const auto soon = third + seconds(1);
  EXPECT_EQ(machine.on_kept(2, refused{errc::loading, true, {}}, third, third).wake_at, soon);
  EXPECT_EQ(machine.on_timer(soon).renew, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(QuorumLease, asks_nobody_twice_at_a_time) {
  auto machine = renewing();
  machine.on_kept(0, renewed{lease}, third, third);
  EXPECT_EQ(machine.on_timer(third + seconds(1)).renew, (std::vector<std::size_t>{0}));
}

TEST(QuorumLease, is_lost_when_no_majority_is_left) {
  auto machine = renewing();
  machine.on_kept(2, not_mine{}, third, third);
  EXPECT_TRUE(machine.held(third));
  EXPECT_EQ(machine.on_kept(0, not_mine{}, third, third), quorum_lease_step{.lost = true});
  EXPECT_FALSE(machine.held(third));
  EXPECT_EQ(machine.on_kept(1, renewed{lease}, third, third), quorum_lease_step{});
}

TEST(QuorumLease, is_held_by_a_late_vote_in_the_place_of_one_that_is_gone) {
  auto machine = held();
  const auto soon = start + milliseconds(1);
  EXPECT_EQ(machine.confirm(2), quorum_lease_step{.renew = {2}});
  EXPECT_EQ(machine.on_kept(2, renewed{lease}, soon, soon), quorum_lease_step{.wake_at = third});
  EXPECT_EQ(machine.on_timer(third).renew, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_FALSE(machine.on_kept(0, not_mine{}, third, third).lost);
  EXPECT_TRUE(machine.held(third));
  EXPECT_EQ(machine.deadline(), deadline);
  EXPECT_TRUE(machine.on_kept(1, not_mine{}, third, third).lost);
}

TEST(QuorumLease, confirms_nothing_when_it_is_over) {
  auto machine = held();
  machine.on_released();
  EXPECT_EQ(machine.confirm(2), quorum_lease_step{});
}

TEST(QuorumLease, is_lost_at_its_deadline_whatever_is_answered_then) {
  auto machine = renewing();
  machine.on_kept(0, renewed{lease}, third, third);
  EXPECT_TRUE(machine.on_kept(1, renewed{lease}, third, deadline).lost);
  auto silent = held();
  EXPECT_TRUE(silent.on_timer(deadline).lost);
}

TEST(QuorumLease, ends_at_its_deadline_to_the_nanosecond) {
  auto machine = held();
  EXPECT_TRUE(machine.held(deadline - nanoseconds(1)));
  EXPECT_FALSE(machine.held(deadline));
}

// It has said nothing about its vote.
TEST(QuorumLease, keeps_the_vote_of_a_member_that_refuses_to_renew) {
  auto machine = renewing();
  for (const std::size_t member : {0U, 1U}) {
    machine.on_kept(member, refused{errc::loading, true, {}}, third, third);
  }
  EXPECT_TRUE(machine.held(third));
  EXPECT_EQ(machine.deadline(), deadline);
}

TEST(QuorumLease, bears_the_loss_of_a_minority) {
  auto machine = renewing();
  for (const std::size_t member : {0U, 2U}) {
    machine.on_kept(member, renewed{lease}, third, third);
  }
  EXPECT_FALSE(machine.on_kept(1, not_mine{}, third, third).lost);
  EXPECT_EQ(machine.deadline(), lease_deadline(third, lease));
}

TEST(QuorumLease, is_not_renewed_when_it_is_fixed_but_may_be_extended) {
  auto machine = held(false);
  EXPECT_EQ(machine.start(), quorum_lease_step{.wake_at = deadline});
  EXPECT_TRUE(machine.on_timer(third).renew.empty());
  EXPECT_EQ(machine.extend(2 * lease, third).renew.size(), 3U);
  EXPECT_EQ(machine.unanswered(), 3U);
  machine.on_kept(0, renewed{2 * lease}, third, third);
  machine.on_kept(1, renewed{2 * lease}, third, third);
  EXPECT_EQ(machine.renewed(), 2U);
  EXPECT_EQ(machine.deadline(), lease_deadline(third, 2 * lease));
}

// A member whose clock was set back says that more is left than anybody asked for.
TEST(QuorumLease, believes_no_longer_than_was_asked_for) {
  constexpr milliseconds blip = std::chrono::hours(1);
  auto machine = renewing();
  machine.on_kept(0, renewed{blip}, third, third);
  machine.on_kept(1, renewed{blip}, third, third);
  EXPECT_EQ(machine.deadline(), lease_deadline(third, lease));
  machine.extend(2 * lease, third);
  machine.on_kept(0, renewed{blip}, third, third);
  machine.on_kept(1, renewed{blip}, third, third);
  EXPECT_EQ(machine.deadline(), lease_deadline(third, 2 * lease));
}

TEST(QuorumLease, is_extended_also_where_a_renewal_is_under_way) {
  auto machine = renewing();
  EXPECT_EQ(machine.extend(2 * lease, third).renew.size(), 3U);
  machine.on_kept(0, renewed{lease}, third, third);
  EXPECT_EQ(machine.unanswered(), 3U);
}

TEST(QuorumLease, says_nothing_after_its_release) {
  auto machine = renewing();
  machine.on_released();
  EXPECT_EQ(machine.on_timer(deadline), quorum_lease_step{});
  EXPECT_EQ(machine.on_kept(0, not_mine{}, third, third), quorum_lease_step{});
}

// The question for a vote may arrive until its not-after, unless the vote came.
TEST(QuorumLease, doubts_what_was_not_answered_when_it_was_won) {
  const auto won_at = start + milliseconds(5);
  quorum_lease_machine machine{{.lease = lease, .response_timeout = seconds(2)},
                               {.deadlines = {no_vote, deadline, deadline, no_vote, deadline},
                                .asked_at = start,
                                .won_at = won_at,
                                .in_doubt = {0, 3}}};
  const auto answered_by = too_late_from(won_at, seconds(2));
  EXPECT_EQ(machine.in_doubt(answered_by - nanoseconds(1)), (std::vector<std::size_t>{0, 3}));
  EXPECT_TRUE(machine.is_in_doubt(3, start));
  EXPECT_FALSE(machine.is_in_doubt(1, start));
  EXPECT_TRUE(machine.in_doubt(answered_by).empty());
  machine.confirm(0);
  EXPECT_EQ(machine.in_doubt(start), std::vector<std::size_t>{3});
  EXPECT_FALSE(machine.has_renewed()) << "what was confirmed has voted before";
  machine.on_timer(third);
  EXPECT_TRUE(machine.has_renewed());
}

// ---- giving back

constexpr monotonic_time late = start + seconds(2);

quorum_release_machine giving_back(std::vector<std::size_t> at = {0, 1, 2},
                                   std::vector<std::size_t> in_doubt = {}) {
  quorum_release_machine machine({.at = at, .in_doubt = in_doubt, .until = deadline}, 3, late, 7);
  EXPECT_EQ(machine.start().send, at);
  return machine;
}

TEST(QuorumRelease, is_done_when_a_majority_has_done_it) {
  auto machine = giving_back();
  EXPECT_EQ(machine.on_released(2, released{}, start), quorum_release_step{});
  EXPECT_EQ(machine.on_released(0, released{}, start), quorum_release_step{.done = outcome{}});
  EXPECT_EQ(machine.on_released(1, not_mine{}, start), quorum_release_step{.finished = true});
}

TEST(QuorumRelease, is_done_when_most_of_those_who_answer_had_it) {
  auto machine = giving_back();
  machine.on_missing(0, no_answer::unknown, start);
  machine.on_missing(1, no_answer::not_sent, start);
  const auto step = machine.on_released(2, released{}, start);
  EXPECT_EQ(step.done, outcome{});
  EXPECT_FALSE(step.finished);
}

TEST(QuorumRelease, finds_out_that_it_was_lost) {
  auto machine = giving_back();
  machine.on_released(0, not_mine{}, start);
  machine.on_released(1, released{}, start);
  const auto step = machine.on_released(2, not_mine{}, start);
  ASSERT_TRUE(step.done);
  EXPECT_EQ(step.done->code, errc::lost);
  EXPECT_TRUE(step.finished);
}

TEST(QuorumRelease, tries_again_where_there_was_no_answer_until_all_is_over) {
  auto machine = giving_back({1});
  const auto step = machine.on_missing(1, no_answer::unknown, start);
  ASSERT_TRUE(step.done);
  EXPECT_EQ(step.done->code, errc::unavailable);
  ASSERT_TRUE(step.wake_at);
  EXPECT_LE(*step.wake_at, start + milliseconds(500));
  EXPECT_EQ(machine.on_timer(*step.wake_at).send, (std::vector<std::size_t>{1}));
  // The first copy did it, or the vote is still to come: the timer is set.
  EXPECT_EQ(machine.on_released(1, not_mine{}, start), quorum_release_step{.wake_at = late});

  auto silent = giving_back({1});
  silent.on_missing(1, no_answer::unknown, start);
  EXPECT_TRUE(silent.on_timer(deadline).finished);
}

// Where the answer was lost, the first copy may have done it: so the second says nothing about who
// had the lock. Where it was not even sent, it was lost before.
TEST(QuorumRelease, takes_for_its_own_deed_what_it_finds_done_after_a_lost_answer) {
  const auto told_after = [](no_answer how) {
    auto machine = giving_back();
    const auto retry = machine.on_missing(0, how, start).wake_at.value();
    EXPECT_EQ(machine.on_timer(retry).send, (std::vector<std::size_t>{0}));
    machine.on_released(0, not_mine{}, retry);
    machine.on_released(1, not_mine{}, retry);
    return machine.on_released(2, released{}, retry).done.value().code;
  };
  EXPECT_EQ(told_after(no_answer::unknown), std::nullopt);
  EXPECT_EQ(told_after(no_answer::not_sent), errc::lost);
}

// One that has not answered, and one whose vote may come yet.
TEST(QuorumRelease, goes_on_until_the_last_vote_is_back) {
  auto machine = giving_back({0, 1}, {1});
  machine.on_released(1, not_mine{}, start);
  EXPECT_FALSE(machine.on_missing(0, no_answer::not_sent, start).finished);
}

// Two members that fail in turns, again and again, and one that never answers.
TEST(QuorumRelease, tells_its_caller_in_time_though_there_is_always_one_that_has_not_answered) {
  for (const bool one_did_it : {false, true}) {
    auto machine = giving_back();
    if (one_did_it) machine.on_released(2, released{}, start);
    auto wake_at = late;
    auto step = machine.on_missing(0, no_answer::not_sent, start);
    while (!step.done) {
      wake_at = step.wake_at.value_or(wake_at);
      ASSERT_LE(wake_at, late);
      step = machine.on_timer(wake_at);
      if (step.done) break;
      wake_at = step.wake_at.value_or(wake_at);
      if (!step.send.empty()) step = machine.on_missing(0, no_answer::not_sent, wake_at);
    }
    EXPECT_EQ(step.done->code, one_did_it ? std::nullopt : std::optional{errc::unavailable});
    EXPECT_FALSE(step.finished) << "it is tried on";
  }
}

TEST(QuorumRelease, tells_its_caller_when_each_member_was_tried_once) {
  auto machine = giving_back();
  const auto first = machine.on_missing(0, no_answer::not_sent, start);
  EXPECT_EQ(machine.on_timer(*first.wake_at).send, (std::vector<std::size_t>{0}));
  EXPECT_FALSE(machine.on_missing(1, no_answer::unknown, late - seconds(1)).done);
  EXPECT_TRUE(machine.on_missing(2, no_answer::unknown, late - seconds(1)).done)
      << "the other one is asked for the second time";
}

// The question for the vote was lost, and comes when the release has been there.
TEST(QuorumRelease, asks_again_where_a_vote_may_come_yet_when_it_is_too_late_for_that) {
  auto machine = giving_back({0, 1, 2}, {1});
  machine.on_released(0, released{}, start);
  EXPECT_EQ(machine.on_released(1, not_mine{}, start), quorum_release_step{});
  // The caller does not wait for that, and the timer was set when it began.
  EXPECT_EQ(machine.on_released(2, released{}, start), quorum_release_step{.done = outcome{}});
  EXPECT_EQ(machine.on_timer(late), quorum_release_step{.send = {1}});
  EXPECT_EQ(machine.on_released(1, not_mine{}, late), quorum_release_step{.finished = true});
}

TEST(QuorumRelease, asks_no_more_where_the_vote_has_come) {
  auto machine = giving_back({1}, {1});
  EXPECT_EQ(machine.on_released(1, released{}, start),
            (quorum_release_step{.done = outcome{}, .finished = true}));
}

// The vote that is found there came of the renewal, and the question comes when the release has
// been there.
TEST(QuorumRelease, asks_again_where_a_renewal_may_have_voted) {
  quorum_release_machine machine({.at = {1}, .in_doubt = {1}, .renewed = true, .until = deadline},
                                 3, late, 7);
  machine.start();
  EXPECT_EQ(machine.on_released(1, released{}, start), quorum_release_step{.done = outcome{}});
  EXPECT_EQ(machine.on_timer(late), quorum_release_step{.send = {1}});
  EXPECT_EQ(machine.on_released(1, released{}, late), quorum_release_step{.finished = true});
}

// A retry that comes sooner does not put it off, nor hurry it.
TEST(QuorumRelease, tries_again_where_there_was_no_answer_before_it_is_late) {
  auto machine = giving_back({0, 1}, {1});
  EXPECT_EQ(machine.on_released(1, not_mine{}, start), quorum_release_step{});
  const auto soon = machine.on_missing(0, no_answer::not_sent, start).wake_at;
  ASSERT_TRUE(soon);
  EXPECT_LT(*soon, late);
  EXPECT_EQ(machine.on_timer(*soon).send, (std::vector<std::size_t>{0}));
  EXPECT_EQ(machine.on_released(0, released{}, *soon), quorum_release_step{.wake_at = late});
  EXPECT_EQ(machine.on_timer(late).send, (std::vector<std::size_t>{1}));
  // Sent when it was too late for anything else: only the release is lost now.
  machine.on_missing(1, no_answer::unreachable, late);
  EXPECT_TRUE(machine.on_timer(deadline).finished);
}

TEST(QuorumRelease, takes_a_refusal_for_no_answer) {
  auto machine = giving_back();
  const auto step = machine.on_released(0, refused{errc::loading, true, {}}, start);
  EXPECT_TRUE(step.wake_at);
  EXPECT_FALSE(step.done);
}

}  // namespace
}  // namespace holdfast::leasing
