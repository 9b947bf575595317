// The script of rate limiters.
#include "redis/dialects/holdfast/rate.hpp"
#include "scripts/script_client.hpp"
#include "support/clock_shim.hpp"

namespace holdfast::dialects {
namespace {

using namespace std::chrono_literals;
using verdict = std::variant<rate_taken, rate_exceeded, refused>;

// On a server whose clock the test sets.
class RateScript : public support::server_test {
 protected:
  void SetUp() override {
    server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_ = std::make_unique<private_server>(start({.environment = clock.environment()}));
    redis_ = std::make_unique<script_client>(*server_);
  }
  script_client& redis() { return *redis_; }

  once_answer send(nanoseconds cost, microseconds longest_wait, const request_id& id) {
    return execute(rate_take(limiter, cost, 5 * one, longest_wait), id);
  }
  once_answer execute(const once_call& asked, const request_id& id) {
    const auto got =
        read_once(redis().ask([&](auto& out) { write_once(key_space{}, asked, id, never, out); }));
    EXPECT_TRUE(std::holds_alternative<once_answer>(got)) << script_client::why(got);
    return std::holds_alternative<once_answer>(got) ? std::get<once_answer>(got) : once_answer{};
  }
  // How long until the permits may be used, or what `read_rate` says otherwise.
  std::variant<microseconds, rate_exceeded, refused> take(nanoseconds cost,
                                                          microseconds longest_wait = 0us) {
    const auto answer = send(cost, longest_wait, next());
    const auto got = read_rate(limiter, answer);
    if (const auto* taken = std::get_if<rate_taken>(&got)) return taken->due - answer.now;
    if (const auto* exceeded = std::get_if<rate_exceeded>(&got)) return *exceeded;
    return std::get<refused>(got);
  }
  // For as long as it takes.
  server_time reserve(nanoseconds cost) {
    const auto got = read_rate(limiter, send(cost, 1h, next()));
    return std::get<rate_taken>(got).due;
  }
  bool given_back(nanoseconds cost, server_time due) {
    const auto answer = execute(rate_give_back(limiter, cost, 5 * one, due), next());
    return std::get<bool>(read_given_back(limiter, answer));
  }
  // In seconds, about: the server's clock goes on meanwhile.
  static double wait_of(const std::variant<microseconds, rate_exceeded, refused>& got) {
    if (const auto* wait = std::get_if<microseconds>(&got)) return wait->count() / 1e6;
    if (const auto* exceeded = std::get_if<rate_exceeded>(&got))
      return exceeded->wait.count() / -1e6;
    ADD_FAILURE() << std::get<refused>(got).detail;
    return 0;
  }
  void expect_wait(double seconds, const std::variant<microseconds, rate_exceeded, refused>& got) {
    EXPECT_NEAR(wait_of(got), seconds, 2.0);
  }
  // When all permits are there, less a time that is the same for all.
  nanoseconds full_at() {
    const auto text = redis().get(limiter.key);
    const auto point = text.find('.');
    return microseconds{std::stoll(text)} + nanoseconds{std::stoll(text.substr(point + 1, 3))};
  }
  void set_clock(nanoseconds ahead) { clock.set(ahead, *server_); }
  request_id next() { return {client_, ++requests_}; }

  static constexpr nanoseconds one = 100s;  // five permits, one comes back in 100 s
  support::clock_shim clock;
  const value_key limiter{key_space{}, "rate", "mails"};

