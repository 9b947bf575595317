// The adapter to the standard guards, and what may not be done on the callback thread.
#include <array>
#include <atomic>
#include <barrier>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class Lockable : public mutex_test {
 protected:
  // What `act` throws when it is run by the callback of a lost lease; nothing when it throws
  // nothing. `act` gets the client whose callback thread it is on.
  template <typename Act>
  std::optional<failure> thrown_in_callback(Act act) const {
    const auto brief = redis().mutex("brief", {.lease = 50ms, .renewal = renewal::none});
    const auto held = brief.acquire({.timeout = generous});
    std::promise<std::optional<failure>> answer;
    auto answered = answer.get_future();
    const std::stop_callback on_loss{held.lost(), [&] {
                                       try {
                                         act(redis());
                                         answer.set_value(std::nullopt);
                                       } catch (const failure& thrown) {
                                         answer.set_value(thrown);
                                       }
                                     }};
    EXPECT_EQ(answered.wait_for(generous), std::future_status::ready);
    return answered.get();
  }
};
HOLDFAST_ON_EACH_SERVER(Lockable);

TEST_P(Lockable, GuardHoldsTheLockForItsScope) {
  const auto lock = redis().mutex("a");
  lockable mine{lock};
  {
    const std::scoped_lock guard{mine};
    EXPECT_TRUE(mine.held_lease().held());
    EXPECT_TRUE(mine.held_lease().token());
    expect_reason(another_client().mutex("a").try_acquire(), errc::busy);
  }
  EXPECT_TRUE(another_client().mutex("a").try_acquire({.timeout = generous}));
}

TEST_P(Lockable, IsSharedByThreadsAsAMutexIs) {
  constexpr int threads = 8;
  constexpr int rounds = 50;
  lockable shared{redis().mutex("a")};
  int visits = 0;  // what it protects
  std::atomic<int> tried{0};
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        for (int round = 0; round < rounds; ++round) {
          std::unique_lock guard{shared, std::defer_lock};
          if ((i + round) % 4 != 0) {
            guard.lock();
          } else if (!guard.try_lock()) {
            ++tried;
            continue;
          }
          EXPECT_TRUE(shared.held_lease().held());
          ++visits;
        }
      });
    }
  }
  EXPECT_EQ(visits + tried, threads * rounds);
  EXPECT_TRUE(another_client().mutex("a").try_acquire({.timeout = generous}));
}

TEST_P(Lockable, OfReadersIsHeldByAsManyThreads) {
  lockable shared{redis().read_write_lock("a").shared()};
  std::barrier inside{3};
  const auto read = [&] {
    const std::lock_guard guard{shared};
    EXPECT_TRUE(shared.held_lease().held());
    inside.arrive_and_wait();
    EXPECT_TRUE(shared.held_lease().held());
  };
  { const std::jthread one{read}, two{read}, three{read}; }
  EXPECT_TRUE(another_client().read_write_lock("a").exclusive().try_acquire({.timeout = generous}));
}

TEST_P(Lockable, OfARecursiveMutexIsHeldUntilTheLastUnlock) {
  lockable mine{redis().recursive_mutex("a")};
  const auto others = another_client().mutex("a");
  {
    const std::lock_guard outer{mine};
    { const std::lock_guard inner{mine}; }
    EXPECT_TRUE(mine.held_lease().held());
    expect_reason(others.try_acquire(), errc::busy);
  }
  EXPECT_TRUE(others.try_acquire({.timeout = generous}));
}

