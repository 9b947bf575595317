#include "lease/quorum_machine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <ostream>

#include "lease/deadline.hpp"

namespace holdfast::leasing {

void PrintTo(const quorum_step& what, std::ostream* out) { *out << to_string(what); }

namespace {

using substrate::busy;
using substrate::granted;
using substrate::late;
using substrate::not_mine;
using substrate::refused;
using substrate::renewed;
using substrate::staying_out;
using substrate::voted_before;
using substrate::without_memory;
using what = member_ask::what;

constexpr milliseconds lease{10'000};
constexpr milliseconds member_timeout{500};
constexpr monotonic_time start{std::chrono::hours(1)};
constexpr monotonic_time after(milliseconds passed) { return start + passed; }

const std::array<std::string, 5> names{"a", "b", "c", "d", "e"};
const granted first{101, lease};
const granted second{102, lease};
const granted third{103, lease};
const busy elsewhere{milliseconds(4'000)};

constexpr patience once{};
constexpr patience waiting{.waits = true, .give_up_at = start + milliseconds(60'000)};

// A quorum whose members say what the test wants, each `trip` after it was asked.
class QuorumMachine : public ::testing::Test {
 protected:
  static constexpr milliseconds trip{10};

  quorum_machine make(std::size_t members, patience how_long) {
    return {how_long,
            {.names = std::span(names).first(members),
             .lease = lease,
             .member_timeout = member_timeout}};
  }
  quorum_machine begun(std::size_t members, patience how_long = once) {
    auto machine = make(members, how_long);
    EXPECT_EQ(machine.start(start).send.size(), members);
    return machine;
  }
  quorum_step vote(quorum_machine& machine, std::size_t member, const substrate::vote& said,
                   monotonic_time now = after(trip)) {
    return machine.on_vote(machine.attempt(), member, said, start, now);
  }
  quorum_step agree(quorum_machine& machine, std::size_t member,
                    const substrate::renew_verdict& said = renewed{lease},
                    monotonic_time now = after(2 * trip)) {
    return machine.on_agreed(machine.attempt(), member, said, now);
  }
  static std::vector<member_ask> asks(std::initializer_list<std::size_t> members, what which) {
    std::vector<member_ask> all;
    for (const auto member : members) all.push_back({member, which});
    return all;
  }
  static void expect_held(const quorum_step& step) {
    ASSERT_TRUE(step.done) << to_string(step);
    EXPECT_FALSE(step.done->code) << step.done->detail;
  }
  static void expect_failed(const quorum_step& step, errc code) {
    ASSERT_TRUE(step.done) << to_string(step);
    EXPECT_EQ(step.done->code, code) << step.done->detail;
  }
};

TEST(majority, is_more_than_half) {
  EXPECT_EQ(majority_of(1), 1U);
  EXPECT_EQ(majority_of(2), 2U);
  EXPECT_EQ(majority_of(3), 2U);
  EXPECT_EQ(majority_of(4), 3U);
  EXPECT_EQ(majority_of(5), 3U);
}

TEST(majority, lasts_until_the_deadline_that_a_majority_reaches) {
  const auto none = monotonic_time::min();
  const std::array five{after(milliseconds(5)), none, after(milliseconds(9)),
                        after(milliseconds(7)), none};
  EXPECT_EQ(majority_deadline(five), after(milliseconds(5)));
  const std::array three{none, none, after(milliseconds(9))};
  EXPECT_EQ(majority_deadline(three), none);
}

TEST_F(QuorumMachine, asks_all_members_at_once_with_a_new_request) {
  auto machine = make(3, once);
  EXPECT_EQ(machine.start(start), (quorum_step{.new_request = true,
                                               .send = asks({0, 1, 2}, what::vote),
                                               .wake_at = start + member_timeout}));
}

TEST_F(QuorumMachine, holds_when_a_majority_has_voted_with_the_same_token) {
  auto machine = begun(5);
  EXPECT_EQ(vote(machine, 4, first), quorum_step{});
  EXPECT_EQ(vote(machine, 1, first), quorum_step{});
  const auto step = vote(machine, 0, first);
  expect_held(step);
  EXPECT_EQ(machine.token(), 101U);
  const auto end = lease_deadline(start, lease);
  const auto none = monotonic_time::min();
  EXPECT_EQ(step.done->deadlines, (std::vector{end, end, none, none, end}));
  EXPECT_EQ(step.done->asked_at, start);
  // Later votes are confirmed, and come back with the others.
  EXPECT_EQ(vote(machine, 2, second), (quorum_step{.send = asks({2}, what::confirm)}));
  EXPECT_EQ(vote(machine, 2, second), quorum_step{}) << "once";
  EXPECT_EQ(vote(machine, 3, elsewhere), quorum_step{});
}

TEST_F(QuorumMachine, has_a_majority_agree_to_the_largest_token_where_they_differ) {
  auto machine = begun(5);
  vote(machine, 0, first);
  vote(machine, 1, third);
  const auto step = vote(machine, 2, second);
  EXPECT_EQ(machine.token(), 103U);
  EXPECT_EQ(step.send, asks({0, 2}, what::agree));
  EXPECT_FALSE(step.done);
  EXPECT_EQ(agree(machine, 0), quorum_step{});
  expect_held(agree(machine, 2));
}

TEST_F(QuorumMachine, does_not_hold_while_less_than_a_majority_agrees) {
  auto machine = begun(3);
  vote(machine, 0, first);
  EXPECT_FALSE(vote(machine, 1, second).done);
  vote(machine, 2, elsewhere);
  const auto step = agree(machine, 0, not_mine{});
  expect_failed(step, errc::busy);
  EXPECT_EQ(step.take_back, (std::vector<std::size_t>{0, 1}));
}

TEST_F(QuorumMachine, lets_later_votes_agree_in_the_place_of_those_that_do_not) {
  auto machine = begun(5);
  vote(machine, 0, first);
  vote(machine, 1, third);
  vote(machine, 2, second);
  agree(machine, 0, not_mine{});
  EXPECT_EQ(vote(machine, 3, second).send, asks({3}, what::agree));
  agree(machine, 3);
  expect_held(vote(machine, 4, third));
  EXPECT_EQ(machine.token(), 103U);
}

// Between the two votes another may have had the lock, with the very token that was chosen here.
TEST_F(QuorumMachine, does_not_hold_by_a_later_vote_above_the_token) {
  auto machine = begun(3);
  vote(machine, 0, third);
  EXPECT_EQ(vote(machine, 1, second).send, asks({1}, what::agree));
  EXPECT_EQ(vote(machine, 2, granted{105, lease}), quorum_step{});
  expect_held(agree(machine, 1));
  EXPECT_EQ(machine.token(), 103U);
}

TEST_F(QuorumMachine, chooses_a_later_vote_above_the_token_where_too_few_agree_without_it) {
  auto machine = begun(3);
  vote(machine, 0, third);
  vote(machine, 1, second);
  EXPECT_EQ(agree(machine, 1, not_mine{}), quorum_step{});
  const auto again = vote(machine, 2, granted{105, lease}, after(3 * trip));
  EXPECT_FALSE(again.done);
  EXPECT_EQ(machine.token(), 105U);
  EXPECT_EQ(again.send, asks({0}, what::agree));
  EXPECT_EQ(again.wake_at, after(3 * trip) + member_timeout);
  const auto step = agree(machine, 0);
  expect_held(step);
  EXPECT_EQ(machine.token(), 105U);
  const auto end = lease_deadline(start, lease);
  EXPECT_EQ(step.done->deadlines, (std::vector{end, monotonic_time::min(), end}));
}

TEST_F(QuorumMachine, chooses_anew_when_who_was_asked_to_agree_is_gone) {
  for (const bool is_told : {false, true}) {
    auto machine = begun(3);
    vote(machine, 0, third);
    vote(machine, 1, second);
    vote(machine, 2, granted{999, lease});
    const auto gone_at = after(2 * trip) + member_timeout;
    const auto again = is_told ? machine.on_missing(1, 1, no_answer::unknown, "gone", gone_at)
                               : machine.on_timer(gone_at);
    EXPECT_EQ(again.send, asks({0}, what::agree));
    expect_held(agree(machine, 0));
    EXPECT_EQ(machine.token(), 999U);
  }
}

// Nobody knows which token an answer is about.
TEST_F(QuorumMachine, chooses_anew_only_when_all_have_answered_who_were_asked_to_agree) {
  auto machine = begun(5);
  vote(machine, 0, third);
  vote(machine, 1, second);
  vote(machine, 2, second);
  vote(machine, 3, granted{105, lease});
  EXPECT_EQ(vote(machine, 4, granted{107, lease}), quorum_step{});
  EXPECT_EQ(agree(machine, 1, not_mine{}), quorum_step{});
  EXPECT_EQ(machine.token(), 103U);
  EXPECT_EQ(agree(machine, 2).send, asks({0, 2, 3}, what::agree));
  EXPECT_EQ(machine.token(), 107U);
  agree(machine, 0, not_mine{});
  agree(machine, 2);
  expect_held(agree(machine, 3));
}

TEST_F(QuorumMachine, gives_a_later_vote_above_the_token_back_with_the_others) {
  auto machine = begun(3);
  vote(machine, 0, third);
  vote(machine, 1, second);
  vote(machine, 2, granted{105, lease});
  agree(machine, 1, not_mine{});
  const auto step = agree(machine, 0, not_mine{});
  expect_failed(step, errc::busy);
  EXPECT_EQ(step.take_back, (std::vector<std::size_t>{0, 1, 2}));
}

TEST_F(QuorumMachine, believes_no_votes_whose_time_may_be_over) {
  auto machine = begun(3);
  vote(machine, 0, first);
  const auto step = vote(machine, 1, first, lease_deadline(start, lease));
  expect_failed(step, errc::unavailable);
  EXPECT_EQ(step.take_back, (std::vector<std::size_t>{0, 1, 2}));
}

TEST_F(QuorumMachine, counts_the_time_of_a_vote_from_when_it_was_asked_for) {
  auto machine = begun(3);
  const auto answered = after(milliseconds(300));
  machine.on_vote(1, 0, first, after(milliseconds(2)), answered);
  const auto step = machine.on_vote(1, 1, first, after(milliseconds(1)), answered);
  expect_held(step);
  EXPECT_EQ(majority_deadline(step.done->deadlines), lease_deadline(after(milliseconds(1)), lease));
}

TEST_F(QuorumMachine, is_busy_when_a_majority_is_out_of_reach_and_takes_votes_back) {
  auto machine = begun(3);
  vote(machine, 0, first);
  EXPECT_FALSE(vote(machine, 1, elsewhere).done);
  const auto step = vote(machine, 2, elsewhere);
  expect_failed(step, errc::busy);
  EXPECT_EQ(step.take_back, (std::vector<std::size_t>{0}));
}

TEST_F(QuorumMachine, takes_back_also_what_was_not_answered) {
  auto machine = begun(5);
  for (const std::size_t member : {0U, 1U, 2U}) {
    const auto step = vote(machine, member, elsewhere);
    if (member < 2) continue;
    expect_failed(step, errc::busy);
    EXPECT_EQ(step.take_back, (std::vector<std::size_t>{3, 4}));
  }
}

// A member that has lost the question may execute it after the release.
TEST_F(QuorumMachine, says_where_a_vote_may_come_though_it_was_taken_back) {
  auto machine = begun(5);
  machine.on_missing(1, 3, no_answer::unknown, "gone", start);
  machine.on_missing(1, 4, no_answer::not_sent, "gone", start);
  const auto end = vote(machine, 0, elsewhere);
  expect_failed(end, errc::busy);
  EXPECT_EQ(end.take_back, (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(end.in_doubt, std::vector<std::size_t>{3});
}

TEST_F(QuorumMachine, says_where_a_vote_may_come_though_it_is_held) {
  auto machine = begun(5);
  machine.on_missing(1, 0, no_answer::unknown, "gone", start);
  machine.on_missing(1, 1, no_answer::not_sent, "gone", start);
  for (const std::size_t member : {2U, 3U}) vote(machine, member, first);
  const auto held = vote(machine, 4, first);
  expect_held(held);
  EXPECT_EQ(held.done->in_doubt, std::vector<std::size_t>{0});
}

TEST_F(QuorumMachine, needs_no_answer_of_a_minority) {
  auto machine = begun(3);
  EXPECT_EQ(machine.on_missing(1, 0, no_answer::unreachable, "refused", start), quorum_step{});
  vote(machine, 1, first);
  expect_held(vote(machine, 2, first));
}

TEST_F(QuorumMachine, does_not_wait_for_a_silent_member_where_votes_are_split) {
  auto machine = make(3, once);
  machine.mark_silent(2);
  machine.start(start);
  EXPECT_EQ(vote(machine, 0, first), quorum_step{});
  const auto step = vote(machine, 1, elsewhere);
  expect_failed(step, errc::busy);
  EXPECT_EQ(step.take_back, (std::vector<std::size_t>{0, 2}));
}

TEST_F(QuorumMachine, waits_for_a_silent_member_where_there_is_no_majority_without_it) {
  auto machine = make(3, once);
  machine.mark_silent(2);
  machine.start(start);
  EXPECT_EQ(vote(machine, 0, first), quorum_step{});
  EXPECT_EQ(vote(machine, 1, staying_out{lease}), quorum_step{});
  expect_held(vote(machine, 2, first));
  EXPECT_FALSE(machine.is_silent(2));
}

TEST_F(QuorumMachine, names_the_members_when_a_majority_is_unavailable) {
  auto machine = begun(3);
  vote(machine, 0, first);
  machine.on_missing(1, 1, no_answer::unreachable, "connection refused", start);
  const auto step = machine.on_timer(start + member_timeout);
  expect_failed(step, errc::unavailable);
  EXPECT_EQ(step.done->detail,
            "it takes the votes of 2 of 3 members; b: connection refused; c: it has not answered "
            "in time");
  EXPECT_EQ(step.take_back, (std::vector<std::size_t>{0, 2}));
}

TEST_F(QuorumMachine, ends_with_the_refusal_that_keeps_it_from_a_majority) {
  const refused forbidden{errc::permission_denied, false, "NOPERM"};
  auto machine = begun(3, waiting);
  vote(machine, 0, forbidden);
  const auto step = vote(machine, 1, forbidden);
  expect_failed(step, errc::permission_denied);
  EXPECT_TRUE(step.leaves);
  auto minority = begun(3, waiting);
  vote(minority, 0, forbidden);
  vote(minority, 1, first);
  expect_held(vote(minority, 2, first));
}

TEST_F(QuorumMachine, asks_a_member_again_that_found_it_too_old_but_once) {
  auto machine = begun(3);
  EXPECT_EQ(vote(machine, 0, late{}).send, asks({0}, what::vote));
  EXPECT_EQ(vote(machine, 0, late{}), quorum_step{});
  vote(machine, 1, first);
  expect_held(vote(machine, 2, first));
}

TEST_F(QuorumMachine, refuses_one_server_in_two_places) {
  auto machine = begun(3, waiting);
  vote(machine, 0, first);
  const auto step = vote(machine, 1, voted_before{});
  expect_failed(step, errc::invalid_argument);
  EXPECT_EQ(step.take_back, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(step.done->detail, "b is the same server as another member of the quorum");
}

// ---- members without memory

TEST_F(QuorumMachine, founds_what_a_majority_knows_nothing_of) {
  auto machine = begun(3);
  EXPECT_EQ(vote(machine, 0, without_memory{}), quorum_step{});
  EXPECT_EQ(vote(machine, 2, without_memory{}).send, asks({0, 2}, what::join));
  EXPECT_EQ(vote(machine, 1, without_memory{}).send, asks({1}, what::join));
  vote(machine, 1, first);
  expect_held(vote(machine, 0, first));
}

TEST_F(QuorumMachine, invites_who_says_late_that_he_is_new) {
  auto machine = begun(3);
  vote(machine, 0, without_memory{});
  vote(machine, 2, without_memory{});
  vote(machine, 0, first);
  expect_held(vote(machine, 2, first));
  EXPECT_EQ(vote(machine, 1, without_memory{}).send, asks({1}, what::enter));
  EXPECT_EQ(vote(machine, 1, staying_out{}), quorum_step{});
}

TEST_F(QuorumMachine, confirms_no_vote_that_comes_when_nothing_is_held) {
  auto machine = begun(3);
  vote(machine, 0, elsewhere);
  expect_failed(vote(machine, 1, elsewhere), errc::busy);
  EXPECT_EQ(vote(machine, 2, first), quorum_step{});
}

TEST_F(QuorumMachine, sends_those_away_who_have_lost_their_memory) {
  auto machine = begun(3);
  vote(machine, 0, without_memory{});
  vote(machine, 1, first);
  const auto step = vote(machine, 2, first);
  expect_held(step);
  EXPECT_EQ(step.send, asks({0}, what::stay_out));
  auto failing = begun(3);
  vote(failing, 0, without_memory{});
  vote(failing, 1, elsewhere);
  const auto end = vote(failing, 2, elsewhere);
  expect_failed(end, errc::busy);
  EXPECT_EQ(end.send, asks({0}, what::stay_out));
}

TEST_F(QuorumMachine, sends_nobody_away_who_may_be_new_like_those_that_are_not_there) {
  auto machine = begun(3);
  vote(machine, 0, without_memory{});
  machine.on_missing(1, 1, no_answer::unreachable, "refused", start);
  const auto step = machine.on_missing(1, 2, no_answer::unreachable, "refused", start);
  expect_failed(step, errc::unavailable);
  EXPECT_TRUE(step.send.empty());
}

TEST_F(QuorumMachine, does_without_the_votes_of_those_who_stay_out) {
  auto machine = begun(3);
  vote(machine, 0, staying_out{milliseconds(900)});
  vote(machine, 1, first);
  expect_held(vote(machine, 2, first));
  auto failing = begun(3);
  vote(failing, 0, staying_out{milliseconds(900)});
  vote(failing, 1, first);
  const auto end = vote(failing, 2, staying_out{milliseconds(900)});
  expect_failed(end, errc::unavailable);
  EXPECT_NE(end.done->detail.find("a: it has lost its memory"), std::string::npos);
}

// It is decided before all have answered: the absent member may be among the others.
TEST_F(QuorumMachine, names_those_who_had_not_answered_when_it_failed) {
  auto machine = begun(3);
  vote(machine, 0, staying_out{milliseconds(900)});
  const auto end = machine.on_missing(1, 2, no_answer::unreachable, "refused", start);
  expect_failed(end, errc::unavailable);
  EXPECT_NE(end.done->detail.find("; b: it has not answered yet; c: refused"), std::string::npos)
      << end.done->detail;
}

// ---- waiting

// One that has found the lock held by another until 4 s from the start.
class WaitingQuorumMachine : public QuorumMachine {
 protected:
  quorum_machine waits(quorum_step* last = nullptr) {
    auto machine = begun(3, waiting);
    vote(machine, 0, elsewhere);
    const auto step = vote(machine, 1, elsewhere);
    EXPECT_FALSE(step.done);
    EXPECT_EQ(step.take_back, (std::vector<std::size_t>{2}));
    if (last != nullptr) *last = step;
    return machine;
  }
};

TEST_F(WaitingQuorumMachine, asks_again_now_and_then_with_a_new_request) {
  quorum_step last;
  auto machine = waits(&last);
  ASSERT_TRUE(last.wake_at);
  EXPECT_GE(*last.wake_at, after(milliseconds(250)));
  EXPECT_LE(*last.wake_at, after(milliseconds(2'000)));
  EXPECT_EQ(machine.on_timer(*last.wake_at - nanoseconds(1)), quorum_step{});
  const auto step = machine.on_timer(*last.wake_at);
  EXPECT_TRUE(step.new_request);
  EXPECT_EQ(step.send, asks({0, 1, 2}, what::vote));
  EXPECT_EQ(machine.attempt(), 2U);
}

TEST_F(WaitingQuorumMachine, ignores_answers_to_earlier_attempts) {
  auto machine = waits();
  machine.on_hint(after(milliseconds(100)));
  ASSERT_EQ(machine.attempt(), 2U);
  for (const std::size_t member : {0U, 1U, 2U}) {
    EXPECT_EQ(machine.on_vote(1, member, first, start, after(milliseconds(110))), quorum_step{});
  }
}

TEST_F(WaitingQuorumMachine, asks_at_once_when_told_that_it_is_free) {
  auto machine = waits();
  const auto step = machine.on_hint(after(milliseconds(100)));
  EXPECT_EQ(step.send, asks({0, 1, 2}, what::vote));
}

TEST_F(WaitingQuorumMachine, remembers_what_it_is_told_while_it_asks) {
  auto machine = begun(3, waiting);
  vote(machine, 0, elsewhere);
  EXPECT_EQ(machine.on_hint(after(milliseconds(5))), quorum_step{});
  const auto step = vote(machine, 1, elsewhere);
  ASSERT_TRUE(step.wake_at);
  EXPECT_LE(*step.wake_at, after(trip + milliseconds(64)));
}

TEST_F(WaitingQuorumMachine, pauses_at_random_when_votes_were_split) {
  auto machine = begun(5, waiting);
  vote(machine, 0, first);
  vote(machine, 1, first);
  vote(machine, 2, elsewhere);
  vote(machine, 3, elsewhere);
  const auto step = machine.on_missing(1, 4, no_answer::not_sent, "refused", after(trip));
  EXPECT_EQ(step.take_back, (std::vector<std::size_t>{0, 1}));
  ASSERT_TRUE(step.wake_at);
  EXPECT_LE(*step.wake_at, after(trip + milliseconds(64)));
  // The hint that the others' votes are back is not for us alone.
  EXPECT_TRUE(machine.on_hint(after(trip)).send.empty());
}

// Other threads ask the same members, and would count on it.
TEST_F(QuorumMachine, calls_nobody_silent_who_had_no_time_to_answer) {
  constexpr milliseconds little{100};
  auto machine = make(3, {.waits = true, .give_up_at = start + little});
  machine.start(start);
  vote(machine, 0, first);
  EXPECT_TRUE(machine.on_timer(start + little).done);
  EXPECT_FALSE(machine.is_silent(2));
}

// In another library's layout: also after split votes, and where members do not answer.
TEST_F(WaitingQuorumMachine, waits_once_for_a_member_that_does_not_answer) {
  auto machine = make(3, waiting);
  machine.start(start);
  vote(machine, 0, first);
  EXPECT_EQ(vote(machine, 1, elsewhere), quorum_step{});
  const auto then = machine.on_timer(start + member_timeout);
  EXPECT_TRUE(machine.is_waiting());
  EXPECT_TRUE(machine.is_silent(2));
  machine.on_timer(*then.wake_at);
  vote(machine, 0, second, *then.wake_at);
  EXPECT_FALSE(machine.is_waiting());
  vote(machine, 1, elsewhere, *then.wake_at);
  EXPECT_TRUE(machine.is_waiting()) << "votes are split, and the third is not waited for";
}

TEST_F(WaitingQuorumMachine, asks_no_sooner_than_is_usual_there) {
  quorum_machine machine{waiting,
                         {.names = std::span(names).first(3),
                          .lease = lease,
                          .member_timeout = member_timeout,
                          .hears = false,
                          .asks_after = pauses{milliseconds(200), milliseconds(200)}}};
  machine.start(start);
  vote(machine, 0, granted{0, lease});
  vote(machine, 1, elsewhere);
  auto step = machine.on_missing(machine.attempt(), 2, no_answer::unknown, "gone", after(trip));
  EXPECT_EQ(step.take_back, (std::vector<std::size_t>{0, 2}));
  ASSERT_TRUE(step.wake_at);
  EXPECT_GE(*step.wake_at, after(trip + milliseconds(100)));
  EXPECT_LE(*step.wake_at, after(trip + milliseconds(200)));
}

TEST_F(WaitingQuorumMachine, does_not_count_on_the_end_of_what_has_none) {
  auto machine = begun(3, waiting);
  vote(machine, 0, busy{});
  const auto step = vote(machine, 1, busy{});
  ASSERT_TRUE(step.wake_at);
  EXPECT_GE(*step.wake_at, after(milliseconds(250)));
}

TEST_F(WaitingQuorumMachine, times_out_with_the_reason) {
  auto machine = waits();
  const auto end = machine.on_timer(waiting.give_up_at);
  expect_failed(end, errc::timed_out);
  EXPECT_TRUE(end.leaves);
  EXPECT_EQ(end.done->detail, "it takes the votes of 2 of 3 members; 2 have voted for another");
}

TEST_F(WaitingQuorumMachine, blames_nobody_who_had_no_time_to_answer) {
  auto machine = make(3, {.waits = true, .give_up_at = after(milliseconds(20))});
  EXPECT_EQ(machine.start(start).wake_at, after(milliseconds(20)));
  expect_failed(machine.on_timer(after(milliseconds(20))), errc::timed_out);
}

// The last round is cut short by the end of patience; in that before it all had time enough.
TEST_F(WaitingQuorumMachine, is_unavailable_when_it_was_so_as_long_as_there_was_time) {
  auto machine = begun(3, waiting);
  for (std::size_t i = 0; i < 2; ++i) {
    machine.on_missing(1, i, no_answer::unreachable, "connection refused", start);
  }
  EXPECT_TRUE(machine.on_timer(waiting.give_up_at - nanoseconds(1)).new_request);
  const auto end = machine.on_timer(waiting.give_up_at);
  expect_failed(end, errc::unavailable);
  EXPECT_NE(end.done->detail.find("connection refused"), std::string::npos) << end.done->detail;
}

TEST_F(WaitingQuorumMachine, is_unavailable_when_it_was_so_to_the_end) {
  auto machine = begun(3, waiting);
  machine.on_missing(1, 0, no_answer::unreachable, "connection refused", start);
  EXPECT_FALSE(machine.on_missing(1, 1, no_answer::unreachable, "connection refused", start).done);
  expect_failed(machine.on_timer(waiting.give_up_at), errc::unavailable);
}

TEST_F(WaitingQuorumMachine, stops_whenever_it_is_told_to) {
  auto machine = waits();
  const auto end = machine.on_stop(after(milliseconds(50)));
  expect_failed(end, errc::cancelled);
  EXPECT_TRUE(end.leaves);
  EXPECT_EQ(end.take_back, (std::vector<std::size_t>{0, 1, 2}));  // where it wanted to be told
  EXPECT_EQ(machine.on_stop(after(milliseconds(60))), quorum_step{});

  auto asking = begun(3, waiting);
  vote(asking, 0, first);
  EXPECT_EQ(asking.on_stop(after(trip)).take_back, (std::vector<std::size_t>{0, 1, 2}));
}

}  // namespace
}  // namespace holdfast::leasing
