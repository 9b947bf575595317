// Barriers between threads, clients and processes.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

class Barrier : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(Barrier);

TEST_P(Barrier, LetsAllPartiesGoOnTogetherAgainAndAgain) {
  constexpr std::uint32_t parties = 4;
  constexpr int rounds = 25;
  std::atomic<int> inside{0};
  std::mutex guard;
  std::vector<std::set<std::uint64_t>> generations(rounds);
  std::vector<std::jthread> threads;
  const client clients[] = {another_client(), another_client()};
  for (std::uint32_t i = 0; i < parties; ++i) {
    threads.emplace_back([&, i] {
      const auto meet = clients[i % 2].barrier("round", parties);
      for (int round = 0; round < rounds; ++round) {
        ++inside;
        const auto generation = meet.arrive_and_wait({.timeout = generous});
        EXPECT_GE(inside, static_cast<int>(parties) * (round + 1)) << "somebody was missing";
        const std::lock_guard lock(guard);
        generations[static_cast<std::size_t>(round)].insert(generation);
      }
    });
  }
  threads.clear();
  std::uint64_t last = 0;
  for (const auto& one : generations) {
    ASSERT_EQ(one.size(), 1U) << "all parties of a round get the same number";
    EXPECT_GT(*one.begin(), last);
    last = *one.begin();
  }
  for (const auto& key : server().command({"KEYS", "hf:{*"}).items) {
    EXPECT_GT(server().command({"PTTL", key.text}).number, 0) << key.text;
    EXPECT_TRUE(key.text.ends_with(":g")) << key.text;
  }
}

TEST_P(Barrier, DoesNotCountWhoGaveUp) {
  const auto meet = redis().barrier("a", 2);
  expect_reason(meet.try_arrive_and_wait(), errc::busy);
  expect_reason(meet.try_arrive_and_wait({.timeout = 50ms}), errc::timed_out);
  EXPECT_TRUE(waits("a", 0));
  std::stop_source stop;
  std::jthread stopper{[&] {
    EXPECT_TRUE(waits("a", 1));
    stop.request_stop();
  }};
  const auto why = thrown_by([&] { meet.arrive_and_wait({}, stop.get_token()); });
  EXPECT_EQ(why.reason(), errc::cancelled);
  EXPECT_TRUE(waits("a", 0));
  std::jthread other{[&] { another_client().barrier("a", 2).arrive_and_wait(); }};
  EXPECT_TRUE(waits("a", 1));
  EXPECT_TRUE(meet.try_arrive_and_wait());
}

TEST_P(Barrier, CanBeAwaited) {
  const auto meet = redis().barrier("a", 2);
  std::jthread other{[&] {
    EXPECT_TRUE(waits("a", 1));
    EXPECT_TRUE(another_client().barrier("a", 2).try_arrive_and_wait());
  }};
  sync_wait([](barrier of) -> task<> {
    expect_reason(co_await of.async_try_arrive_and_wait(), errc::busy);
    EXPECT_GT(co_await of.async_arrive_and_wait(), 0U);
  }(meet));
}

TEST_P(Barrier, DoesNotDependOnAMessage) {
  client_options polls;
  polls.wakeup = wakeup::poll;
  std::jthread poller{[&] {
    (client{server().url(), polls}).barrier("a", 3).arrive_and_wait({.timeout = generous});
  }};
  std::jthread listener{
      [&] { another_client().barrier("a", 3).arrive_and_wait({.timeout = generous}); }};
  ASSERT_TRUE(waits("a", 2));
  server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
  redis().barrier("a", 3).arrive_and_wait({.timeout = generous});
}

TEST_P(Barrier, RefusesWhatNobodyCanMean) {
  EXPECT_EQ(thrown_by([&] { (void)redis().barrier("a", 0); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { (void)redis().barrier("a", 1001); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { (void)redis().barrier("", 2); }).reason(), errc::invalid_name);
  const auto alone = redis().barrier("alone", 1);
  EXPECT_EQ(alone.name(), "alone");
  EXPECT_EQ(alone.parties(), 1U);
  EXPECT_GT(alone.arrive_and_wait(), 0U);
  std::jthread other{[&] { another_client().barrier("a", 3).arrive_and_wait({.timeout = 10s}); }};
  ASSERT_TRUE(waits("a", 1));
  expect_reason(redis().barrier("a", 2).try_arrive_and_wait({.timeout = 5s}),
                errc::invalid_argument);
  expect_reason(redis().mutex("a").try_acquire(), errc::foreign_key);
  std::jthread third{[&] { another_client().barrier("a", 3).arrive_and_wait({.timeout = 10s}); }};
  redis().barrier("a", 3).arrive_and_wait({.timeout = 10s});
  const auto held = redis().mutex("b").acquire();
  expect_reason(redis().barrier("b", 2).try_arrive_and_wait(), errc::foreign_key);
}

TEST_P(Barrier, AnArrivalCostsOneCommand) {
  const auto other = another_client();
  const auto meet = [&] {
    std::jthread first{[&] { other.barrier("a", 2).arrive_and_wait(); }};
    ASSERT_TRUE(eventually([&] { return server().command({"ZCARD", "hf:{a}:w"}).number == 1; }));
    redis().barrier("a", 2).arrive_and_wait();
  };
  meet();
  const auto before = called("evalsha");
  meet();
  EXPECT_EQ(called("evalsha") - before, 2);
}

// Forks before there are threads.
class BarrierProcesses : public support::server_test {};
HOLDFAST_ON_EACH_SERVER(BarrierProcesses);

TEST_P(BarrierProcesses, WhoDiesIsNotCounted) {
  const auto server = start();
  const auto arrive = [&](const support::forked::teller& parent) {
    const client mine{server.url()};
    mine.barrier("a", 2).arrive_and_wait({.timeout = forever});
    parent.tell("passed");
  };
  support::forked dies{arrive};
  const auto arrived = [&] { return server.command({"ZCARD", "hf:{a}:w"}).number; };
  ASSERT_TRUE(eventually([&] { return arrived() == 1; }));
  dies.kill9();
  ASSERT_TRUE(eventually([&] {
    return server.command({"PUBSUB", "CHANNELS", "hf:c:*"}).items.empty();
  }));
  support::forked first{arrive}, second{arrive};
  EXPECT_EQ(first.heard(), "passed");
  EXPECT_EQ(second.heard(), "passed");
  EXPECT_EQ(arrived(), 0);
}

}  // namespace
}  // namespace holdfast::conformance
