#include "redis/connection/login_schedule.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr monotonic_time start{1000s};
constexpr auto never = monotonic_time::max();

TEST(LoginSchedule, AsksWhenSomebodyWantsALogin) {
  login_schedule asks{0};
  EXPECT_EQ(asks.ask_at(), never);
  asks.want(start);
  EXPECT_EQ(asks.ask_at(), start);
}

TEST(LoginSchedule, AsksAgainBeforeTheEnd) {
  for (const auto draw : {0U, 50U, 100U, 101U}) {
    login_schedule asks{draw};
    asks.on_given(start, start + 1s, 15min);
    EXPECT_EQ(asks.ask_at(), start + 900ms * (700 + draw % 101)) << draw;
  }
}

TEST(LoginSchedule, DoesNotAskAboutALoginWithoutAnEnd) {
  for (const auto valid_for : {0ms, milliseconds::max()}) {
    login_schedule asks{0};
    asks.want(start);
    asks.on_given(start, start, valid_for);
    EXPECT_EQ(asks.ask_at(), never);
  }
}

TEST(LoginSchedule, PausesBetweenLoginsThatEndAtOnce) {
  login_schedule asks{0};
  asks.on_given(start, start + 2s, 1s);
  EXPECT_EQ(asks.ask_at(), start + 2s + 100ms);
}

TEST(LoginSchedule, PausesLongerAfterEachFailure) {
  login_schedule asks{0};
  auto now = start;
  for (const auto pause : {100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms}) {
    asks.on_failed(now);
    EXPECT_EQ(asks.ask_at(), now + pause);
    now += pause;
  }
}

TEST(LoginSchedule, AsksSoonerForSomebodyWhoCannotGoOn) {
  login_schedule asks{0};
  for (int i = 0; i < 7; ++i) asks.on_failed(start);
  asks.want(start + 20ms);
  EXPECT_EQ(asks.ask_at(), start + 100ms);
  asks.want(start + 1s);
  EXPECT_EQ(asks.ask_at(), start + 100ms);
}

// Otherwise a callback that always gives the wrong password would be asked without a pause.
TEST(LoginSchedule, ForgetsRefusalsOnlyWhenAServerHasAccepted) {
  login_schedule asks{0};
  asks.on_failed(start);
  asks.on_given(start, start, 15min);
  asks.on_failed(start + 1s);
  EXPECT_EQ(asks.ask_at(), start + 1s + 200ms);
  asks.on_accepted();
  asks.on_failed(start + 2s);
  EXPECT_EQ(asks.ask_at(), start + 2s + 100ms);
}

}  // namespace
}  // namespace holdfast::redis
