// Locks that several can hold: who holds them together, and how what is held is changed.
#include <atomic>
#include <future>
#include <thread>
#include <type_traits>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class SharedLocks : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(SharedLocks);

TEST_P(SharedLocks, ReadersHoldTogetherAndAWriterAlone) {
  const auto other = another_client();
  const auto mine = redis().read_write_lock("a"), others = other.read_write_lock("a");
  auto one = mine.shared().acquire(), two = others.shared().acquire();
  EXPECT_LT(one.token(), two.token());
  expect_reason(others.exclusive().try_acquire(), errc::busy);
  EXPECT_TRUE(one.release());
  expect_reason(mine.exclusive().try_acquire(), errc::busy);
  EXPECT_TRUE(two.release());
  const auto writer = mine.exclusive().acquire();
  EXPECT_GT(writer.token(), two.token());
  expect_reason(others.shared().try_acquire(), errc::busy);
}

// A part of the lock must not refer to what it was asked of: that is often a temporary.
TEST_P(SharedLocks, APartOutlivesTheWhole) {
  const auto& reader = redis().read_write_lock("a").shared();
  const auto& second = redis().read_write_lock("a").upgradeable();
  const auto& writer = redis().read_write_lock("a").exclusive();
  static_assert(!std::is_reference_v<decltype(redis().read_write_lock("a").shared())>);
  static_assert(!std::is_reference_v<decltype(redis().read_write_lock("a").upgradeable())>);
  static_assert(!std::is_reference_v<decltype(redis().read_write_lock("a").exclusive())>);
  EXPECT_TRUE(reader.try_acquire());
  EXPECT_TRUE(second.try_acquire());
  EXPECT_TRUE(writer.try_acquire());
}

TEST_P(SharedLocks, AWriterIsNotOvertakenByReaders) {
  const auto lock = redis().read_write_lock("a", {.fair = true});
  auto reader = lock.shared().acquire();
  std::thread writer{
      [&] { const auto held = another_client().read_write_lock("a").exclusive().acquire(); }};
  ASSERT_TRUE(waits("a", 1));
  expect_reason(lock.shared().try_acquire(), errc::busy);
  EXPECT_TRUE(reader.release());
  writer.join();
  EXPECT_TRUE(lock.shared().try_acquire());
}

TEST_P(SharedLocks, AReleasedWriterWakesAllReadersTogether) {
  constexpr int readers = 6;
  auto writer = redis().read_write_lock("a").exclusive().acquire();
  std::atomic<int> inside{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < readers; ++i) {
    threads.emplace_back([&] {
      const auto held = another_client().read_write_lock("a").shared().acquire();
      ++inside;
      EXPECT_TRUE(eventually([&] { return inside == readers; })) << "all of them at the same time";
    });
  }
  ASSERT_TRUE(waits("a", readers));
  EXPECT_TRUE(writer.release());
  for (auto& thread : threads) thread.join();
}

TEST_P(SharedLocks, AReaderThatDiesIsAloneInItsLoss) {
  const auto lock = redis().read_write_lock("a", {.lease = 200ms, .renewal = renewal::none});
  const auto brief = lock.shared().acquire();
  auto staying = redis().read_write_lock("a").shared().acquire();
  EXPECT_TRUE(triggered(brief.lost()));
  EXPECT_TRUE(staying.held());
  expect_reason(lock.exclusive().try_acquire(), errc::busy);
  EXPECT_TRUE(staying.release());
  EXPECT_TRUE(lock.exclusive().try_acquire({.timeout = generous}));
}

