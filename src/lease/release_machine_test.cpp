#include "lease/release_machine.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "lease/answers_for_tests.hpp"
#include "lease/deadline.hpp"
#include "lease/step_text_for_tests.hpp"

namespace holdfast::leasing {

void PrintTo(const release_step& what, std::ostream* out) { *out << to_string(what); }

namespace {

using std::chrono::seconds;

constexpr monotonic_time deadline = local_start + seconds(30);

release_machine fresh() { return {new_claim(), deadline, 1}; }

// The machine after these events, each one second after the other.
struct scene {
  explicit scene(const std::vector<std::string_view>& path) {
    for (const std::string_view event : path) play(event);
  }

  release_step play(std::string_view event) {
    now += seconds(1);
    if (event == "start") return machine.start(now);
    if (event == "timer") return machine.on_timer(now);
    if (event == "not sent") return machine.on_missing(no_answer::not_sent, now);
    if (event == "unreachable") return machine.on_missing(no_answer::unreachable, now);
    if (event == "unknown") return machine.on_missing(no_answer::unknown, now);
    const bool passing = event == "passing";
    return machine.on_given_back(
        say_back(event, passing ? errc::out_of_memory : errc::permission_denied), now);
  }

  release_machine machine = fresh();
  monotonic_time now = local_start;
};

// A step without its times.
std::string gist(const release_step& what) {
  std::string text;
  if (what.send != ask::nothing) text += what.resend ? "send again " : "send ";
  if (what.wake_at) text += "wake ";
  if (what.done) {
    text += !what.done->code ? "ok " : *what.done->code == errc::lost ? "lost " : "failed ";
  }
  if (what.finished) text += "finished ";
  return text.empty() ? "-" : text.substr(0, text.size() - 1);
}

TEST(ReleaseMachine, FollowsItsTable) {
  struct row {
    std::vector<std::string_view> path;
    std::vector<std::string_view> expected;  // per event, in the order below
  };
  const std::vector<std::string_view> events = {"released",    "not mine", "passing", "not sent",
                                                "unreachable", "unknown",  "refused", "timer"};
  const std::string_view over = "ok finished";
  const std::vector<row> table = {
      {{"start"}, {over, "lost finished", "wake", "wake", "wake", "wake", "failed finished", "-"}},
      {{"start", "not sent", "timer"},
       {over, "lost finished", "wake", "wake", "wake", "wake", "failed finished", "-"}},
      {{"start", "unknown", "timer"},
       {over, over, "wake", "wake", "wake", "wake", "failed finished", "-"}},
      {{"start", "passing"}, {"-", "-", "-", "-", "-", "-", "-", "send"}},
      {{"start", "not sent"}, {"-", "-", "-", "-", "-", "-", "-", "send"}},
      {{"start", "unknown"}, {"-", "-", "-", "-", "-", "-", "-", "send again"}},
      {{"start", "released"}, {"-", "-", "-", "-", "-", "-", "-", "-"}},
      {{"start", "refused"}, {"-", "-", "-", "-", "-", "-", "-", "-"}},
  };
  for (const row& one : table) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      scene now_at(one.path);
      EXPECT_EQ(gist(now_at.play(events[i])), one.expected[i])
          << "after " << one.path.back() << ": " << events[i];
    }
  }
}

TEST(ReleaseMachine, TellsTheReasonOfAPermanentRefusal) {
  EXPECT_EQ(scene({"start"}).play("refused").done,
            (outcome{errc::permission_denied, "the server said so"}));
}

TEST(ReleaseMachine, RetriesAfterTenMillisecondsDoublingToHalfASecond) {
  release_machine machine = fresh();
  machine.start(local_start);
  for (const int whole : {10, 20, 40, 80, 160, 320, 500, 500}) {
    const release_step next = machine.on_missing(no_answer::not_sent, local_start);
    ASSERT_TRUE(next.wake_at);
    EXPECT_GE(*next.wake_at, local_start + milliseconds(whole) / 2);
    EXPECT_LE(*next.wake_at, local_start + milliseconds(whole));
    EXPECT_EQ(machine.on_timer(*next.wake_at).send, ask::release);
  }
}

TEST(ReleaseMachine, SaysAtTheDeadlineThatItIsUnavailable) {
  release_machine machine = fresh();
  machine.start(local_start);
  const monotonic_time just_before = deadline - milliseconds(1);
  EXPECT_EQ(machine.on_missing(no_answer::unknown, just_before), release_step{.wake_at = deadline});
  const release_step told = machine.on_timer(deadline);
  EXPECT_EQ(gist(told), "wake failed");
  EXPECT_EQ(told.done->code, errc::unavailable);
  EXPECT_NE(told.done->detail.find("before the lease ended"), std::string::npos);
}

