// Latches between threads, clients and processes.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

class Latch : public mutex_test {
 protected:
  // What is there although nobody waits, but what stays by design and what ends by itself.
  std::vector<std::string> left_over() const {
    std::vector<std::string> keys;
    for (const auto& key : server().command({"KEYS", "hf:{*"}).items) {
      if (server().command({"PTTL", key.text}).number < 0) keys.push_back(key.text);
    }
    return keys;
  }
};
HOLDFAST_ON_EACH_SERVER(Latch);

TEST_P(Latch, LetsAllWhoWaitGoOn) {
  constexpr int waiters = 8;
  const auto start = redis().latch("start");
  ASSERT_TRUE(start.try_set(3));
  std::atomic<int> passed{0};
  std::vector<std::jthread> threads;
  const client clients[] = {another_client(), another_client()};
  for (int i = 0; i < waiters; ++i) {
    threads.emplace_back([&, i] {
      clients[i % 2].latch("start").wait({.timeout = generous});
      ++passed;
    });
  }
  ASSERT_TRUE(waits("start", waiters));
  EXPECT_EQ(start.count_down(), 2U);
  EXPECT_EQ(another_client().latch("start").count_down(), 1U);
  EXPECT_EQ(passed, 0);
  EXPECT_EQ(start.count(), 1U);
  EXPECT_EQ(start.count_down(), 0U);
  threads.clear();
  EXPECT_EQ(passed, waiters);
  EXPECT_EQ(left_over(), std::vector<std::string>{});
}

TEST_P(Latch, IsOpenWhenItIsNotSet) {
  const auto start = redis().latch("start");
  EXPECT_EQ(start.name(), "start");
  start.wait();
  EXPECT_EQ(start.count_down(), 0U);
  ASSERT_TRUE(start.try_set(1));
  EXPECT_FALSE(start.try_set(2));
  EXPECT_EQ(start.count(), 1U);
  EXPECT_EQ(start.count_down(7), 0U);
  EXPECT_TRUE(start.try_wait());
}

TEST_P(Latch, SaysWhyItWasNotPassed) {
  const auto start = redis().latch("start");
  ASSERT_TRUE(start.try_set(1));
  expect_reason(start.try_wait(), errc::busy);
  expect_reason(start.try_wait({.timeout = 50ms}), errc::timed_out);
  std::stop_source stop;
  std::jthread stopper{[&] {
    EXPECT_TRUE(waits("start", 1));
    stop.request_stop();
  }};
  EXPECT_EQ(thrown_by([&] { start.wait({}, stop.get_token()); }).reason(), errc::cancelled);
  EXPECT_TRUE(waits("start", 0)) << "who gave up left the queue";
}

TEST_P(Latch, CanBeAwaited) {
  const auto start = redis().latch("start");
  ASSERT_TRUE(start.try_set(1));
  std::jthread opener{[&] {
    EXPECT_TRUE(waits("start", 1));
    another_client().latch("start").count_down();
  }};
  sync_wait([](latch of) -> task<> {
    expect_reason(co_await of.async_try_wait(), errc::busy);
    co_await of.async_wait();
    EXPECT_TRUE(co_await of.async_try_wait());
  }(start));
}

TEST_P(Latch, DoesNotDependOnAMessage) {
  client_options polls;
  polls.wakeup = wakeup::poll;
  const client other{server().url(), polls};
  ASSERT_TRUE(redis().latch("start").try_set(1));
  std::jthread poller{[&] { other.latch("start").wait({.timeout = generous}); }};
  std::jthread listener{[&] { another_client().latch("start").wait({.timeout = generous}); }};
  ASSERT_TRUE(waits("start", 2));
  server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
  server().command({"CLIENT", "KILL", "TYPE", "normal"});
  redis().latch("start").count_down();
}

TEST_P(Latch, EveryCountOfManyThreadsCounts) {
  constexpr std::uint32_t threads = 8, each = 50;
  ASSERT_TRUE(redis().latch("done").try_set(threads * each));
  std::jthread waiter{[&] { another_client().latch("done").wait({.timeout = generous}); }};
  std::vector<std::jthread> all;
  for (std::uint32_t i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (std::uint32_t k = 0; k < each; ++k) redis().latch("done").count_down();
    });
  }
  all.clear();
  EXPECT_EQ(redis().latch("done").count(), 0U);
}

TEST_P(Latch, CanBeSetAgain) {
  const auto round = redis().latch("round");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(round.try_set(1));
    std::jthread waiter{[&] { another_client().latch("round").wait({.timeout = generous}); }};
    ASSERT_TRUE(waits("round", 1));
    round.count_down();
  }
}

TEST_P(Latch, KeepsTheKindsApart) {
  const auto held = redis().mutex("a").acquire();
  EXPECT_EQ(thrown_by([&] { (void)redis().latch("a").try_set(1); }).reason(), errc::foreign_key);
  EXPECT_EQ(thrown_by([&] { (void)redis().latch("a").count(); }).reason(), errc::foreign_key);
  expect_reason(redis().latch("a").try_wait(), errc::foreign_key);
  ASSERT_TRUE(redis().latch("b").try_set(1));
  expect_reason(redis().mutex("b").try_acquire(), errc::foreign_key);
  expect_reason(redis().read_write_lock("b").shared().try_acquire(), errc::foreign_key);
}

TEST_P(Latch, RefusesWhatNobodyCanMean) {
  const auto start = redis().latch("start");
  EXPECT_EQ(thrown_by([&] { (void)start.try_set(0); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { start.count_down(0); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { (void)start.try_wait({.timeout = -1ms}); }).reason(),
            errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { (void)redis().latch(""); }).reason(), errc::invalid_name);
}

TEST_P(Latch, EachCallCostsOneCommand) {
  const auto start = redis().latch("start");
  const auto all = [&] {
    EXPECT_TRUE(start.try_set(2));
    start.count_down();
    expect_reason(start.try_wait(), errc::busy);
    start.count_down();
    start.wait();
  };
  all();
  const auto before = called("evalsha");
  all();
  EXPECT_EQ(called("evalsha") - before, 5);
  // A user that may not load scripts sends them once more (scripts/test-as-user).
  if (std::getenv("HOLDFAST_TEST_ACL") != nullptr) return;
  EXPECT_EQ(called("eval"), 2) << "each script once, when it was not known yet";
}

// Forks before there are threads.
class LatchProcesses : public support::server_test {};
HOLDFAST_ON_EACH_SERVER(LatchProcesses);

TEST_P(LatchProcesses, WhoDiesWaitingKeepsNobody) {
  const auto server = start();
  const auto wait = [&](const support::forked::teller& parent) {
    const client mine{server.url()};
    mine.latch("start").wait({.timeout = forever});
    parent.tell("passed");
  };
  server.command({"SET", "hf:{start}", "1l:1"});
  support::forked dies{wait}, lives{wait};
  const client redis{server.url()};
  ASSERT_TRUE(eventually([&] { return inspector{redis}.status("start").waiting == 2; }));
  dies.kill9();
  EXPECT_EQ(redis.latch("start").count_down(), 0U);
  EXPECT_EQ(lives.heard(), "passed");
  EXPECT_EQ(lives.wait(), 0);
  EXPECT_EQ(inspector{redis}.status("start").waiting, 0U);
}

}  // namespace
}  // namespace holdfast::conformance
