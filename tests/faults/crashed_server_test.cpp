// The server dies, freezes or forgets its scripts. With many threads at work:
// tests/conformance/turned_away_test.cpp.
#include <atomic>
#include <future>
#include <thread>

#include "faults/faulty_server.hpp"

namespace holdfast::faults {
namespace {

class CrashedServer : public fault_test {};
HOLDFAST_ON_EACH_SERVER(CrashedServer);

TEST_P(CrashedServer, RestartedEmptyTellsTheHolderAndGivesLargerTokens) {
  auto server = start();
  const client redis{server.url(), impatient()};
  const client stranger{server.url(), impatient()};
  std::uint64_t last = 0;
  for (int crash = 0; crash < 5; ++crash) {
    auto held = redis.mutex("a", {.lease = 900ms}).acquire();
    EXPECT_GT(held.token().value(), last);
    last = held.token().value();
    const auto lost = held.lost();
    server.restart();
    // A client that has never seen the old server must get a larger token as well.
    const auto taken = (crash % 2 == 0 ? stranger : client{server.url()})
                           .mutex("a")
                           .try_acquire({.timeout = support::generous});
    ASSERT_TRUE(taken) << why_not(taken);
    EXPECT_GT(taken->token().value(), last);
    last = taken->token().value();
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, 5s));
    EXPECT_FALSE(held.held());
  }
}

// It asks for nothing meanwhile: the next renewal would be in 100 s.
TEST_P(CrashedServer, RestartedEmptyTellsAnIdleHolderSoon) {
  auto server = start();
  const client redis{server.url(), impatient()};
  auto held = redis.mutex("a", {.lease = 300s}).acquire();
  const auto lost = held.lost();
  server.restart();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
}

TEST_P(CrashedServer, ThatStaysAwayEndsTheLeaseAtItsDeadline) {
  auto server = start();
  const client redis{server.url(), impatient()};
  auto held = redis.mutex("a", {.lease = 600ms}).acquire();
  const auto lost = held.lost();
  server.kill9();
  EXPECT_TRUE(eventually([&] { return !held.held(); }, 5s));
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, 5s));
  expect_failure(held.release(), errc::lost, "the lease ended");
  expect_failure(redis.mutex("a").try_acquire(), errc::unavailable, "cannot connect to the socket");
  expect_failure(redis.mutex("a").try_acquire({.timeout = 1s}), errc::unavailable,
                 "cannot connect to the socket");
}

TEST_P(CrashedServer, WaitersComeBackWithIt) {
  auto server = start();
  const client redis{server.url(), impatient()};
  ASSERT_TRUE(redis.mutex("a").try_acquire());
  server.kill9();
  std::vector<std::thread> waiters;
  std::atomic<int> got{0};
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      const auto held = redis.mutex("a").try_acquire({.timeout = support::generous});
      EXPECT_TRUE(held) << why_not(held);
      ++got;
    });
  }
  server.restart();
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(got, 8);
}

TEST_P(CrashedServer, FrozenOneKeepsNobodyLongerThanItsTimeout) {
  auto server = start();
  const client redis{server.url(), impatient()};
  auto released = redis.mutex("released").acquire();
  auto extended = redis.mutex("extended").acquire();
  auto renewed = redis.mutex("renewed", {.lease = 900ms}).acquire();
  const auto lost = renewed.lost();
  server.freeze();
  const auto within = [](milliseconds bound, auto&& call) {
    const auto before = net::now();
    call();
    EXPECT_LT(net::now() - before, bound);
  };
  // Half a second for an answer and half a second for a new connection; the rest is for a busy
  // machine.
  within(3s, [&] {
    expect_failure(redis.mutex("a").try_acquire(), errc::unavailable, "did not answer");
  });
  within(3s, [&] {
    expect_failure(redis.mutex("a").try_acquire({.timeout = 200ms}), errc::timed_out, "");
  });
  within(3s, [&] { expect_failure(extended.extend(60s), errc::unavailable, "does not answer"); });
  within(3s, [&] { expect_failure(released.release(), errc::unavailable, "tried again"); });
  within(3s, [&] {
    const client newcomer{server.url(), impatient()};
    expect_failure(newcomer.mutex("a").try_acquire(), errc::unavailable, "does not answer");
  });
  EXPECT_TRUE(extended.held());
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, 5s));
  server.thaw();
  EXPECT_TRUE(redis.mutex("released").try_acquire({.timeout = support::generous}));
  EXPECT_TRUE(redis.mutex("renewed").try_acquire({.timeout = support::generous}));
  EXPECT_TRUE(extended.extend(60s));
}

TEST_P(CrashedServer, AskerOfAFrozenOneCanBeStopped) {
  auto server = start();
  client_options options;
  options.response_timeout = 60s;
  const client redis{server.url(), options};
  const auto wanted = redis.mutex("a");
  wanted.acquire().release().value();
  server.freeze();
  std::stop_source stop;
  auto asking = std::async(std::launch::async, [&] {
    return wanted.try_acquire({.timeout = forever}, stop.get_token());
  });
  EXPECT_EQ(asking.wait_for(50ms), std::future_status::timeout);  // long enough to have asked
  const auto before = net::now();
  stop.request_stop();
  expect_failure(asking.get(), errc::cancelled, "");
  EXPECT_LT(net::now() - before, 5s);
  server.thaw();
}

TEST_P(CrashedServer, WaiterOfAFrozenOneMayCloseHisClient) {
  auto server = start();
  const client other{server.url()};
  const auto held = other.mutex("a").acquire();
  std::stop_source stop;
  {
    const client redis{server.url(), impatient()};
    auto waiting = std::async(std::launch::async, [&] {
      return redis.mutex("a").try_acquire({.timeout = forever}, stop.get_token());
    });
    EXPECT_TRUE(eventually([&] { return inspector{other}.status("a").waiting == 1; }));
    server.freeze();
    stop.request_stop();
    expect_failure(waiting.get(), errc::cancelled, "");
  }
  server.thaw();
}

TEST_P(CrashedServer, FrozenForLessThanTheLeaseCostsNothingButTime) {
  auto server = start();
  const client redis{server.url(), impatient()};
  const auto held = redis.mutex("a", {.lease = 6s}).acquire();
  const auto first_deadline = net::now() + held.remaining();
  server.freeze();
  EXPECT_TRUE(eventually([&] { return held.remaining() < 3s; }));  // a renewal fails at 4 s
  server.thaw();
  EXPECT_TRUE(eventually([&] { return net::now() + held.remaining() > first_deadline + 1s; }, 5s));
  EXPECT_TRUE(held.held());
}

// Else the release would come behind what is asked right after it.
TEST_P(CrashedServer, AReleaseIsSentOnceAlsoWhenItsScriptIsMissing) {
  const auto server = start();
  const client redis{server.url()};
  const auto wanted = redis.mutex("wanted");
  wanted.acquire().release().value();
  server.command({"SCRIPT", "FLUSH"});
  server.command({"CONFIG", "RESETSTAT"});
  for (int i = 0; i < 3; ++i) wanted.acquire().release().value();
  EXPECT_EQ(server.calls("eval"), 2);
  EXPECT_EQ(server.calls("evalsha"), 1 + 4);  // the first acquisition finds its script missing
}

}  // namespace
}  // namespace holdfast::faults
