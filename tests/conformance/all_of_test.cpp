// Several locks as one: all or nothing, in one order, whatever happens on the way.
#include <atomic>
#include <future>
#include <thread>
#include <type_traits>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

task<> expect_refusal(lock of, acquire_options options, errc reason, std::stop_token stop = {}) {
  expect_reason(co_await of.async_try_acquire(options, std::move(stop)), reason);
}

task<lease> acquired(lock of, acquire_options options) {
  co_return co_await of.async_acquire(options);
}

class AllOf : public mutex_test {
 protected:
  // Nobody has any of these.
  void expect_free(const std::vector<std::string>& names) {
    for (const auto& name : names) {
      EXPECT_TRUE(eventually([&] {
        return inspector{redis()}.status(name).state == lock_state::free;
      })) << name;
      EXPECT_TRUE(waits(name, 0)) << name;
    }
  }
};
HOLDFAST_ON_EACH_SERVER(AllOf);

TEST_P(AllOf, HoldsAllPartsAndTellsThem) {
  const auto other = another_client();
  auto held = all_of({redis().mutex("b"), redis().read_write_lock("c").shared(), other.mutex("a")})
                  .acquire();
  EXPECT_EQ(held.name(), "a, b, c");
  const auto all = parts(held);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[2].name, "c");
  for (const auto& one : all) {
    EXPECT_TRUE(one.token);
    EXPECT_LE(one.token, held.token());
    expect_reason(another_client().mutex("a").try_acquire(), errc::busy);
  }
  EXPECT_TRUE(another_client().read_write_lock("c").shared().try_acquire())
      << "that part is shared";
  expect_reason(another_client().read_write_lock("c").exclusive().try_acquire(), errc::busy);
  EXPECT_TRUE(held.release());
  expect_free({"a", "b"});
  const auto single = redis().mutex("a").acquire();
  EXPECT_EQ(parts(single).front().token, single.token());
}

// Nobody outside can copy what they have in common.
static_assert(!std::is_copy_constructible_v<acquirable>);
static_assert(std::is_convertible_v<semaphore, lock> && !std::is_base_of_v<lock, semaphore>);

TEST_P(AllOf, TakesKindsThatAreMoreThanALock) {
  const auto journal = redis().recursive_mutex("journal");
  const auto seats = redis().semaphore("seats", {.permits = 2});
  const auto outer = journal.acquire();
  {
    const auto held = all_of({seats, journal, redis().election("leader")}).acquire();
    EXPECT_EQ(journal.hold_count(), 2u);
    EXPECT_EQ(inspector{redis()}.status("seats").permits_in_use, 1u);
    EXPECT_TRUE(redis().election("leader").leader());
  }
  EXPECT_TRUE(outer.held());
}

TEST_P(AllOf, OutlivesTheHandlesOfItsClients) {
  auto held = all_of({redis().mutex("a"), another_client().mutex("b")}).acquire();
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(held.release());
  expect_free({"a", "b"});
}

TEST_P(AllOf, LeavesNothingBehindWhenOnePartIsBusy) {
  const auto theirs = another_client().mutex("b").acquire();
  const auto wanted = all_of({redis().mutex("a"), redis().mutex("b"), redis().mutex("c")});
  const auto busy = wanted.try_acquire();
  expect_reason(busy, errc::busy);
  EXPECT_THAT(busy.error().what(), testing::HasSubstr("'b' was not obtained"));
  expect_free({"a", "c"});
  expect_reason(wanted.try_acquire({.timeout = 50ms}), errc::timed_out);
  expect_free({"a", "c"});
  std::stop_source stop;
  std::thread waiter{[&] {
    expect_reason(wanted.try_acquire({.timeout = forever}, stop.get_token()), errc::cancelled);
  }};
  EXPECT_TRUE(waits("b", 1));
  stop.request_stop();
  waiter.join();
  expect_free({"a", "c"});
}

TEST_P(AllOf, LeavesNothingBehindWhenACoroutineGivesUp) {
  const auto theirs = another_client().mutex("b").acquire();
  const auto wanted = all_of({redis().mutex("a"), redis().mutex("b")});
  std::stop_source stop;
  sync_wait(expect_refusal(wanted, {}, errc::busy));
  sync_wait(expect_refusal(wanted, {.timeout = 30ms}, errc::timed_out));
  expect_free({"a"});
  EXPECT_TRUE(waits("b", 0));
  std::thread stopper{[&] {
    EXPECT_TRUE(waits("b", 1));
    stop.request_stop();
  }};
  sync_wait(expect_refusal(wanted, {.timeout = forever}, errc::cancelled, stop.get_token()));
  stopper.join();
  expect_free({"a"});
}

