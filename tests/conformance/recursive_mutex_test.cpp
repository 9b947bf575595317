// Entering again: without the server, counted, and by nobody but the owner.
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class RecursiveMutex : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(RecursiveMutex);

TEST_P(RecursiveMutex, IsEnteredAgainWithoutTheServer) {
  const auto mutex = redis().recursive_mutex("a");
  mutex.acquire().release().value();
  auto calls = called("evalsha");
  auto first = mutex.acquire();
  EXPECT_EQ(called("evalsha"), ++calls);
  std::vector<lease> more;
  for (int i = 0; i < 10; ++i) more.push_back(mutex.acquire());
  EXPECT_EQ(mutex.hold_count(), 11u);
  EXPECT_EQ(more.back().token(), first.token());
  EXPECT_TRUE(first.release());
  more.erase(more.begin() + 1, more.end());
  EXPECT_EQ(called("evalsha"), calls);
  EXPECT_TRUE(more.front().held());
  EXPECT_TRUE(more.front().release());
  EXPECT_EQ(mutex.hold_count(), 0u);
  EXPECT_EQ(called("evalsha"), calls + 1);
  EXPECT_TRUE(another_client().mutex("a").try_acquire());
}

TEST_P(RecursiveMutex, KeepsOtherThreadsOutUntilTheLastRelease) {
  const auto mutex = redis().recursive_mutex("a");
  auto outer = mutex.acquire(), inner = redis().recursive_mutex("a").acquire();
  fencing_token later;
  std::thread other{[&] {
    expect_reason(mutex.try_acquire(), errc::busy);
    EXPECT_EQ(mutex.hold_count(), 0u);
    EXPECT_TRUE(outer.release());
    expect_reason(mutex.try_acquire({.timeout = 30ms}), errc::timed_out);
    EXPECT_TRUE(inner.release());
    const auto held = mutex.acquire();
    later = held.token();
    EXPECT_EQ(mutex.hold_count(), 1u);
  }};
  other.join();
  EXPECT_GT(later, inner.token());
}

TEST_P(RecursiveMutex, IsPassedOnAmongThreadsThatNest) {
  constexpr int each = 100;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const auto mutex = redis().recursive_mutex("a");
      for (int k = 0; k < each; ++k) {
        const auto outer = mutex.acquire();
        const auto inner = mutex.acquire();
        EXPECT_EQ(outer.token(), inner.token());
        ++count;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count, 3 * each);
}

TEST_P(RecursiveMutex, LetsAnOwnerInFromAnyThread) {
  const auto mutex = redis().recursive_mutex("a");
  const owner me, stranger;
  auto outer = mutex.of(me).acquire();
  std::thread elsewhere{[&] {
    const auto inner = mutex.of(me).acquire();
    EXPECT_EQ(inner.token(), outer.token());
    EXPECT_EQ(mutex.hold_count(me), 2u);
  }};
  elsewhere.join();
  EXPECT_EQ(mutex.hold_count(me), 1u);
  EXPECT_EQ(mutex.hold_count(), 0u) << "the thread is not the owner";
  expect_reason(mutex.try_acquire(), errc::busy);
  expect_reason(mutex.of(stranger).try_acquire(), errc::busy);
  EXPECT_TRUE(outer.release());
  EXPECT_TRUE(mutex.of(stranger).try_acquire());
}

TEST_P(RecursiveMutex, LetsATaskInAgainThatSaysWhoItIs) {
  const auto mutex = redis().recursive_mutex("a");
  sync_wait([](recursive_mutex of) -> task<> {
    const owner me;
    auto outer = co_await of.of(me).async_acquire();
    auto inner = co_await of.of(me).async_acquire();
    EXPECT_EQ(inner.token(), outer.token());
    expect_reason(co_await of.async_try_acquire(), errc::busy);
    EXPECT_TRUE(co_await outer.async_release());
    EXPECT_TRUE(inner.held());
    EXPECT_TRUE(co_await inner.async_release());
    auto unnamed = co_await of.async_acquire();
    expect_reason(co_await of.async_try_acquire(), errc::busy);
  }(mutex));
  EXPECT_TRUE(mutex.try_acquire());
}

TEST_P(RecursiveMutex, TellsAllLeasesOfALossAndBeginsANewHold) {
  const auto mutex = redis().recursive_mutex("a", {.lease = 150ms});
  auto outer = mutex.acquire(), inner = mutex.acquire();
  const auto one = outer.lost(), two = inner.lost();
  server().command({"FLUSHALL"});
  EXPECT_TRUE(triggered(one) && triggered(two));
  EXPECT_EQ(mutex.hold_count(), 0u);
  auto later = mutex.acquire({.timeout = generous});
  EXPECT_GT(later.token(), outer.token());
  expect_reason(inner.release(), errc::lost);
  expect_reason(outer.release(), errc::lost);
  EXPECT_EQ(mutex.hold_count(), 1u) << "who releases what is lost does not leave the new hold";
  EXPECT_TRUE(later.release());
}