TEST_P(SharedLocks, UpgradesWithoutLettingAnybodyWriteInBetween) {
  const auto lock = redis().read_write_lock("a");
  auto reader = another_client().read_write_lock("a").shared().acquire();
  auto held = lock.upgradeable().acquire();
  expect_reason(lock.upgradeable().try_acquire(), errc::busy);
  expect_reason(lock.upgrade(held).try_acquire({.timeout = 50ms}), errc::timed_out);
  EXPECT_TRUE(held.held()) << "what it has it keeps";
  std::thread leaving{[&] {
    EXPECT_TRUE(waits("a", 1));
    EXPECT_TRUE(reader.release());
  }};
  auto writer = lock.upgrade(held).acquire();
  leaving.join();
  EXPECT_TRUE(writer.held());
  EXPECT_FALSE(held.held());
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_GT(writer.token(), held.token());
  expect_reason(another_client().read_write_lock("a").shared().try_acquire(), errc::busy);
  auto again = lock.downgrade(writer).acquire();
  EXPECT_TRUE(another_client().read_write_lock("a").shared().try_acquire());
  EXPECT_EQ(thrown_by([&] { (void)lock.upgrade(again); }).reason(), errc::invalid_argument);
}

// That the server knows it no more may mean that it knows the writer in its place.
TEST_P(SharedLocks, AnUpgradeableLeaseIsNotLostByExtendingItDuringAnUpgrade) {
  const auto lock = redis().read_write_lock("a");
  const auto reader = another_client().read_write_lock("a").shared().acquire();
  auto held = lock.upgradeable().acquire();
  std::stop_source stop;
  std::jthread upgrading{[&] {
    expect_reason(lock.upgrade(held).try_acquire({.timeout = generous}, stop.get_token()),
                  errc::cancelled);
  }};
  ASSERT_TRUE(waits("a", 1));
  server().command({"FLUSHALL"});
  expect_reason(held.extend(10s), errc::busy);
  EXPECT_TRUE(held.held());
  stop.request_stop();
}

// The server shortens nothing, and what it says is left is what is believed.
TEST_P(SharedLocks, AChangeIsBelievedForAsLongAsTheServerKeepsIt) {
  const auto lock = redis().read_write_lock("a", {.lease = 300ms, .renewal = renewal::none});
  auto held = lock.upgradeable().acquire();
  ASSERT_TRUE(held.extend(30s));
  auto writer = lock.upgrade(held).acquire();
  EXPECT_GT(writer.remaining(), 20s);
  auto reader = lock.downgrade(writer).acquire();
  EXPECT_GT(reader.remaining(), 20s);
  EXPECT_FALSE(eventually([&] { return !reader.held(); }, 400ms));
  EXPECT_TRUE(reader.release());
  EXPECT_TRUE(another_client().read_write_lock("a").exclusive().try_acquire());
}

TEST_P(SharedLocks, AChangeThatHadToWaitIsBelievedAsLong) {
  const auto lock = redis().read_write_lock("a", {.lease = 300ms, .renewal = renewal::none});
  auto reader = another_client().read_write_lock("a").shared().acquire();
  auto held = lock.upgradeable().acquire();
  ASSERT_TRUE(held.extend(30s));
  std::thread leaving{[&] {
    EXPECT_TRUE(waits("a", 1));
    EXPECT_TRUE(reader.release());
  }};
  const auto writer = lock.upgrade(held).acquire();
  leaving.join();
  EXPECT_TRUE(eventually([&] { return writer.remaining() > 20s; }, 250ms))
      << "when it is confirmed";
}

TEST_P(SharedLocks, ALeaseThatHasEndedIsChangedIntoNothing) {
  const auto lock = redis().read_write_lock("a", {.lease = 300ms, .renewal = renewal::none});
  const auto held = lock.upgradeable().acquire();
  const auto staying = redis().read_write_lock("a").shared().acquire();
  ASSERT_TRUE(eventually([&] { return !held.held(); }));
  expect_reason(lock.upgrade(held).try_acquire(), errc::lost);
  expect_reason(lock.downgrade(held).try_acquire({.timeout = 5s}), errc::lost);
  const auto modes = redis().mode_lock("b", {.lease = 300ms, .renewal = renewal::none});
  const auto null = modes.in(lock_mode::null).acquire();
  ASSERT_TRUE(eventually([&] { return !null.held(); }));
  expect_reason(modes.change(null, lock_mode::exclusive).try_acquire(), errc::lost);
}