TEST(ReleaseMachine, IsUnavailableWhenNoAnswerComesBeforeTheDeadline) {
  release_machine machine = fresh();
  machine.start(local_start);
  const release_step told = machine.on_missing(no_answer::unknown, deadline);
  EXPECT_EQ(gist(told), "wake failed");
  EXPECT_EQ(told.done->code, errc::unavailable);
}

// A renewal whose answer was lost may have prolonged the lease there, and what others must wait
// after it does.
TEST(ReleaseMachine, GoesOnAskingForAsLongAsTheServerMayKeepTheLock) {
  substrate::claim mine = test_claim();
  mine.delay = short_milliseconds{60'000};
  release_machine machine(mine, deadline);
  const milliseconds kept = milliseconds{mine.lease} + mine.delay;
  const monotonic_time gone_at = deadline + kept + clock_allowance(kept);
  EXPECT_EQ(gist(machine.start(deadline)), "send");
  EXPECT_EQ(gist(machine.on_missing(no_answer::unknown, deadline)), "wake failed");
  EXPECT_EQ(gist(machine.on_timer(deadline + seconds(1))), "send again");
  const monotonic_time just_before = gone_at - milliseconds(1);
  EXPECT_EQ(machine.on_missing(no_answer::unknown, just_before), release_step{.wake_at = gone_at});
  EXPECT_EQ(machine.on_timer(gone_at), release_step{.finished = true}) << "and told it only once";
}

TEST(ReleaseMachine, GoesOnAskingForWhatElseTheServerMayHaveBeenAskedFor) {
  release_machine machine(new_claim(), deadline, 1, longest_move, seconds(3600));
  const milliseconds kept = test_claim().lease + milliseconds(3'600'000);
  const monotonic_time gone_at = deadline + kept + clock_allowance(kept);
  machine.start(deadline);
  const monotonic_time just_before = gone_at - milliseconds(1);
  EXPECT_FALSE(machine.on_missing(no_answer::unknown, just_before).finished);
  EXPECT_TRUE(machine.on_timer(gone_at).finished);
}

TEST(ReleaseMachine, TellsNothingMoreOfWhatIsConfirmedAfterTheDeadline) {
  for (const std::string_view answer : {"released", "not mine", "refused"}) {
    release_machine machine = fresh();
    machine.start(local_start);
    machine.on_missing(no_answer::unknown, deadline);
    machine.on_timer(deadline + seconds(1));
    const auto reply = say_back(answer, errc::permission_denied);
    EXPECT_EQ(machine.on_given_back(reply, deadline + seconds(1)), release_step{.finished = true});
  }
}

TEST(ReleaseMachine, QuotesTheLastRefusalAtTheDeadline) {
  release_machine machine = fresh();
  machine.start(local_start);
  machine.on_given_back(say_back("passing", errc::no_replicas), local_start);
  const release_step last = machine.on_timer(deadline);
  ASSERT_TRUE(last.done);
  EXPECT_NE(last.done->detail.find("the server said so"), std::string::npos);
}

TEST(ReleaseMachine, AResentReleaseThatFindsNotMineAfterTheDeadlineIsLost) {
  release_machine machine = fresh();
  machine.start(local_start);
  const release_step retry = machine.on_missing(no_answer::unknown, local_start);
  machine.on_timer(*retry.wake_at);
  EXPECT_EQ(machine.on_given_back(say_back("not mine"), deadline).done->code, errc::lost);
}

TEST(ReleaseMachine, AServerThatIsNotDoneYetIsAskedAgainAtOnce) {
  release_machine machine = fresh();
  machine.start(local_start);
  EXPECT_EQ(gist(machine.on_given_back(say_back("more"), local_start)), "send again");
  EXPECT_EQ(gist(machine.on_given_back(say_back("more"), deadline)), "send again");
  EXPECT_EQ(gist(machine.on_given_back(say_back("released"), deadline)), "ok finished");
}

TEST(ReleaseMachine, AsksOnceEvenAfterTheDeadline) {
  release_machine machine = fresh();
  EXPECT_EQ(machine.start(deadline + seconds(1)), release_step{.send = ask::release});
  EXPECT_EQ(machine.on_given_back(say_back("released"), deadline + seconds(1)),
            (release_step{.done = outcome{}, .finished = true}));
}

// Its requests until it does not ask for the whole any more, and when that was.
monotonic_time told_of_a_move(release_machine& machine, monotonic_time now) {
  for (;;) {
    const auto next = machine.on_given_back(say_back("divided", errc::server_busy), now);
    EXPECT_TRUE(next.wake_at);
    EXPECT_LE(*next.wake_at - now, milliseconds(160)) << "it looks whether the move is over";
    now = *next.wake_at;
    if (machine.on_timer(now).send != ask::release) return now;
  }
}

TEST(ReleaseMachine, GivesUpTheLocksOwnKeyWhenAMoveOfItsSlotGoesOn) {
  release_machine machine(new_claim(), deadline, 1, milliseconds(300));
  machine.start(local_start);
  const auto alone_from = told_of_a_move(machine, local_start);
  EXPECT_EQ(alone_from, local_start + milliseconds(300));
  EXPECT_EQ(gist(machine.on_given_back(say_back("released"), alone_from)), "ok finished");
}

// The machine waited for an answer meanwhile: the time that it names must not be in the past.
TEST(ReleaseMachine, NamesNoTimeInThePastWhenAMoveHasGoneOn) {
  release_machine machine = fresh();
  machine.start(local_start);
  const auto told = machine.on_given_back(say_back("divided", errc::server_busy), local_start);
  EXPECT_EQ(machine.on_timer(*told.wake_at).send, ask::release);
  const auto late = local_start + seconds(2);
  EXPECT_EQ(machine.on_missing(no_answer::unknown, late).wake_at, late);
  EXPECT_EQ(machine.on_timer(late).send, ask::lone_release);
}

TEST(ReleaseMachine, ALoneReleaseIsResentAsOne) {
  release_machine machine(new_claim(), deadline, 1, milliseconds(300));
  machine.start(local_start);
  const auto alone_from = told_of_a_move(machine, local_start);
  const auto next = machine.on_missing(no_answer::unknown, alone_from);
  ASSERT_TRUE(next.wake_at);
  EXPECT_EQ(machine.on_timer(*next.wake_at),
            (release_step{.send = ask::lone_release, .resend = true}));
  EXPECT_EQ(gist(machine.on_given_back(say_back("not mine"), *next.wake_at)), "ok finished");
}

TEST(ReleaseMachine, GivesUpAllWhenTheMoveIsSoonOver) {
  release_machine machine = fresh();
  machine.start(local_start);
  const auto next = machine.on_given_back(say_back("divided", errc::server_busy), local_start);
  ASSERT_TRUE(next.wake_at);
  EXPECT_EQ(machine.on_timer(*next.wake_at).send, ask::release);
  EXPECT_EQ(gist(machine.on_given_back(say_back("released"), *next.wake_at)), "ok finished");
}

// A lone release is for keys that are at two nodes, and only after a while.
TEST(ReleaseMachine, KeepsToTheWholeReleaseWhileItIsRefusedInPassing) {
  release_machine machine{new_claim(), deadline, 1, seconds(1)};
  machine.start(local_start);
  machine.on_given_back(say_back("passing", errc::out_of_memory), local_start);
  EXPECT_EQ(machine.on_timer(local_start + seconds(2)).send, ask::release);
}

TEST(ReleaseMachine, PausesAlsoBetweenLoneReleases) {
  release_machine machine{new_claim(), deadline, 1, seconds(1)};
  machine.start(local_start);
  machine.on_given_back(say_back("divided", errc::unavailable), local_start);
  const auto now = local_start + seconds(2);
  ASSERT_EQ(machine.on_timer(now).send, ask::lone_release);
  EXPECT_GT(machine.on_missing(no_answer::not_sent, now).wake_at.value(), now);
}

TEST(ReleaseMachine, TriesOnWhenTheLeaseHasJustEndedAndThenEnds) {
  release_machine machine = fresh();
  machine.start(local_start);
  const auto next = machine.on_missing(no_answer::not_sent, deadline);
  ASSERT_TRUE(next.done);
  EXPECT_EQ(next.done->detail, "the release was not confirmed before the lease ended");
  EXPECT_GT(next.wake_at.value(), deadline);
  const auto gone = deadline + seconds(60);
  EXPECT_TRUE(machine.on_timer(gone).finished);
  EXPECT_EQ(machine.on_timer(gone + seconds(1)), release_step{});
}

}  // namespace
}  // namespace holdfast::leasing
