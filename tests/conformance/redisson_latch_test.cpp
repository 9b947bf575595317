// Latches as Redisson's RCountDownLatch, against what Redisson writes.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

const std::string channel = "redisson_countdownlatch__channel__{start}";

class RedissonLatch : public mutex_test {
 protected:
  static latch start_of(const client& of) { return of.latch("start", dialect::redisson()); }
  latch here() const { return start_of(redis()); }
  std::string value() const { return server().command({"GET", "start"}).text; }
  // As the library's own countDown.
  void they_count_down() const {
    server().command({"EVAL",
                      "local v = redis.call('decr', KEYS[1]) "
                      "if v <= 0 then redis.call('del', KEYS[1]) end "
                      "if v == 0 then redis.call(ARGV[2], KEYS[2], ARGV[1]) end",
                      "2", "start", channel, "0", of_redisson().publish});
  }
  bool are_listening(std::int64_t clients) const {
    return eventually([&] {
      return server().command({"PUBSUB", of_redisson().count, channel}).items.at(1).number ==
             clients;
    });
  }
  std::int64_t seconds() const { return std::stoll(server().command({"TIME"}).items.at(0).text); }
};
HOLDFAST_ON_EACH_SERVER(RedissonLatch);

TEST_P(RedissonLatch, IsOneNumberForBothLibraries) {
  const auto start = here();
  EXPECT_EQ(start.name(), "start");
  start.wait();
  EXPECT_EQ(start.count_down(), 0U);
  ASSERT_TRUE(start.try_set(4));
  EXPECT_FALSE(start.try_set(9));
  EXPECT_EQ(value(), "4");
  they_count_down();
  EXPECT_EQ(start.count(), 3U);
  EXPECT_EQ(start.count_down(2), 1U);
  EXPECT_EQ(value(), "1");
  expect_reason(start.try_wait(), errc::busy);
  they_count_down();
  EXPECT_EQ(start.count(), 0U);
  EXPECT_TRUE(start.try_wait());
  server().command({"SET", "start", "2"});
  EXPECT_FALSE(start.try_set(9));
  EXPECT_EQ(start.count_down(7), 0U);
  EXPECT_EQ(value(), "");
}

TEST_P(RedissonLatch, LetsAllWhoWaitGoOn) {
  constexpr int waiters = 8;
  ASSERT_TRUE(here().try_set(2));
  std::atomic<int> passed{0};
  const client clients[] = {another_client(), another_client()};
  std::vector<std::jthread> threads;
  for (int i = 0; i < waiters; ++i) {
    threads.emplace_back([&, i] {
      start_of(clients[i % 2]).wait({.timeout = generous});
      ++passed;
    });
  }
  ASSERT_TRUE(are_listening(2));
  they_count_down();
  EXPECT_EQ(passed, 0);
  here().count_down();
  threads.clear();
  EXPECT_EQ(passed, waiters);
}

// A waiter that hears something asks again at once, and otherwise every two seconds.
TEST_P(RedissonLatch, TellsThoseWhoWait) {
  ASSERT_TRUE(here().try_set(1));
  std::jthread waiting{[&] { EXPECT_TRUE(here().try_wait({.timeout = generous})); }};
  ASSERT_TRUE(are_listening(1));
  constexpr int messages = 8;
  const auto began = seconds();
  for (int i = 0; i < messages; ++i) {
    const auto before = called("get");
    server().command({of_redisson().publish, channel, "1"});
    EXPECT_TRUE(eventually([&] { return called("get") > before; }));
  }
  EXPECT_LT(seconds() - began, messages);
  they_count_down();
}

TEST_P(RedissonLatch, DoesNotDependOnAMessage) {
  client_options polls;
  polls.wakeup = wakeup::poll;
  const client other{server().url(), polls};
  ASSERT_TRUE(here().try_set(1));
  std::jthread poller{[&] { start_of(other).wait({.timeout = generous}); }};
  std::jthread listener{[&] { here().wait({.timeout = generous}); }};
  ASSERT_TRUE(are_listening(1));
  server().command({"DEL", "start"});  // as FLUSHALL, or an expiry: nobody says anything
}

TEST_P(RedissonLatch, IsWaitedForAcrossABreak) {
  ASSERT_TRUE(here().try_set(1));
  std::jthread waiting{[&] { here().wait({.timeout = generous}); }};
  ASSERT_TRUE(are_listening(1));
  server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
  server().command({"CLIENT", "KILL", "TYPE", "normal"});
  they_count_down();
}