TEST_P(SharedLocks, ALeaseTellsInWhichModeItIsHeld) {
  const auto lock = redis().read_write_lock("a");
  auto held = lock.upgradeable().acquire();
  EXPECT_EQ(held.mode(), lease_mode::upgradeable);
  EXPECT_EQ(lock.shared().acquire().mode(), lease_mode::shared);
  const auto writer = lock.upgrade(held).acquire();
  EXPECT_EQ(writer.mode(), lease_mode::exclusive);
  EXPECT_EQ(held.mode(), lease_mode::none);
  EXPECT_EQ(redis().mutex("b").acquire().mode(), lease_mode::exclusive);
  EXPECT_EQ(redis().recursive_mutex("c").acquire().mode(), lease_mode::exclusive);
  EXPECT_EQ(redis().semaphore("d", {.permits = 2}).acquire().mode(), lease_mode::permits);
  const auto modes = redis().mode_lock("e");
  for (const auto mode :
       {lock_mode::null, lock_mode::concurrent_read, lock_mode::concurrent_write,
        lock_mode::protected_read, lock_mode::protected_write, lock_mode::exclusive}) {
    EXPECT_EQ(static_cast<char>(modes.in(mode).acquire().mode()), static_cast<char>(mode));
  }
  const auto both = all_of({redis().mutex("f"), redis().read_write_lock("g").shared()}).acquire();
  EXPECT_EQ(both.mode(), lease_mode::several);
  EXPECT_EQ(parts(both).at(0).mode, lease_mode::exclusive);
  EXPECT_EQ(parts(both).at(1).mode, lease_mode::shared);
}

TEST_P(SharedLocks, AnUpgradedLeaseIsRenewedAndItsPredecessorIsNot) {
  const auto lock = redis().read_write_lock("a", {.lease = 150ms});
  auto held = lock.upgradeable().acquire();
  const auto was_lost = held.lost();
  const auto writer = lock.upgrade(held).acquire();
  const auto later = net::now() + 500ms;
  EXPECT_TRUE(eventually([&] { return !writer.held() || net::now() > later; }));
  EXPECT_TRUE(writer.held());
  EXPECT_FALSE(was_lost.stop_requested());
}

// Nothing is lost: what was held went over into another lease, and was given back with that.
TEST_P(SharedLocks, ALeaseThatWasChangedIsReleasedWithoutALoss) {
  const auto lock = redis().read_write_lock("a");
  EXPECT_NO_THROW(run_while_held(lock.upgradeable(), [&](const lease& held) {
    const auto writer = lock.upgrade(held).acquire();
    EXPECT_FALSE(held.held());
  }));
  auto writer = lock.exclusive().acquire();
  auto reader = lock.downgrade(writer).acquire();
  EXPECT_TRUE(writer.release());
  EXPECT_TRUE(reader.held());
  EXPECT_TRUE(reader.release());
  const auto modes = redis().mode_lock("b");
  auto before = modes.in(lock_mode::concurrent_read).acquire();
  const auto after = modes.change(before, lock_mode::exclusive).acquire();
  const auto released = [](lease of) -> task<result<void>> {
    co_return co_await of.async_release();
  };
  EXPECT_TRUE(sync_wait(released(std::move(before))));
  EXPECT_TRUE(after.held());
}