TEST_P(AllOf, GivesBackWhatComesToNobody) {
  struct nobody final : detail::completion {
    void complete() noexcept override { told = true; }
    std::atomic<bool> told = false;
  } listener;
  auto theirs = another_client().mutex("b").acquire();
  {
    detail::acquire_operation left{all_of({redis().mutex("a"), redis().mutex("b")}),
                                   {},
                                   {},
                                   detail::acquire_operation::patience::waits};
    left.start(listener);
    EXPECT_TRUE(waits("b", 1));
  }
  expect_free({"a"});
  EXPECT_TRUE(theirs.release());
  expect_free({"b"});
  EXPECT_FALSE(listener.told);
}

// It waits there for its parts, so it must hear of them itself.
TEST_P(AllOf, IsReleasedOnACallbackThreadOfOneOfItsClients) {
  struct releasing final : detail::completion {
    void complete() noexcept override { done.set_value(held->release().has_value()); }
    std::optional<lease> held;
    std::promise<bool> done;
  };
  const auto other = another_client();
  releasing act;
  act.held.emplace(all_of({redis().mutex("a"), other.mutex("b")}).acquire());
  detail::acquire_operation asks{
      redis().mutex("c"), {}, {}, detail::acquire_operation::patience::waits};
  asks.start(act);
  auto done = act.done.get_future();
  ASSERT_EQ(done.wait_for(generous), std::future_status::ready);
  EXPECT_TRUE(done.get());
  expect_free({"a", "b"});
}

TEST_P(AllOf, IsAcquiredAndReleasedByCoroutinesOfSeveralClients) {
  sync_wait([](lock of) -> task<> {
    for (int i = 0; i < 3; ++i) {
      auto held = co_await of.async_acquire();
      EXPECT_TRUE(held.held());
      EXPECT_TRUE(co_await held.async_release());
    }
  }(all_of({redis().mutex("a"), another_client().mutex("b"), redis().mutex("c")})));
  expect_free({"a", "b", "c"});
}

TEST_P(AllOf, NeverWaitsForAnotherInWhateverOrderItIsWritten) {
  constexpr int each = 60;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const client mine = another_client();
      std::vector<lock> locks{mine.mutex("a"), mine.mutex("b"), mine.mutex("c")};
      if (i % 2 == 0) std::swap(locks[0], locks[2]);
      const auto wanted = all_of(locks);
      for (int k = 0; k < each; ++k) {
        const auto held = wanted.acquire({.timeout = generous});
        ++count;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count, 4 * each);
}

TEST_P(AllOf, IsLostWithOnePart) {
  auto held = all_of({redis().mutex("a", {.lease = 150ms}), redis().mutex("b")}).acquire();
  const auto lost = held.lost();
  EXPECT_FALSE(lost.stop_requested());
  server().command({"DEL", "hf:{a}"});
  EXPECT_TRUE(triggered(lost));
  EXPECT_FALSE(held.held());
  EXPECT_EQ(held.remaining(), 0ms);
  const auto done = held.release();
  expect_reason(done, errc::lost);
  EXPECT_THAT(done.error().what(), testing::HasSubstr("'a'"));
  expect_free({"a", "b"});
}

TEST_P(AllOf, DoesNotTellAReleaseAsALoss) {
  auto held = all_of({redis().mutex("a"), redis().mutex("b")}).acquire();
  const auto lost = held.lost();
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(held.release()) << "again: without effect";
  EXPECT_FALSE(lost.stop_requested());
}

TEST_P(AllOf, BeginsAgainWhenAPartIsLostWhileItWaits) {
  auto theirs = another_client().mutex("b").acquire();
  const auto brief = redis().mutex("a", {.lease = 100ms, .renewal = renewal::none});
  const auto wanted = all_of({brief, redis().mutex("b")});
  for (const bool blocks : {true, false}) {
    std::thread waiter{[&] {
      lease held = blocks ? wanted.acquire({.timeout = generous})
                          : sync_wait(acquired(wanted, {.timeout = generous}));
      EXPECT_TRUE(held.held());
    }};
    EXPECT_TRUE(waits("b", 1));
    EXPECT_TRUE(
        eventually([&] { return inspector{redis()}.status("a").state == lock_state::free; }));
    EXPECT_TRUE(theirs.release());
    waiter.join();
    expect_free({"a", "b"});
    if (blocks) theirs = another_client().mutex("b").acquire();
  }
}

