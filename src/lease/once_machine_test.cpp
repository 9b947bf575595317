#include "lease/once_machine.hpp"

#include <gtest/gtest.h>

#include "lease/server_clock.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {
namespace {

using namespace std::chrono_literals;
using substrate::late;
using substrate::once_answer;
using substrate::refused;

constexpr monotonic_time start{1h};
constexpr monotonic_time give_up_at = start + 6s;
constexpr server_time noon{std::chrono::hours{400'000}};
const once_answer answer{"ok", "17", noon};
const refused no{errc::out_of_memory, true, "no memory"};

const outcome broken{errc::unavailable, "broken"};

errc code_of(const std::optional<once_machine::end>& end) {
  const auto* how = end ? std::get_if<outcome>(&*end) : nullptr;
  return how != nullptr ? how->code.value() : errc{};
}
bool says_doubt(const outcome& how) {
  return how.detail.find("may have been") != std::string::npos;
}

TEST(OnceMachine, AnAnswerIsTheEnd) {
  for (const bool doubtful : {false, true}) {
    once_machine machine{give_up_at};
    if (doubtful) {
      EXPECT_FALSE(machine.on_missing(no_answer::unknown, broken, start));
    }
    EXPECT_EQ(machine.on_verdict(answer, give_up_at + 1s), once_machine::end{answer});
  }
}

TEST(OnceMachine, AllCopiesCarryOneNotAfter) {
  once_machine machine{give_up_at};
  EXPECT_EQ(machine.not_after({start + 2s, noon}), noon + 4s);
  EXPECT_FALSE(machine.on_missing(no_answer::unknown, broken, start + 3s));
  EXPECT_EQ(machine.not_after({start + 3s, noon + 2s}), noon + 4s);
}

// In a cluster a request may be sent on to its server by one whose time is not known.
TEST(OnceMachine, ATimeThatIsNotKnownIsNotKept) {
  once_machine machine{give_up_at};
  EXPECT_EQ(machine.not_after({start, far_future}), far_future);
  EXPECT_EQ(machine.not_after({start + 1s, noon}), noon + 5s);
  EXPECT_EQ(machine.not_after({start + 2s, far_future}), noon + 5s);
}

TEST(OnceMachine, BeginsAnewWhenItsIdeaOfTheTimeWasBehind) {
  once_machine machine{give_up_at};
  EXPECT_EQ(machine.not_after({start, noon - 1h}), noon - 1h + 6s);
  EXPECT_FALSE(machine.on_missing(no_answer::not_sent, broken, start));
  EXPECT_FALSE(machine.on_verdict(late{noon}, start + 1s));
  EXPECT_EQ(machine.not_after({start + 1s, noon}), noon + 5s);
}

TEST(OnceMachine, LateIsTheEndWhileAnotherCopyMayHaveBeenExecuted) {
  once_machine machine{give_up_at};
  EXPECT_FALSE(machine.on_missing(no_answer::unknown, broken, start));
  const auto end = machine.on_verdict(late{noon}, start + 1s);
  EXPECT_EQ(code_of(end), errc::unavailable);
  EXPECT_TRUE(says_doubt(std::get<outcome>(*end)));
  once_machine patient{give_up_at};
  const auto over = patient.on_verdict(late{noon}, give_up_at);
  EXPECT_EQ(code_of(over), errc::unavailable);
  EXPECT_FALSE(says_doubt(std::get<outcome>(*over)));
}

TEST(OnceMachine, ARefusalIsTheEndAndSaysTheDoubt) {
  once_machine machine{give_up_at};
  const auto end = machine.on_verdict(no, start);
  EXPECT_EQ(end, once_machine::end(outcome{errc::out_of_memory, "no memory"}));
  once_machine doubtful{give_up_at};
  EXPECT_FALSE(doubtful.on_missing(no_answer::unknown, broken, start));
  const auto unsure = doubtful.on_verdict(no, start);
  EXPECT_EQ(code_of(unsure), errc::out_of_memory);
  EXPECT_TRUE(says_doubt(std::get<outcome>(*unsure)));
}

TEST(OnceMachine, WithoutAnAnswerAsksAgainUntilItGivesUp) {
  for (const auto how : {no_answer::not_sent, no_answer::unknown}) {
    once_machine machine{give_up_at};
    EXPECT_FALSE(machine.on_missing(how, broken, start));
    EXPECT_FALSE(machine.on_missing(how, broken, give_up_at - 1ns));
    const auto end = machine.on_missing(how, broken, give_up_at);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code, errc::unavailable);
    EXPECT_EQ(says_doubt(*end), how == no_answer::unknown);
  }
}

TEST(OnceMachine, DoesNotAskAgainWhereThatIsNoUse) {
  once_machine nobody{give_up_at};
  EXPECT_EQ(nobody.on_missing(no_answer::unreachable, broken, start), broken);
  once_machine forbidden{give_up_at};
  const outcome why{errc::authentication, "wrong password"};
  EXPECT_EQ(forbidden.on_missing(no_answer::not_sent, why, start), why);
}

}  // namespace
}  // namespace holdfast::leasing