TEST_P(SharedLocks, NeverMorePermitsAreInUseThanThereAre) {
  constexpr int permits = 3, threads_of_each = 4;
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  const client clients[] = {another_client(), another_client()};
  for (int i = 0; i < 2 * threads_of_each; ++i) {
    threads.emplace_back([&, i] {
      const auto wanted = clients[i % 2].semaphore("a", {.permits = permits});
      const auto count = 1 + static_cast<std::uint32_t>(i) % permits;
      for (int k = 0; k < 30; ++k) {
        const auto held = wanted.permits(count).acquire();
        const int now = inside += static_cast<int>(count);
        int before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) continue;
        inside -= static_cast<int>(count);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(most, permits);
}

TEST_P(SharedLocks, WhoWantsManyPermitsIsNotOvertaken) {
  const auto pool = redis().semaphore("a", {.permits = 2});
  auto one = pool.acquire();
  std::thread many{[&] {
    const auto held = another_client().semaphore("a", {.permits = 2}).permits(2).acquire();
  }};
  ASSERT_TRUE(waits("a", 1));
  expect_reason(pool.try_acquire(), errc::busy);
  EXPECT_TRUE(one.release());
  many.join();
}

TEST_P(SharedLocks, TheNumberOfPermitsMayChangeWhileTheyAreInUse) {
  const auto pool = redis().semaphore("a", {.permits = 1});
  auto held = pool.acquire();
  std::thread waiter{[&] {
    const auto got =
        another_client().semaphore("a", {.permits = 1}).try_acquire({.timeout = generous});
    EXPECT_TRUE(got);
  }};
  ASSERT_TRUE(waits("a", 1));
  pool.set_permits(2);
  waiter.join();
  pool.set_permits(1);
  expect_reason(pool.try_acquire(), errc::busy);
  expect_reason(pool.permits(2).try_acquire(), errc::invalid_argument);
  pool.set_permits(0);
}

TEST_P(SharedLocks, ModesAreChangedThroughAQueueOfTheirOwn) {
  const auto lock = redis().mode_lock("a");
  auto mine = lock.in(lock_mode::concurrent_read).acquire();
  auto others = another_client().mode_lock("a").in(lock_mode::concurrent_write).acquire();
  std::thread leaving{[&] {
    EXPECT_TRUE(waits("a", 1));
    EXPECT_TRUE(others.release());
  }};
  const auto changed = lock.change(mine, lock_mode::protected_read).acquire();
  leaving.join();
  EXPECT_TRUE(changed.held());
  EXPECT_FALSE(mine.held());
}

TEST_P(SharedLocks, SayThatTwoChangesWouldWaitForEachOther) {
  const auto lock = redis().mode_lock("a");
  auto mine = lock.in(lock_mode::protected_read).acquire();
  const auto other = another_client();
  auto theirs = other.mode_lock("a").in(lock_mode::protected_read).acquire();
  std::thread first{[&] {
    EXPECT_TRUE(other.mode_lock("a")
                    .change(theirs, lock_mode::exclusive)
                    .try_acquire({.timeout = generous}));
  }};
  ASSERT_TRUE(waits("a", 1));
  expect_reason(lock.change(mine, lock_mode::exclusive).try_acquire({.timeout = generous}),
                errc::would_deadlock);
  EXPECT_TRUE(mine.release());
  first.join();
}

// The two who hold it are not one too few because one of them wanted to change.
TEST_P(SharedLocks, WhoLeavesDoesNotGetWhatHeWantedToChangeTo) {
  const auto lock = redis().mode_lock("a");
  const auto theirs = another_client().mode_lock("a").in(lock_mode::protected_read).acquire();
  auto mine = lock.in(lock_mode::protected_read).acquire();
  std::thread changing{[&] {
    expect_reason(lock.change(mine, lock_mode::exclusive).try_acquire({.timeout = generous}),
                  errc::lost);
  }};
  ASSERT_TRUE(waits("a", 1));
  EXPECT_TRUE(mine.release());
  changing.join();
  EXPECT_TRUE(redis().mode_lock("a").in(lock_mode::protected_read).try_acquire());
}

// It would ask every 2 s otherwise.
TEST_P(SharedLocks, AChangeHearsAtOnceThatItsHolderHasLeft) {
  const auto lock = redis().mode_lock("a");
  const auto theirs = another_client().mode_lock("a").in(lock_mode::protected_read).acquire();
  auto mine = lock.in(lock_mode::protected_read).acquire();
  monotonic_time told{};
  std::thread changing{[&] {
    expect_reason(lock.change(mine, lock_mode::exclusive).try_acquire({.timeout = generous}),
                  errc::lost);
    told = net::now();
  }};
  ASSERT_TRUE(waits("a", 1));
  const auto left = net::now();
  EXPECT_TRUE(mine.release());
  changing.join();
  EXPECT_LT(told - left, 1s);
}

// The clocks' allowance is taken off once, not at each change.
TEST_P(SharedLocks, ManyChangesTakeNothingOffALease) {
  const auto lock = redis().mode_lock("a", {.lease = 1s});
  std::optional<lease> held =
      redis().mode_lock("a", {.lease = 60s}).in(lock_mode::protected_write).acquire();
  for (int i = 0; i < 10; ++i) {
    for (const auto to : {lock_mode::protected_read, lock_mode::protected_write}) {
      held = lock.change(*held, to).acquire();
    }
  }
  EXPECT_GT(held->remaining(), 55s);  // 49 s, were it taken off each time
}

TEST_P(SharedLocks, AChangeKeepsAnExtensionThatCameWhileItWaited) {
  const auto lock = redis().mode_lock("a", {.lease = 1s, .renewal = renewal::none});
  auto theirs = another_client().mode_lock("a").in(lock_mode::protected_read).acquire();
  auto mine = lock.in(lock_mode::protected_read).acquire();
  auto changing = std::async(std::launch::async, [&] {
    return lock.change(mine, lock_mode::exclusive).acquire({.timeout = generous});
  });
  ASSERT_TRUE(waits("a", 1));
  EXPECT_TRUE(mine.extend(60s));
  EXPECT_TRUE(theirs.release());
  const auto changed = changing.get();
  EXPECT_TRUE(support::eventually([&] { return changed.remaining() > 50s; }));
}

// Its holder counts on less than the server keeps.
TEST_P(SharedLocks, ALeaseThatHasEndedWritesNoValue) {
  const auto lock = redis().mode_lock("a", {.lease = 1s, .renewal = renewal::none});
  const auto writer = lock.in(lock_mode::exclusive).acquire();
  while (writer.held()) continue;
  EXPECT_EQ(thrown_by([&] { lock.set_value(writer, "late"); }).reason(), errc::lost);
  const auto next = lock.in(lock_mode::null).acquire();
  EXPECT_EQ(lock.value(next), "");
}

TEST_P(SharedLocks, AWriterLeavesAValueForThoseWhoComeAfter) {
  const auto lock = redis().mode_lock("a");
  const std::string all_bytes(64, '\xff');
  auto writer = lock.in(lock_mode::protected_write).acquire();
  EXPECT_EQ(lock.value(writer), "");
  lock.set_value(writer, "1");
  lock.set_value(writer, all_bytes);
  EXPECT_TRUE(writer.release());
  const auto other = another_client().mode_lock("a");
  const auto reader = other.in(lock_mode::protected_read).acquire();
  EXPECT_EQ(other.value(reader), all_bytes);
  const auto reason = [](const auto& act) { return thrown_by(act).reason(); };
  EXPECT_EQ(reason([&] { other.set_value(reader, "2"); }), errc::invalid_argument);
  EXPECT_EQ(reason([&] { lock.set_value(writer, "2"); }), errc::lost);
  EXPECT_EQ(reason([&] { (void)lock.value(writer); }), errc::lost);
  EXPECT_EQ(reason([&] { lock.set_value(writer, all_bytes + "x"); }), errc::invalid_argument);
  EXPECT_EQ(reason([&] { (void)redis().mode_lock("b").value(writer); }), errc::invalid_argument);
}

TEST_P(SharedLocks, KindsDoNotMix) {
  const auto reader = redis().read_write_lock("a").shared().acquire();
  expect_reason(redis().mutex("a").try_acquire(), errc::foreign_key);
  expect_reason(redis().semaphore("a").try_acquire(), errc::foreign_key);
  EXPECT_TRUE(redis().mode_lock("a").in(lock_mode::concurrent_read).try_acquire());
}

TEST_P(SharedLocks, RefuseWhatNobodyCanMean) {
  EXPECT_EQ(thrown_by([&] { (void)redis().semaphore("a", {.permits = 0}); }).reason(),
            errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { (void)redis().semaphore("a").permits(0); }).reason(),
            errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { (void)redis().semaphore("a", {.permits = 1'000'001}); }).reason(),
            errc::invalid_argument);
  expect_reason(redis().semaphore("a", {.permits = 2}).permits(3).try_acquire({.timeout = 1s}),
                errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { (void)redis().read_write_lock(""); }).reason(), errc::invalid_name);
  const auto elsewhere = redis().read_write_lock("b").upgradeable().acquire();
  EXPECT_EQ(thrown_by([&] { (void)redis().read_write_lock("a").upgrade(elsewhere); }).reason(),
            errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::conformance
