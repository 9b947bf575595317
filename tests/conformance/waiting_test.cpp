// Waiting: order, hand-over between clients and within one, and what becomes of those who leave.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

class Waiting : public mutex_test {
 protected:
  std::int64_t scripts_called() const { return called("evalsha"); }
  // What clients send besides, and no script does.
  std::int64_t other_commands() const {
    std::int64_t sum = 0;
    for (const auto* one : {"eval", "ping", "hello", "subscribe", "wait", "script|load",
                            "client|id", "client|setname", "client|setinfo", "info"}) {
      sum += called(one);
    }
    return sum;
  }
};
HOLDFAST_ON_EACH_SERVER(Waiting);

TEST_P(Waiting, ClientsAreServedInTheOrderOfTheirArrival) {
  auto first = another_client().mutex("a").acquire();
  std::mutex guard;
  std::vector<int> served;
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      const auto held = another_client().mutex("a").acquire();
      const std::lock_guard lock(guard);
      served.push_back(i);
    });
    ASSERT_TRUE(waits("a", static_cast<std::size_t>(i) + 1));
  }
  EXPECT_TRUE(first.release());
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_P(Waiting, FairLocksServeTheThreadsOfAClientInTheOrderOfTheirArrival) {
  const auto lock = redis().mutex("a", {.fair = true});
  auto first = lock.acquire();
  std::mutex guard;
  std::vector<int> served;
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      const auto held = lock.acquire();
      const std::lock_guard in(guard);
      served.push_back(i);
    });
    ASSERT_TRUE(waits("a", static_cast<std::size_t>(i) + 1));
  }
  EXPECT_TRUE(first.release());
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3, 4}));
}

// A waiter that comes to the front through quick hand-overs has asked when many stood before it.
TEST_P(Waiting, WhoComesToTheFrontGetsTheLockOfOneThatOverran) {
  constexpr int waiters = 9, overruns = waiters - 2;
  const auto lock =
      redis().mutex("a", {.lease = milliseconds(300), .renewal = renewal::none, .fair = true});
  auto first = another_client().mutex("a").acquire();
  std::atomic<bool> last_has_it{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < waiters; ++i) {
    threads.emplace_back([&, i] {
      auto held = lock.acquire();
      if (i == waiters - 1) last_has_it = true;
      if (i != overruns) return;
      // The last asked when eight stood before it: it would ask in eight seconds.
      EXPECT_TRUE(eventually([&] { return last_has_it.load(); }, std::chrono::seconds(4)));
    });
    ASSERT_TRUE(waits("a", static_cast<std::size_t>(i) + 1));
  }
  EXPECT_TRUE(first.release());
  for (auto& thread : threads) thread.join();
}

TEST_P(Waiting, AContendedAcquisitionCostsTwoCommands) {
  constexpr int rounds = 200;
  const client one = another_client(), two = another_client();
  std::atomic<int> ready{0};
  const auto run = [&](const client& of) {
    const auto lock = of.mutex("a");
    (void)lock.acquire();
    ++ready;
    while (ready < 2) std::this_thread::yield();
    for (int i = 0; i < rounds; ++i) EXPECT_TRUE(lock.acquire().release());
  };
  const auto before = scripts_called();
  const auto others_before = other_commands();
  std::thread other{[&] { run(two); }};
  run(one);
  other.join();
  const auto called = scripts_called() - before;
  // The clients register themselves, and the warm-up is counted too.
  EXPECT_GE(called, 4 * rounds);
  EXPECT_LE(called, 4 * rounds + 12);
  EXPECT_LE(other_commands() - others_before, 40) << "to log in";
}

TEST_P(Waiting, ThreadsOfAClientPassTheLockOnWithGrowingTokens) {
  const auto lock = redis().mutex("a");
  std::atomic<int> inside{0};
  std::uint64_t last = 0;
  const auto before = scripts_called();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        const auto held = lock.acquire();
        EXPECT_EQ(inside.fetch_add(1), 0);
        EXPECT_GT(held.token().value(), last);
        last = held.token().value();
        --inside;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LT(scripts_called() - before, 4000) << "most hand-overs need no server";
}