// The first thread still believes that it is inside when the second has locked.
TEST_P(Lockable, AThreadThatHasLostItLeavesTheLeaseOfTheNextAlone) {
  lockable shared{redis().mutex("a", {.lease = 300ms})};
  const inspector look{redis()};
  std::promise<void> is_locked, has_unlocked;
  std::jthread next;
  {
    const std::lock_guard guard{shared};
    auto& lost = shared.held_lease();
    EXPECT_EQ(look.break_lock("a", "a test").state, lock_state::held);
    next = std::jthread{[&] {
      const std::lock_guard second{shared};
      is_locked.set_value();
      has_unlocked.get_future().wait();
      EXPECT_TRUE(shared.held_lease().held());
      EXPECT_TRUE(look.status("a").token == shared.held_lease().token());
    }};
    is_locked.get_future().wait();
    EXPECT_EQ(&lost, &shared.held_lease());
    EXPECT_FALSE(lost.held());
  }
  has_unlocked.set_value();
  next.join();
  EXPECT_TRUE(another_client().mutex("a").try_acquire({.timeout = generous}));
}

TEST_P(Lockable, RefusesTheUnlockOfAThreadThatHasNotLocked) {
  lockable shared{redis().mutex("a")};
  const auto refusal = [&] {
    try {
      shared.unlock();
    } catch (const std::system_error& thrown) {
      return thrown.code();
    }
    return std::error_code{};
  };
  EXPECT_EQ(refusal(), std::errc::operation_not_permitted);
  shared.lock();
  std::jthread{[&] { EXPECT_EQ(refusal(), std::errc::operation_not_permitted); }}.join();
  EXPECT_TRUE(shared.held_lease().held());
  EXPECT_FALSE(refusal());
  EXPECT_EQ(refusal(), std::errc::operation_not_permitted) << "as it has unlocked already";
}

TEST_P(Lockable, OppositeOrdersDoNotDeadlock) {
  constexpr int threads = 4;
  constexpr int rounds = 25;
  const auto other = another_client();
  std::array<std::atomic<bool>, 2> inside{};
  std::atomic<int> done{0};
  const auto run = [&](int number) {
    const auto& of = number % 2 == 0 ? redis() : other;
    lockable a{of.mutex("a")};
    lockable b{of.mutex("b")};
    for (int i = 0; i < rounds; ++i) {
      const bool forward = (number / 2 + i) % 2 == 0;
      const std::scoped_lock both{forward ? a : b, forward ? b : a};
      for (auto& place : inside) EXPECT_FALSE(place.exchange(true));
      EXPECT_TRUE(a.held_lease().held());
      EXPECT_TRUE(b.held_lease().held());
      for (auto& place : inside) EXPECT_TRUE(place.exchange(false));
      ++done;
    }
  };
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(run, i);
  }
  EXPECT_EQ(done, threads * rounds);
  EXPECT_TRUE(redis().mutex("a").try_acquire({.timeout = generous}));
  EXPECT_TRUE(redis().mutex("b").try_acquire({.timeout = generous}));
}

TEST_P(Lockable, GuardOfTwoWaitsForTheOneThatIsTaken) {
  auto held = redis().mutex("b").acquire();
  std::atomic<bool> inside{false};
  std::thread both{[&] {
    const auto own = another_client();
    lockable a{own.mutex("a")};
    lockable b{own.mutex("b")};
    const std::scoped_lock guard{a, b};
    inside = true;
  }};
  EXPECT_TRUE(eventually([&] { return inspector{redis()}.status("b").waiting == 1; }));
  EXPECT_FALSE(inside);
  // A server that knows not yet the script of the release is asked a second time, behind the wait.
  EXPECT_TRUE(eventually([&] { return redis().mutex("a").try_acquire().has_value(); }))
      << "whoever waits for b does not sit on a";
  EXPECT_TRUE(held.release());
  both.join();
  EXPECT_TRUE(inside);
}