 private:
  std::unique_ptr<private_server> server_;
  std::unique_ptr<script_client> redis_;
  client_id client_{{3}};
  std::uint64_t requests_ = 0;
};
HOLDFAST_ON_EACH_SERVER(RateScript);

TEST_P(RateScript, GivesTheBurstAtOnceAndThenOneAtATime) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(wait_of(take(one)), 0);
  expect_wait(-100, take(one));
  set_clock(99s);
  EXPECT_LT(wait_of(take(one)), 0);
  set_clock(103s);
  EXPECT_EQ(wait_of(take(one)), 0);
  expect_wait(-97, take(one));
}

// What one permit costs at some rates. Where less is charged, by however little, more are given out
// than the rate allows for as long as somebody takes them.
TEST_P(RateScript, ChargesToTheNanosecond) {
  for (const auto cost : {333'334ns, 100'101ns, 10'102ns, 1'112ns, 1'001ns, 1ns}) {
    redis().command({"DEL", limiter.key});
    EXPECT_EQ(wait_of(take(4 * one)), 0);
    const auto before = full_at();
    constexpr int permits = 300;
    for (int i = 0; i < permits; ++i) EXPECT_EQ(wait_of(take(cost)), 0);
    EXPECT_EQ(full_at() - before, permits * cost);
  }
}

TEST_P(RateScript, ReservesNoFurtherThanItCanCount) {
  const auto answer = send(microseconds{1LL << 43}, microseconds{1LL << 50}, next());
  EXPECT_EQ(answer.word, "due") << "101 days";
  EXPECT_EQ(send(microseconds{1LL << 43}, microseconds{1LL << 50}, next()).word, "wait");
}

TEST_P(RateScript, TakesSeveralAtOnce) {
  EXPECT_EQ(wait_of(take(3 * one)), 0);
  expect_wait(-100, take(3 * one));
  EXPECT_EQ(wait_of(take(2 * one)), 0);
}

TEST_P(RateScript, ReservesForThoseWhoWait) {
  EXPECT_EQ(wait_of(take(5 * one)), 0);
  expect_wait(100, take(one, 1h));
  expect_wait(300, take(2 * one, 1h));
  expect_wait(-400, take(one, 390s));
  expect_wait(400, take(one, 410s));
}

TEST_P(RateScript, TakesBackWhatIsNotUsed) {
  EXPECT_EQ(wait_of(take(5 * one)), 0);
  const auto first = reserve(2 * one), second = reserve(3 * one);
  EXPECT_TRUE(given_back(3 * one, second)) << "the last is";
  EXPECT_TRUE(given_back(2 * one, first)) << "and now this one is the last";
  EXPECT_FALSE(given_back(2 * one, first));
  expect_wait(100, take(one, 1h));
}

// The two together would be more than there ever are at once.
TEST_P(RateScript, TakesNothingBackFromUnderWhoAskedLater) {
  EXPECT_EQ(wait_of(take(5 * one)), 0);
  const auto first = reserve(5 * one);
  expect_wait(1000, take(5 * one, 1h));
  EXPECT_FALSE(given_back(5 * one, first));
  expect_wait(1500, take(5 * one, 1h));
}

TEST_P(RateScript, HasNoKeyWhenAllWereTakenBack) {
  EXPECT_EQ(wait_of(take(5 * one)), 0);
  const auto first = reserve(one);
  set_clock(502s);
  EXPECT_TRUE(given_back(one, first)) << "late, but unused";
  EXPECT_FALSE(redis().exists(limiter.key)) << "all are there";
}

TEST_P(RateScript, HasNoKeyOnceItHasRested) {
  EXPECT_EQ(wait_of(take(2 * one)), 0);
  EXPECT_NEAR(redis().pttl(limiter.key) / 1e3, 200, 2);
  set_clock(202s);
  EXPECT_FALSE(redis().exists(limiter.key));
  EXPECT_EQ(wait_of(take(5 * one)), 0);
}

TEST_P(RateScript, AClockThatStepsBackMakesNobodyWait) {
  set_clock(2h);
  EXPECT_EQ(wait_of(take(5 * one)), 0);
  set_clock(0s);
  expect_wait(-100, take(one));
}

TEST_P(RateScript, CopiesTakeOnce) {
  EXPECT_EQ(wait_of(take(4 * one)), 0);
  const auto id = next();
  const auto first = send(2 * one, 1h, id);
  const auto again = send(2 * one, 1h, id);
  EXPECT_EQ(first.rest, again.rest);
  EXPECT_EQ(read_rate(limiter, first), read_rate(limiter, again));
  expect_wait(-200, take(one));
}

TEST_P(RateScript, ForeignKeysAreRefusedAndUntouched) {
  for (const char* const text : {"", "x", "17", "1795240014867674 1795240014867674"}) {
    redis().command({"SET", limiter.key, text});
    EXPECT_EQ(code_of(read_rate(limiter, send(one, 0us, next()))), errc::foreign_key);
    EXPECT_EQ(redis().get(limiter.key), text);
  }
  redis().command({"DEL", limiter.key});
  redis().command({"RPUSH", limiter.key, "1"});
  const auto asked = rate_take(limiter, one, one, 0us);
  const auto id = next();
  const auto got =
      read_once(redis().ask([&](auto& out) { write_once(key_space{}, asked, id, never, out); }));
  EXPECT_EQ(code_of(got), errc::foreign_key);
}

}  // namespace
}  // namespace holdfast::dialects
