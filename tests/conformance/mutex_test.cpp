// The four verbs and the lease: who gets the lock, and what is said to those who do not.
#include <stdexcept>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class Mutex : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(Mutex);

TEST_P(Mutex, ExcludesWithinAndBetweenClients) {
  const auto lock = redis().mutex("a");
  auto held = lock.acquire();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.name(), "a");
  expect_reason(lock.try_acquire(), errc::busy);
  expect_reason(another_client().mutex("a").try_acquire(), errc::busy);
  EXPECT_TRUE(redis().mutex("b").try_acquire());
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(another_client().mutex("a").try_acquire());
}

TEST_P(Mutex, BusyTimedOutAndCancelledAreValuesThatExplainThemselves) {
  const auto lock = redis().mutex("orders", {.reentry = reentry::waits});
  const auto held = lock.acquire();
  EXPECT_THAT(lock.try_acquire().error().what(), ::testing::HasSubstr("lock 'orders'"));
  const auto before = net::now();
  expect_reason(lock.try_acquire({.timeout = 100ms}), errc::timed_out);
  const auto took = net::now() - before;
  EXPECT_GE(took, 100ms);
  EXPECT_LT(took, 5s);
  std::stop_source stop;
  stop.request_stop();
  expect_reason(lock.try_acquire({.timeout = forever}, stop.get_token()), errc::cancelled);
}

TEST_P(Mutex, AcquireThrowsWhatTryAcquireReturns) {
  const auto lock = redis().mutex("a", {.reentry = reentry::waits});
  const auto held = lock.acquire();
  EXPECT_EQ(thrown_by([&] { auto got = lock.acquire({.timeout = 0ms}); }).reason(), errc::busy);
  EXPECT_EQ(thrown_by([&] { auto got = lock.acquire({.timeout = 50ms}); }).reason(),
            errc::timed_out);
}

TEST_P(Mutex, StopTokenEndsAWaitThatIsUnderWay) {
  const auto lock = redis().mutex("a");
  auto held = lock.acquire();
  std::stop_source stop;
  std::optional<errc> reason;
  std::thread waiter{[&] {
    const auto got = lock.try_acquire({.timeout = forever}, stop.get_token());
    if (!got) reason = got.error().reason();
  }};
  stop.request_stop();
  waiter.join();
  EXPECT_EQ(reason, errc::cancelled);
  EXPECT_TRUE(held.release());
  auto got = lock.try_acquire({}, std::stop_source{}.get_token());
  EXPECT_TRUE(got);
}

TEST_P(Mutex, StopAfterTheGrantDoesNotTakeTheLockAway) {
  std::stop_source stop;
  const auto held = redis().mutex("a").acquire({}, stop.get_token());
  stop.request_stop();
  EXPECT_TRUE(held.held());
  expect_reason(another_client().mutex("a").try_acquire(), errc::busy);
}

TEST_P(Mutex, WaiterGetsTheLockAfterItsRelease) {
  auto held = redis().mutex("a").acquire();
  const auto other = another_client();
  bool got = false;
  std::thread waiter{[&] { got = other.mutex("a").acquire().held(); }};
  EXPECT_TRUE(held.release());
  waiter.join();
  EXPECT_TRUE(got);
}

TEST_P(Mutex, TokensStrictlyIncrease) {
  const auto other = another_client();
  fencing_token last;
  for (int i = 0; i < 100; ++i) {
    const auto held = (i % 2 == 0 ? redis() : other).mutex("a").acquire({.timeout = generous});
    EXPECT_GT(held.token(), last);
    last = held.token();
  }
}

TEST_P(Mutex, ReleasingTwiceIsASuccessWithoutEffect) {
  auto held = redis().mutex("a").acquire();
  EXPECT_TRUE(held.release());
  EXPECT_FALSE(held.held());
  EXPECT_EQ(held.remaining(), 0ms);
  const auto next = redis().mutex("a").acquire();
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(next.held());
  expect_reason(redis().mutex("a").try_acquire(), errc::busy);
}

TEST_P(Mutex, DestructorReleasesAlsoWhenAnExceptionPasses) {
  const auto lock = redis().mutex("a");
  EXPECT_THROW(
      {
        const auto held = lock.acquire();
        throw std::runtime_error("in the critical section");
      },
      std::runtime_error);
  const auto next = lock.try_acquire();
  EXPECT_TRUE(next) << next.error().what();
}

TEST_P(Mutex, MovingMovesTheLockAndAssigningReleasesTheOldOne) {
  auto first = redis().mutex("a").acquire();
  auto moved = std::move(first);
  EXPECT_FALSE(first.held());  // NOLINT: what a moved-from lease says is part of the promise
  EXPECT_TRUE(first.release());
  EXPECT_TRUE(moved.held());
  expect_reason(redis().mutex("a").try_acquire(), errc::busy);
  moved = redis().mutex("b").acquire();
  EXPECT_EQ(moved.name(), "b");
  const auto next = redis().mutex("a").try_acquire();
  EXPECT_TRUE(next) << next.error().what();
}

// Whether nothing is used after its end, only a sanitizer sees.
TEST_P(Mutex, AssigningToTheLastHandleOfAClientEndsThatClient) {
  lock plain = another_client().mutex("a");
  plain = redis().mutex("a");
  EXPECT_TRUE(plain.acquire().release());
  recursive_mutex recursive = another_client().recursive_mutex("a");
  recursive = redis().recursive_mutex("a");
  EXPECT_TRUE(recursive.acquire().release());
  lease held = another_client().mutex("a").acquire();
  held = redis().mutex("b").acquire();
  EXPECT_TRUE(redis().mutex("a").try_acquire());
}

TEST_P(Mutex, FencingOffHasNoTokenButExcludes) {
  const auto lock = redis().mutex("a", {.fencing = fencing::off});
  auto held = lock.acquire();
  EXPECT_FALSE(held.token());
  EXPECT_EQ(thrown_by([&] { (void)held.token().value(); }).reason(), errc::unsupported);
  expect_reason(lock.try_acquire(), errc::busy);
  expect_reason(redis().mutex("a").try_acquire(), errc::busy);
  EXPECT_TRUE(held.release());
}

// A counter that only the lock protects, changed by threads of two clients.
TEST_P(Mutex, ManyThreadsLoseNoUpdate) {
  const auto other = another_client();
  int counter = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto lock = (i % 2 == 0 ? redis() : other).mutex("counter");
      for (int turn = 0; turn < 25; ++turn) {
        const auto held = lock.acquire({.timeout = generous});
        const int seen = *static_cast<volatile int*>(&counter);
        counter = seen + 1;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(counter, 8 * 25);
}

}  // namespace
}  // namespace holdfast::conformance