// Which of its turn a hold is, its token tells. Each is a round trip at least: few fit into the 5
// ms of a turn, and without that end nearly all would be of one.
TEST_P(Waiting, ThreadsOfAClientPassTheLockOnForAWhileOnly) {
  constexpr std::uint64_t minors = 2048;
  const auto lock = redis().mutex("a");
  const inspector look{redis()};
  std::atomic<std::uint64_t> longest{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        const auto held = lock.acquire();
        std::ignore = look.status("b");
        longest = std::max(longest.load(), held.token().value() % minors);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(longest, 0U);
  EXPECT_LT(longest, 500U);
}

TEST_P(Waiting, WhoGivesUpLeavesTheQueueAndTheNextIsServed) {
  auto held = redis().mutex("a").acquire();
  std::stop_source stop;
  std::thread leaver{[&] {
    expect_reason(another_client().mutex("a").try_acquire({.timeout = forever}, stop.get_token()),
                  errc::cancelled);
  }};
  ASSERT_TRUE(waits("a", 1));
  std::thread stayer{[&] { (void)another_client().mutex("a").acquire(); }};
  ASSERT_TRUE(waits("a", 2));
  stop.request_stop();
  leaver.join();
  EXPECT_TRUE(waits("a", 1));
  EXPECT_TRUE(held.release());
  stayer.join();
}

// The thread that waits reads the message itself, and nothing else happens in its client.
TEST_P(Waiting, AFixedLeaseThatIsHandedOverIsAWholeOne) {
  auto held = redis().mutex("a").acquire();
  std::thread waits_alone{[away = another_client()] {
    const auto got = away.mutex("a", {.lease = 60s, .renewal = renewal::none}).acquire();
    EXPECT_TRUE(eventually([&] { return got.remaining() > 30s || !got.held(); }));
    EXPECT_TRUE(got.held());
  }};
  EXPECT_TRUE(waits("a", 1));
  EXPECT_TRUE(held.release());
  waits_alone.join();
}

TEST_P(Waiting, AWaiterWhosePlaceWasDeletedQueuesAgain) {
  auto held = redis().mutex("a", {.lease = 400ms}).acquire();
  std::thread waiter{[&] { (void)another_client().mutex("a").acquire({.timeout = 30s}); }};
  ASSERT_TRUE(waits("a", 1));
  server().command({"DEL", "hf:{a}:w", "hf:{a}:i"});
  EXPECT_TRUE(waits("a", 1)) << "it asks when the owner's lease could have ended";
  EXPECT_TRUE(held.release());
  waiter.join();
}

TEST_P(Waiting, WorksWithoutMessages) {
  client_options options;
  options.wakeup = wakeup::poll;
  const client polls{server().url(), options};
  auto held = redis().mutex("a").acquire();
  std::thread waiter{[&] { (void)polls.mutex("a").acquire(); }};
  ASSERT_TRUE(waits("a", 1));
  EXPECT_TRUE(held.release());
  waiter.join();
  EXPECT_EQ(server().command({"PUBSUB", "CHANNELS", "hf:c:*"}).items.size(), 1U)
      << "only the other client's";
}

TEST_P(Waiting, AFullQueueIsARefusal) {
  const mutex_options one_waiter{.fair = true, .queue_limit = 1};
  auto held = redis().mutex("a", one_waiter).acquire();
  expect_reason(another_client().mutex("a", {.queue_limit = 0}).try_acquire({.timeout = 30s}),
                errc::queue_full);
  std::thread waiter{[&] { (void)another_client().mutex("a", one_waiter).acquire(); }};
  ASSERT_TRUE(waits("a", 1));
  expect_reason(another_client().mutex("a", one_waiter).try_acquire({.timeout = 30s}),
                errc::queue_full);
  EXPECT_TRUE(held.release());
  waiter.join();
}

TEST_P(Waiting, ALostLockKeepsNobodyOfTheClientWaiting) {
  const auto lock = redis().mutex("a", {.lease = 300ms});
  const auto held = lock.acquire();
  std::optional<lease> next;
  std::thread waiter{[&] { next.emplace(lock.acquire()); }};
  server().command({"DEL", "hf:{a}"});
  waiter.join();  // although the first is never released
  EXPECT_FALSE(held.held());
  EXPECT_GT(next->token(), held.token());
}

// The waiter that gives up may have been woken to take the lock, and not have looked yet.
TEST_P(Waiting, WhoGivesUpAfterHeWasWokenLeavesTheLockToTheNext) {
  const auto other = another_client();
  for (const auto& options : {mutex_options{}, mutex_options{.retain = 10ms}}) {
    const auto lock = redis().mutex("a", options);
    for (int round = 0; round < 20; ++round) {
      const bool has_next = round % 2 == 0;
      std::stop_source stop;
      std::optional held = lock.acquire();
      std::thread first{
          [&] { std::ignore = lock.try_acquire({.timeout = forever}, stop.get_token()); }};
      std::thread next;
      if (has_next) next = std::thread{[&] { EXPECT_TRUE(lock.try_acquire({.timeout = 5s})); }};
      // Long enough for them to fall asleep; if they did not, this round shows nothing.
      std::ignore = other.mutex("a").try_acquire({.timeout = 2ms});
      held.reset();
      stop.request_stop();
      first.join();
      if (has_next) next.join();
      EXPECT_TRUE(other.mutex("a").try_acquire({.timeout = 5s})) << round;
    }
  }
}

// Its request is made by the thread that releases, which has nothing to wait for itself, while a
// third only listens: somebody must send it.
TEST_P(Waiting, WhoIsNextInTheClientAsksAtOnceWhenTheHolderOnlyLetsGo) {
  const client shared{server().url(), {.response_timeout = 20s}};
  const auto lock = shared.mutex("a");
  const auto elsewhere = redis().mutex("b").acquire();
  std::stop_source enough;
  std::thread listener([&] {
    EXPECT_FALSE(shared.mutex("b").try_acquire({.timeout = forever}, enough.get_token()));
  });
  EXPECT_TRUE(waits("b", 1));
  std::optional held = lock.acquire();
  std::atomic<bool> served{false};
  std::thread next([&] {
    const auto mine = lock.acquire();
    served = true;
  });
  // Long enough for the others' turn, and for the next to fall asleep.
  std::ignore = another_client().mutex("a").try_acquire({.timeout = 100ms});
  held.reset();
  EXPECT_TRUE(eventually([&] { return served.load(); }, 1s));
  enough.request_stop();
  next.join();
  listener.join();
}

TEST_P(Waiting, ARetainedLockIsTakenAgainWithoutACommand) {
  constexpr int minors =
      2048;  // of one token of the server's; the last of them gives the lock back
  const auto lock = redis().mutex("a", {.retain = 10s});
  auto last = lock.acquire().token();
  const auto take_again = [&] {
    const auto next = lock.acquire().token();
    EXPECT_GT(next, last);
    last = next;
  };
  const auto before = scripts_called();
  for (int i = 1; i < minors - 1; ++i) take_again();
  EXPECT_EQ(scripts_called(), before);
  EXPECT_EQ(server().command({"EXISTS", "hf:{a}"}).number, 1);
  for (int i = 0; i < 2; ++i) take_again();
  EXPECT_GT(scripts_called(), before);
}

TEST_P(Waiting, ARetainedLockWithoutTokensIsTakenAgainWithoutACommand) {
  const auto lock = redis().mutex("a", {.fencing = fencing::off, .retain = 10s});
  (void)lock.acquire();
  const auto asked = [&] { return called("set") + scripts_called(); };
  const auto before = asked();
  for (int i = 0; i < 100; ++i) (void)lock.acquire();
  redis().raise_floor("a", fencing_token{std::uint64_t{1} << 60});  // of tokens, which it has not
  (void)lock.acquire();
  EXPECT_EQ(asked(), before);
  EXPECT_TRUE(another_client().mutex("a").try_acquire({.timeout = 10s})) << "for who wants it";
}

// The second is asked for later, so it is the first whose loss is found first.
TEST_P(Waiting, NobodyIsToldThatALockIsLostWhichHeReleasedAndTheClientRetains) {
  auto released = redis().mutex("a", {.lease = 600ms, .retain = 1h}).acquire();
  const auto unheard = released.lost();
  EXPECT_TRUE(released.release());
  const auto held = redis().mutex("b", {.lease = 600ms}).acquire();
  server().command({"FLUSHALL"});
  ASSERT_TRUE(triggered(held.lost()));
  EXPECT_FALSE(unheard.stop_requested());
}

TEST_P(Waiting, ARetainedLockIsGivenToWhoeverWantsIt) {
  const auto lock = redis().mutex("a", {.retain = 1h});
  const auto first = lock.acquire().token();
  // Sooner than the waiter would ask again.
  const auto other = another_client().mutex("a").acquire({.timeout = 1500ms});
  EXPECT_GT(other.token(), first);
}

TEST_P(Waiting, AFrozenKeeperCostsOneLease) {
  constexpr auto lease_time = 3s;
  support::forked keeper{[&](const auto& parent) {
    const client own{server().url()};
    (void)own.mutex("a", {.lease = lease_time, .retain = 1h}).acquire();
    parent.tell("keeps");
    parent.sleep_until_killed();
  }};
  (void)keeper.heard();
  keeper.freeze();
  EXPECT_EQ(server().command({"EXISTS", "hf:{a}"}).number, 1) << "else nothing was tested";
  const auto before = net::now();
  EXPECT_TRUE(another_client().mutex("a").try_acquire({.timeout = 30s}));
  EXPECT_LT(net::now() - before, lease_time + 2s);
}

TEST_P(Waiting, ARetainedLockGoesToThoseWhoStoodBehindItsOwner) {
  const auto one = another_client(), two = another_client();
  auto first = redis().mutex("a").acquire();
  std::thread keeper([&] { (void)one.mutex("a", {.retain = 1h}).acquire(); });
  ASSERT_TRUE(waits("a", 1));
  // Sooner than the waiter would ask again, which also makes the retaining client give the lock up.
  std::thread last([&] { EXPECT_TRUE(two.mutex("a").try_acquire({.timeout = 1s})); });
  ASSERT_TRUE(waits("a", 2));
  EXPECT_TRUE(first.release());
  keeper.join();
  last.join();
}

TEST_P(Waiting, ARetainedLockGoesBackWhenItIsNotUsed) {
  (void)redis().mutex("a", {.retain = 50ms}).acquire();
  EXPECT_TRUE(eventually([&] { return server().command({"EXISTS", "hf:{a}"}).number == 0; }));
}

TEST_P(Waiting, ARetainedLockGoesBackWithItsClient) {
  {
    const auto own = another_client();
    (void)own.mutex("a", {.retain = 1h}).acquire();
  }
  EXPECT_EQ(server().command({"EXISTS", "hf:{a}"}).number, 0);
}

}  // namespace
}  // namespace holdfast::conformance