TEST_P(Lockable, TryLockSaysWhetherItIsTaken) {
  lockable mine{redis().mutex("a")};
  lockable theirs{another_client().mutex("a")};
  std::unique_lock first{mine, std::try_to_lock};
  EXPECT_TRUE(first.owns_lock());
  std::unique_lock second{theirs, std::try_to_lock};
  EXPECT_FALSE(second.owns_lock());
  EXPECT_FALSE(second.try_lock());
  first.unlock();
  EXPECT_TRUE(eventually([&] { return second.try_lock(); })) << "unlock() awaits no answer";
  EXPECT_FALSE(first.try_lock());
  second.unlock();
  first.lock();
  EXPECT_TRUE(mine.held_lease().held());
}

TEST_P(Lockable, AdoptedLockIsReleasedByItsGuard) {
  lockable mine{redis().mutex("a")};
  mine.lock();
  { const std::lock_guard guard{mine, std::adopt_lock}; }
  EXPECT_TRUE(another_client().mutex("a").try_acquire({.timeout = generous}));
}

TEST_P(Lockable, LockThrowsWhatItsTimeoutEnds) {
  client_options options;
  options.default_timeout = 50ms;
  const client hasty{server().url(), options};
  const auto held = redis().mutex("a").acquire();
  lockable mine{hasty.mutex("a")};
  EXPECT_EQ(thrown_by([&] { const std::lock_guard guard{mine}; }).reason(), errc::timed_out);
}

TEST_P(Lockable, TryLockThrowsWhenItCannotBeKnown) {
  server().command({"SET", "hf:{a}", "something else"});
  lockable mine{redis().mutex("a")};
  EXPECT_EQ(thrown_by([&] { (void)mine.try_lock(); }).reason(), errc::foreign_key);
}

TEST_P(Lockable, WaitingOnTheCallbackThreadIsRefused) {
  const auto why = thrown_in_callback([](const client& redis) {
    lockable mine{redis.mutex("a")};
    const std::lock_guard guard{mine};
  });
  ASSERT_TRUE(why);
  EXPECT_EQ(why->reason(), errc::would_deadlock);
  EXPECT_THAT(why->what(), ::testing::HasSubstr("async_acquire"));
  EXPECT_TRUE(redis().mutex("a").try_acquire()) << "and nothing was taken";
}

TEST_P(Lockable, WaitingAsLongAsToldOnTheCallbackThreadIsRefused) {
  const auto why = thrown_in_callback(
      [](const client& redis) { (void)redis.mutex("a").try_acquire({.timeout = 1ms}); });
  ASSERT_TRUE(why);
  EXPECT_EQ(why->reason(), errc::would_deadlock);
}

TEST_P(Lockable, WaitingForAKeptLockOnTheCallbackThreadIsRefused) {
  (void)redis().mutex("a", {.retain = 60s}).acquire({.timeout = generous}).release();
  const auto why = thrown_in_callback(
      [](const client& redis) { (void)redis.mutex("a", {.retain = 60s}).acquire(); });
  ASSERT_TRUE(why) << "though it is at hand: what works once must work always";
  EXPECT_EQ(why->reason(), errc::would_deadlock);
}

TEST_P(Lockable, RunningCoroutinesOnTheCallbackThreadIsRefused) {
  bool ran = false;
  const auto why = thrown_in_callback([&](const client& redis) {
    sync_wait([](bool& begun, lock target) -> task<> {
      begun = true;
      (void)co_await target.async_acquire();
    }(ran, redis.mutex("a")));
  });
  ASSERT_TRUE(why);
  EXPECT_EQ(why->reason(), errc::would_deadlock);
  EXPECT_THAT(why->what(), ::testing::HasSubstr("sync_wait"));
  EXPECT_FALSE(ran);
}

TEST_P(Lockable, AskingOnceOnTheCallbackThreadIsAllowed) {
  bool locked = false;
  const auto why = thrown_in_callback([&](const client& redis) {
    lockable mine{redis.mutex("a")};
    locked = mine.try_lock();
    if (locked) mine.unlock();
  });
  EXPECT_FALSE(why) << (why ? why->what() : "");
  EXPECT_TRUE(locked);
}

}  // namespace
}  // namespace holdfast::conformance
