// Rate limiters: how many in which time, who waits how long, and what it costs.
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "net/clock.hpp"

namespace holdfast::conformance {
namespace {

using namespace std::string_literals;

class RateLimiter : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(RateLimiter);

double seconds_since(monotonic_time start) {
  return std::chrono::duration<double>(net::now() - start).count();
}

TEST_P(RateLimiter, RefusesAndSaysWhenToComeAgain) {
  const auto mails = redis().rate_limiter("mails", {.rate = 0.01, .burst = 3});
  EXPECT_EQ(mails.name(), "mails");
  const auto taken = mails.try_acquire(2);
  EXPECT_TRUE(taken);
  EXPECT_EQ(taken.wait, 0us);
  EXPECT_TRUE(another_client().rate_limiter("mails", {.rate = 0.01, .burst = 3}).try_acquire());
  const auto refused = mails.try_acquire();
  EXPECT_FALSE(refused);
  EXPECT_GT(refused.wait, 90s);
  EXPECT_LE(refused.wait, 100s);
  EXPECT_TRUE(redis().rate_limiter("other", {.rate = 0.01, .burst = 3}).try_acquire(3));
}

TEST_P(RateLimiter, WaitsAsLongAsTheServerSays) {
  const auto calls = redis().rate_limiter("calls", {.rate = 20, .burst = 2});
  const auto start = net::now();
  for (int i = 0; i < 12; ++i) calls.acquire();
  const auto took = seconds_since(start);
  EXPECT_GE(took, 10 / 20.0);
  EXPECT_LT(took, 10.0) << "and not much longer";
}

TEST_P(RateLimiter, AllProcessesTogetherKeepTheRate) {
  constexpr double rate = 100;
  constexpr int burst = 10;
  std::atomic<int> used{0};
  const auto start = net::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&] {
        const auto own = another_client();
        const auto calls = own.rate_limiter("calls", {.rate = rate, .burst = burst});
        for (int round = 0; round < 10; ++round) {
          calls.acquire();
          const int so_far = ++used;
          EXPECT_LE(so_far, burst + rate * seconds_since(start) + 1);
        }
      });
    }
  }
  EXPECT_GE(seconds_since(start), (60 - burst) / rate);
}

TEST_P(RateLimiter, DoesNotWaitForWhatWouldComeTooLate) {
  const auto mails = redis().rate_limiter("mails", {.rate = 0.01, .burst = 1});
  mails.acquire();
  const auto start = net::now();
  for (const auto timeout : {0ms, 100ms, 90'000ms}) {
    const auto why = thrown_by([&] { mails.acquire(1, {.timeout = timeout}); });
    EXPECT_EQ(why.reason(), errc::timed_out) << why.what();
  }
  EXPECT_EQ(thrown_by([&] { mails.acquire(); }).reason(), errc::timed_out) << "the default: 1 min";
  EXPECT_LT(seconds_since(start), 50);
  const auto wait = mails.try_acquire().wait;
  EXPECT_LE(wait, 100s) << "those who gave up have taken nothing";
}

// Asks for two more than there are, and is told that it was called off. It has asked already.
std::thread wait_until_called_off(const rate_limiter& mails, const std::stop_token& stop) {
  std::thread waits{[&mails, stop] {
    const auto why = thrown_by([&] { mails.acquire(2, {.timeout = forever}, stop); });
    EXPECT_EQ(why.reason(), errc::cancelled);
  }};
  EXPECT_TRUE(eventually([&] { return mails.try_acquire().wait > 200s; })) << "it stands before us";
  return waits;
}

TEST_P(RateLimiter, WhoIsCalledOffGivesItBack) {
  const auto mails = redis().rate_limiter("mails", {.rate = 0.01, .burst = 2});
  mails.acquire(2);
  std::stop_source stop;
  auto waits = wait_until_called_off(mails, stop.get_token());
  stop.request_stop();
  waits.join();
  EXPECT_LE(mails.try_acquire().wait, 100s);
  const auto asked = called("evalsha");
  EXPECT_EQ(thrown_by([&] { mails.acquire(1, {}, stop.get_token()); }).reason(), errc::cancelled);
  EXPECT_EQ(called("evalsha"), asked) << "it did not even ask";
}

TEST_P(RateLimiter, WhoIsCalledOffIsToldSoWhenTheServerHasGone) {
  auto server = start();
  const client redis{server.url(), {.connect_timeout = 100ms, .response_timeout = 100ms}};
  const auto mails = redis.rate_limiter("mails", {.rate = 0.01, .burst = 2});
  mails.acquire(2);
  std::stop_source stop;
  auto waits = wait_until_called_off(mails, stop.get_token());
  server.kill9();
  stop.request_stop();
  waits.join();
}

TEST_P(RateLimiter, EachCallCostsOneCommandHoweverLongItWaits) {
  const auto calls = redis().rate_limiter("calls", {.rate = 100, .burst = 1});
  calls.acquire();
  const auto scripts = called("evalsha");
  for (int i = 0; i < 10; ++i) calls.acquire();
  (void)calls.try_acquire();
  EXPECT_EQ(called("evalsha") - scripts, 11);
}

TEST_P(RateLimiter, NothingIsLeftOnceItHasRested) {
  client_options options;
  options.connect_timeout = options.response_timeout = 300ms;
  const client quick{server().url(), options};
  const auto calls = quick.rate_limiter("calls", {.rate = 10, .burst = 5});
  for (int i = 0; i < 5; ++i) calls.acquire();
  EXPECT_TRUE(eventually([&] { return server().command({"DBSIZE"}).number == 0; }));
}

TEST_P(RateLimiter, BadInputIsRefused) {
  const auto reason = [&](auto&& act) { return thrown_by(act).reason(); };
  const std::vector<rate_limit> wrong{{.rate = 0, .burst = 1},
                                      {.rate = -1, .burst = 1},
                                      {.rate = 2e6, .burst = 1},
                                      {.rate = 1, .burst = 0},
                                      {.rate = 1, .burst = 1'000'001},
                                      {.rate = 1e-7, .burst = 1},
                                      {.rate = std::numeric_limits<double>::infinity(), .burst = 1},
                                      {.rate = std::nan(""), .burst = 1}};
  for (const auto& limit : wrong) {
    EXPECT_EQ(reason([&] { (void)redis().rate_limiter("a", limit); }), errc::invalid_argument);
  }
  for (const auto& name : {""s, std::string(513, 'x')}) {
    EXPECT_EQ(reason([&] { (void)redis().rate_limiter(name, {}); }), errc::invalid_name);
  }
  const auto calls = redis().rate_limiter("calls", {.rate = 1, .burst = 3});
  EXPECT_EQ(reason([&] { (void)calls.try_acquire(0); }), errc::invalid_argument);
  EXPECT_EQ(reason([&] { (void)calls.try_acquire(4); }), errc::invalid_argument);
  EXPECT_EQ(reason([&] { calls.acquire(4); }), errc::invalid_argument);
  EXPECT_EQ(reason([&] { calls.acquire(1, {.timeout = -1ms}); }), errc::invalid_argument);
  server().command({"SET", "hf:rate:{calls}", "something else"});
  EXPECT_EQ(reason([&] { (void)calls.try_acquire(); }), errc::foreign_key);
}

}  // namespace
}  // namespace holdfast::conformance