TEST_P(AllOf, ExtendsAllParts) {
  const mutex_options fixed{.lease = 1s, .renewal = renewal::none};
  auto held = all_of({redis().mutex("a", fixed), redis().mutex("b", fixed)}).acquire();
  EXPECT_LE(held.remaining(), 1s);
  EXPECT_TRUE(held.extend(20s));
  EXPECT_GT(held.remaining(), 15s);
  server().command({"DEL", "hf:{b}"});
  expect_reason(held.extend(30s), errc::lost);
}

TEST_P(AllOf, CostsTwoCommandsWhereOneClientHasPlainLocks) {
  HOLDFAST_NEEDS_ONE_SERVER("locks of several slots are asked for one by one");
  std::vector<lock> locks;
  for (int i = 0; i < 100; ++i) locks.push_back(redis().mutex("part " + std::to_string(i)));
  const auto wanted = all_of(locks);
  wanted.acquire().release().value();  // scripts are loaded
  auto before = called("evalsha");
  auto held = wanted.acquire();
  EXPECT_EQ(called("evalsha"), before + 1);
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(held.release());
  EXPECT_EQ(called("evalsha"), before + 2);
  const auto mixed = all_of({locks[0], locks[1], redis().read_write_lock("reader").shared()});
  mixed.acquire().release().value();
  before = called("evalsha");
  mixed.acquire().release().value();
  EXPECT_EQ(called("evalsha"), before + 5) << "three one by one, two and one back";
}

TEST_P(AllOf, HandsWhatSomebodyWaitsForToHim) {
  auto held = all_of({redis().mutex("a"), redis().mutex("b"), redis().mutex("c")}).acquire();
  std::promise<void> seen;
  std::thread waiter{[&, end = seen.get_future()] {
    const auto got = another_client().mutex("b").acquire();
    end.wait();
    EXPECT_TRUE(got.held());
  }};
  EXPECT_TRUE(waits("b", 1));
  EXPECT_TRUE(held.release());
  EXPECT_EQ(server().command({"EXISTS", "hf:{b}"}).number, 1) << "held, and not only free";
  seen.set_value();
  waiter.join();
  expect_free({"a", "b", "c"});
}

TEST_P(AllOf, TakesWhatTheClientKeepsTogetherWithTheRest) {
  const auto kept = redis().mutex("b", {.retain = 10s});
  kept.acquire().release().value();
  auto held = all_of({redis().mutex("a"), kept}).acquire();
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(another_client().mutex("b").acquire({.timeout = generous}).held());
  expect_free({"a"});
}

TEST_P(AllOf, ContainsTheRecursiveMutexOfItsThread) {
  const auto mutex = redis().recursive_mutex("a");
  const auto outer = all_of({mutex, redis().mutex("b")}).acquire();
  const auto inner = mutex.acquire();
  EXPECT_EQ(mutex.hold_count(), 2u);
  EXPECT_EQ(thrown_by([&] {
              (void)all_of({redis().mutex("b"), redis().mutex("0")}).acquire();
            }).reason(),
            errc::would_deadlock);
  expect_free({"0"});
}

TEST_P(AllOf, RefusesWhatNobodyCanMean) {
  const auto a = redis().mutex("a"), b = redis().mutex("b");
  const auto reason = [](std::vector<lock> locks) {
    return thrown_by([&] { (void)all_of(std::move(locks)); }).reason();
  };
  EXPECT_EQ(reason({}), errc::invalid_argument);
  EXPECT_EQ(reason({a, b, a}), errc::invalid_argument);
  EXPECT_EQ(reason({a, another_client().mutex("a")}), errc::invalid_argument);
  const auto rw = redis().read_write_lock("c");
  EXPECT_EQ(reason({rw.shared(), rw.exclusive()}), errc::invalid_argument);
  EXPECT_EQ(reason({all_of({a, b}), b}), errc::invalid_argument) << "parts of parts are parts";
  const auto held = rw.upgradeable().acquire();
  EXPECT_EQ(reason({a, rw.upgrade(held)}), errc::invalid_argument);
  EXPECT_TRUE(all_of({a}).acquire().release());
  EXPECT_TRUE(all_of({all_of({b}), a}).try_acquire());
}

}  // namespace
}  // namespace holdfast::conformance