TEST_P(RedissonLatch, SaysWhyItWasNotPassed) {
  ASSERT_TRUE(here().try_set(1));
  expect_reason(here().try_wait(), errc::busy);
  expect_reason(here().try_wait({.timeout = 50ms}), errc::timed_out);
  std::stop_source stop;
  std::jthread stopper{[&] {
    EXPECT_TRUE(are_listening(1));
    stop.request_stop();
  }};
  EXPECT_EQ(thrown_by([&] { here().wait({}, stop.get_token()); }).reason(), errc::cancelled);
  EXPECT_TRUE(are_listening(0)) << "nobody listens for long who does not wait";
}

TEST_P(RedissonLatch, CanBeAwaited) {
  ASSERT_TRUE(here().try_set(1));
  std::jthread opener{[&] {
    EXPECT_TRUE(are_listening(1));
    they_count_down();
  }};
  sync_wait([](latch of) -> task<> {
    expect_reason(co_await of.async_try_wait(), errc::busy);
    co_await of.async_wait();
    EXPECT_TRUE(co_await of.async_try_wait());
  }(here()));
}

TEST_P(RedissonLatch, CanBeSetAgain) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(here().try_set(1));
    std::jthread waiter{[&] { start_of(another_client()).wait({.timeout = generous}); }};
    ASSERT_TRUE(are_listening(1));
    here().count_down();
    waiter.join();
    ASSERT_TRUE(are_listening(0));
  }
}

TEST_P(RedissonLatch, EveryCountOfManyThreadsCounts) {
  constexpr std::uint32_t threads = 8, each = 50;
  ASSERT_TRUE(here().try_set(threads * each));
  std::jthread waiter{[&] { start_of(another_client()).wait({.timeout = generous}); }};
  std::vector<std::jthread> all;
  for (std::uint32_t i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      for (std::uint32_t k = 0; k < each; ++k) {
        i % 2 == 0 ? (void)here().count_down() : they_count_down();
      }
    });
  }
  all.clear();
  EXPECT_EQ(here().count(), 0U);
}

TEST_P(RedissonLatch, IsNotHoldfastsOwn) {
  ASSERT_TRUE(here().try_set(1));
  EXPECT_EQ(redis().latch("start").count(), 0U);
  EXPECT_TRUE(redis().latch("start").try_set(7));
  EXPECT_EQ(here().count(), 1U);
}

// A number tells neither which of Redisson's kinds it is of, nor that it is Redisson's.
TEST_P(RedissonLatch, IsNotShown) {
  ASSERT_TRUE(here().try_set(1));
  const inspector look{redis()};
  const auto shown = look.status("start", dialect::redisson());
  EXPECT_EQ(shown.state, lock_state::foreign);
  EXPECT_EQ(shown.detail, "a key of a type that no such lock has");
  EXPECT_TRUE(look.list_all_dialects().locks.empty());
}

TEST_P(RedissonLatch, RefusesWhatIsSomethingElse) {
  const auto held = redis().mutex("start", {}, dialect::redisson()).acquire();
  const auto start = here();
  EXPECT_EQ(thrown_by([&] { (void)start.try_set(1); }).reason(), errc::foreign_key);
  EXPECT_EQ(thrown_by([&] { start.count_down(); }).reason(), errc::foreign_key);
  EXPECT_EQ(thrown_by([&] { (void)start.count(); }).reason(), errc::foreign_key);
  expect_reason(start.try_wait(), errc::foreign_key);
}

TEST_P(RedissonLatch, RefusesWhatItCannotHave) {
  using enum redisson_lock;
  for (const auto& other : {dialect::redisson(spin), dialect::redisson(fenced),
                            dialect::redisson(expirable), dialect::go_zero()}) {
    EXPECT_EQ(thrown_by([&] { (void)redis().latch("start", other); }).reason(), errc::unsupported);
  }
  const auto start = here();
  EXPECT_EQ(thrown_by([&] { (void)start.try_set(0); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { start.count_down(0); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { (void)redis().latch("", dialect::redisson()); }).reason(),
            errc::invalid_name);
}

TEST_P(RedissonLatch, EachCallCostsOneCommand) {
  const auto start = here();
  const auto all = [&] {
    EXPECT_TRUE(start.try_set(2));
    start.count_down();
    expect_reason(start.try_wait(), errc::busy);
    start.count_down();
    start.wait();
  };
  all();
  const auto scripts = called("evalsha");
  const auto questions = called("get");
  all();
  EXPECT_EQ(called("evalsha") - scripts, 3);
  // Two by each script itself: whether it was answered before, and the latch.
  EXPECT_EQ(called("get") - questions, 2 + 3 * 2);
}

}  // namespace
}  // namespace holdfast::conformance