TEST_P(RecursiveMutex, WorksForAFairLockWithAFixedLease) {
  const auto mutex =
      redis().recursive_mutex("a", {.lease = 10s, .renewal = renewal::none, .fair = true});
  auto outer = mutex.acquire(), inner = mutex.acquire();
  EXPECT_TRUE(outer.extend(20s));
  EXPECT_GT(inner.remaining(), 15s);
  EXPECT_TRUE(inner.release());
  EXPECT_TRUE(outer.held());
}

TEST_P(RecursiveMutex, DoesNotEnterWhenStopped) {
  const auto mutex = redis().recursive_mutex("a");
  const auto held = mutex.acquire();
  std::stop_source stop;
  stop.request_stop();
  expect_reason(mutex.try_acquire({.timeout = forever}, stop.get_token()), errc::cancelled);
  EXPECT_EQ(mutex.hold_count(), 1u);
}

TEST_P(RecursiveMutex, RefusesWhatTheMutexRefuses) {
  const auto reason = [&](const std::string& name, const recursive_mutex_options& options) {
    return thrown_by([&] { (void)redis().recursive_mutex(name, options); }).reason();
  };
  EXPECT_EQ(reason("", {}), errc::invalid_name);
  EXPECT_EQ(reason("a", {.lease = 9ms}), errc::invalid_argument);
  EXPECT_EQ(reason("a", {.fair = true, .retain = 1s}), errc::invalid_argument);
}

// ---- the plain mutex ---------------------------------------------------------------------------

class Reentry : public mutex_test {
 protected:
  static void expect_refused(const lock& of) {
    const auto why = thrown_by([&] { (void)of.acquire(); });
    EXPECT_EQ(why.reason(), errc::would_deadlock);
    EXPECT_THAT(why.what(), testing::HasSubstr("recursive_mutex"));
    EXPECT_THAT(why.what(), testing::HasSubstr("reentry::waits"));
    EXPECT_EQ(thrown_by([&] { (void)of.try_acquire({.timeout = 1s}); }).reason(),
              errc::would_deadlock);
    expect_reason(of.try_acquire(), errc::busy);
  }
};
HOLDFAST_ON_EACH_SERVER(Reentry);

TEST_P(Reentry, IsRefusedToTheThreadThatHasTheLock) {
  for (const mutex_options& options :
       {mutex_options{}, {.fair = true}, {.renewal = renewal::none}, {.retain = 1s}}) {
    const auto mutex = redis().mutex("a", options);
    auto held = mutex.acquire();
    expect_refused(redis().mutex("a", options));
    EXPECT_TRUE(held.release());
    held = mutex.acquire();
    expect_refused(mutex);
    EXPECT_TRUE(held.release());
  }
  const auto writer = redis().read_write_lock("b").exclusive();
  const auto held = writer.acquire();
  expect_refused(writer);
}

TEST_P(Reentry, IsNotSeenWhereAnotherThreadHasTheLock) {
  const auto mutex = redis().mutex("a");
  auto mine = mutex.acquire();
  EXPECT_TRUE(mine.release());
  std::optional<lease> others;
  std::thread{[&] { others = mutex.acquire(); }}.join();
  expect_reason(mutex.try_acquire({.timeout = 30ms}), errc::timed_out);
  EXPECT_TRUE(others->release());
  sync_wait([](lock of) -> task<> {
    const auto held = co_await of.async_acquire();
    expect_reason(of.try_acquire({.timeout = 30ms}), errc::timed_out);
  }(mutex));
}

TEST_P(Reentry, IsNotSeenAfterALoss) {
  for (const auto renews : {renewal::automatic, renewal::none}) {
    const auto mutex = redis().mutex("a", {.lease = 100ms, .renewal = renews});
    const auto held = mutex.acquire();
    if (renews == renewal::automatic) server().command({"FLUSHALL"});
    EXPECT_TRUE(triggered(held.lost()));
    EXPECT_TRUE(mutex.try_acquire({.timeout = generous}));
  }
}

TEST_P(Reentry, WaitsWhereTheLockSaysSo) {
  const auto mutex = redis().mutex("a", {.reentry = reentry::waits});
  auto held = mutex.acquire();
  expect_reason(mutex.try_acquire({.timeout = 30ms}), errc::timed_out);
  std::thread other{[moved = std::move(held)]() mutable { EXPECT_TRUE(moved.release()); }};
  EXPECT_TRUE(mutex.acquire().held());
  other.join();
}

}  // namespace
}  // namespace holdfast::conformance
