// Memory that runs out in a call: each allocation of the calling thread fails once.
//
// A program of its own: it replaces operator new.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "faults/faulty_server.hpp"
#include "support/forked.hpp"

namespace {

thread_local long left = -1;  // allocations of this thread until one fails; -1: none does

}  // namespace

void* operator new(std::size_t size) {
  if (left >= 0 && left-- == 0) throw std::bad_alloc();
  if (void* const got = std::malloc(size)) return got;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return left >= 0 && left-- == 0 ? nullptr : std::malloc(size);
}
void operator delete(void* what) noexcept { std::free(what); }
void operator delete(void* what, std::size_t) noexcept { std::free(what); }

namespace holdfast::faults {
namespace {

using support::generous;

// The traces of a call that fails.
class NoMemory : public fault_test {
 protected:
  using call = std::function<void()>;

  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_.emplace(start());
    redis_ = make_client();
    other_ = make_client();
    (void)redis_->mutex("warm").acquire();
  }

  [[nodiscard]] client make_client() const { return client(server_->url(), brief()); }
  [[nodiscard]] const client& redis() const { return *redis_; }
  // Another client, which holds what the calls want.
  [[nodiscard]] const client& other() const { return *other_; }

  // Whether there were so many allocations. On a thread that has no buffers yet.
  bool try_with(long allocation, const call& what, const lock& wanted) {
    bool failed = false;
    std::thread([&] {
      left = allocation;
      try {
        what();
      } catch (const std::bad_alloc&) {
        ++thrown_;
      } catch (const failure& why) {
        left = std::min(left, -1L);
        EXPECT_EQ(why.reason(), errc::unavailable) << allocation << ": " << why.what();
      }
      failed = left < 0;
      left = -1;
      const auto after = wanted.try_acquire({.timeout = generous});
      EXPECT_TRUE(after) << allocation << ": " << why_not(after);
    }).join();
    const auto beside = redis().mutex("beside").try_acquire({.timeout = generous});
    EXPECT_TRUE(beside) << allocation << ": " << why_not(beside);
    return failed;
  }

  // `make`: the call, and the lock that can be had afterwards.
  void try_each(const std::function<std::pair<call, lock>(const std::string& name)>& make) {
    long allocation = 0;
    for (bool failed = true; failed && !HasFailure(); ++allocation) {
      const auto [what, wanted] = make("lock " + std::to_string(allocation));
      failed = try_with(allocation, what, wanted);
    }
    EXPECT_GT(thrown_, 0);
  }

  // For what asks for a lock as it is.
  void try_each(const std::function<lock(const std::string& name)>& make,
                const acquire_options& options = {}, std::stop_token stop = {}) {
    try_each([&](const std::string& name) {
      auto wanted = make(name);
      return std::pair<call, lock>{[=] { (void)wanted.try_acquire(options, stop); }, wanted};
    });
  }

 private:
  // So long it is in doubt what a command has done whose answer was given up.
  static client_options brief() {
    auto options = patient();
    options.response_timeout = 250ms;
    return options;
  }

  std::optional<private_server> server_;
  std::optional<client> redis_;
  std::optional<client> other_;
  int thrown_ = 0;
};
HOLDFAST_ON_EACH_SERVER(NoMemory);

TEST_P(NoMemory, InATryOfAFreeLock) {
  try_each([&](const std::string& name) { return redis().mutex(name); });
}

TEST_P(NoMemory, InAPatientTryOfAFreeLock) {
  try_each([&](const std::string& name) { return redis().mutex(name); }, {.timeout = generous});
}

TEST_P(NoMemory, WithAStopToken) {
  const std::stop_source stop;
  try_each([&](const std::string& name) { return redis().mutex(name); }, {.timeout = generous},
           stop.get_token());
}

TEST_P(NoMemory, WhenTheReleaseIsAnswered) {
  try_each([&](const std::string& name) {
    auto wanted = redis().mutex(name);
    return std::pair<call, lock>{[=] { (void)wanted.acquire().release(); }, wanted};
  });
}

TEST_P(NoMemory, InAFairMutex) {
  try_each([&](const std::string& name) { return redis().mutex(name, {.fair = true}); },
           {.timeout = generous});
}

TEST_P(NoMemory, InAWaitForAnotherThread) {
  std::optional<lease> held;
  try_each([&](const std::string& name) {
    auto wanted = redis().mutex(name);
    held.reset();
    held.emplace(wanted.acquire());
    const std::stop_source stop;
    const call what = [=] { (void)wanted.try_acquire({.timeout = 5ms}, stop.get_token()); };
    return std::pair<call, lock>{what, redis().mutex(name + " free")};
  });
}

task<> acquire_and_release(lock wanted) {
  auto held = co_await wanted.async_acquire();
  (void)co_await held.async_release();
}

TEST_P(NoMemory, InACoroutine) {
  try_each([&](const std::string& name) {
    auto wanted = redis().mutex(name);
    return std::pair<call, lock>{[=] { sync_wait(acquire_and_release(wanted)); }, wanted};
  });
}

task<> acquire_both(lock a, lock b) {
  std::vector<task<>> both;
  both.push_back(acquire_and_release(a));
  both.push_back(acquire_and_release(b));
  co_await when_all(std::move(both));
}

TEST_P(NoMemory, InCoroutinesSideBySide) {
  try_each([&](const std::string& name) {
    auto wanted = redis().mutex(name);
    auto second = redis().mutex(name + " 2");
    return std::pair<call, lock>{[=] { sync_wait(acquire_both(wanted, second)); }, wanted};
  });
}

TEST_P(NoMemory, InSeveralLocks) {
  try_each([&](const std::string& name) {
    return all_of({redis().mutex(name), redis().mutex(name + " 2")});
  });
}

TEST_P(NoMemory, InSeveralLocksOfDifferentKinds) {
  try_each([&](const std::string& name) {
    return all_of({redis().mutex(name), redis().read_write_lock(name + " 2").shared()});
  });
}

TEST_P(NoMemory, InASharedLock) {
  try_each([&](const std::string& name) { return redis().read_write_lock(name).shared(); });
}
TEST_P(NoMemory, InAnExclusiveLock) {
  try_each([&](const std::string& name) { return redis().read_write_lock(name).exclusive(); });
}
TEST_P(NoMemory, InASemaphore) {
  try_each([&](const std::string& name) { return redis().semaphore(name, {.permits = 2}); });
}
TEST_P(NoMemory, InARecursiveMutex) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    auto wanted = redis().recursive_mutex(name);
    return {[=] {
              const auto outer = wanted.try_acquire();
              const auto inner = wanted.try_acquire();
            },
            redis().mutex(name)};
  });
}
TEST_P(NoMemory, InALockOfAnotherLibrary) {
  try_each([&](const std::string& name) { return redis().mutex(name, {}, dialect::redisson()); },
           {.timeout = generous});
}

TEST_P(NoMemory, InTheSignalOfALoss) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    auto wanted = redis().mutex(name);
    const auto held = std::make_shared<lease>(redis().mutex(name + " held").acquire());
    return {[=] { (void)held->lost(); }, wanted};
  });
}
TEST_P(NoMemory, InAnExtension) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    auto wanted = redis().mutex(name);
    const auto held = std::make_shared<lease>(redis().mutex(name + " held").acquire());
    return {[=] {
              (void)held->extend(60s);
              EXPECT_TRUE(held->held());
            },
            wanted};
  });
}
// It learns of the loss, in this call or in the next one.
TEST_P(NoMemory, InAnExtensionOfABrokenLock) {
  std::optional<lease> held;
  const auto expect_lost = [&] {
    if (!held) return;
    const auto extended = held->extend(60s);
    ASSERT_FALSE(extended);
    EXPECT_EQ(extended.error().reason(), errc::lost) << extended.error().what();
    EXPECT_FALSE(held->held());
  };
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    expect_lost();
    held.emplace(redis().mutex(name).acquire());
    inspector(redis()).break_lock(name, "a test");
    return {[&] { EXPECT_FALSE(held->extend(60s)); }, other().mutex(name)};
  });
  expect_lost();
}
TEST_P(NoMemory, InACounter) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    auto wanted = redis().mutex(name);
    return {[counter = redis().counter(name)] { (void)counter.add(1); }, wanted};
  });
}
TEST_P(NoMemory, InAModeLock) {
  try_each([&](const std::string& name) {
    return redis().mode_lock(name).in(lock_mode::protected_write);
  });
}
// The change is made or not: either way readers can come in when it is over.
TEST_P(NoMemory, InAChangeOfTheMode) {
  std::optional<lease> held;
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    const auto table = redis().mode_lock(name);
    const auto reads = table.in(lock_mode::protected_read);
    held.emplace(reads.acquire());
    return {[=, &held] { (void)table.change(*held, lock_mode::exclusive).try_acquire(); }, reads};
  });
}
TEST_P(NoMemory, InAnUpgrade) {
  std::optional<lease> held;
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    const auto rw = redis().read_write_lock(name);
    held.emplace(rw.upgradeable().acquire());
    return {[=, &held] { (void)rw.upgrade(*held).try_acquire(); }, rw.shared()};
  });
}
TEST_P(NoMemory, InAValueBlock) {
  const auto table = redis().mode_lock("of a value");
  const auto held = table.in(lock_mode::exclusive).acquire();
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    return {[=, &held] {
              table.set_value(held, "a value that is no short text of its own");
              (void)table.value(held);
              EXPECT_TRUE(held.held());
            },
            redis().mutex(name)};
  });
}
TEST_P(NoMemory, InALatch) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    return {[gate = redis().latch(name)] {
              (void)gate.try_set(1);
              (void)gate.count_down();
              (void)gate.try_wait();
            },
            redis().mutex(name + " beside it")};
  });
}
TEST_P(NoMemory, InABarrier) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    return {[gate = redis().barrier(name, 1)] { (void)gate.try_arrive_and_wait(); },
            redis().mutex(name + " beside it")};
  });
}
TEST_P(NoMemory, InTermsOfOffice) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    const auto office = redis().election(name, {.lease = 30s});
    return {[=] { const auto term = office.campaign({.timeout = generous}); }, office};
  });
}
TEST_P(NoMemory, InAFunctionUnderALock) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    auto wanted = redis().mutex(name);
    return {[=] { run_while_held(wanted, [](const lease&) {}); }, wanted};
  });
}
TEST_P(NoMemory, InValuesThatCountOnce) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    return {[=, this] {
              (void)redis().rate_limiter(name, {.rate = 1000, .burst = 1000}).try_acquire();
              (void)redis().id_generator(name).next();
              (void)redis().fenced_set(name, "text", fencing_token{7});
            },
            redis().mutex(name)};
  });
}
TEST_P(NoMemory, InIdsOfAMachine) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    return {[=, this] { (void)redis().snowflake(name, {.machines = 1}).next(); },
            redis().mutex(name + ":machine:0")};
  });
}
TEST_P(NoMemory, InAnObservation) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    auto wanted = redis().election(name);
    return {[=] { const auto seen = wanted.observe([](const auto&) {}); }, wanted};
  });
}
TEST_P(NoMemory, InALookAtALock) {
  const auto held = redis().mutex("looked at").acquire();
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    auto wanted = redis().mutex(name);
    return {[look = inspector(redis())] { (void)look.status("looked at"); }, wanted};
  });
}
TEST_P(NoMemory, InAListOfLocks) {
  const auto held = redis().mutex("listed").acquire();
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    auto wanted = redis().mutex(name);
    return {[look = inspector(redis())] { (void)look.list(); }, wanted};
  });
}

TEST_P(NoMemory, InTheMakingOfALock) {
  try_each([&](const std::string& name) -> std::pair<call, lock> {
    auto wanted = redis().mutex(name);
    return {[=, this] { (void)redis().mutex(name + " of a name that is rather long"); }, wanted};
  });
}

// The traces of a process that ends in the middle of a call, as it does where the call cannot be
// undone.
class NoMemoryInTheMiddle : public NoMemory {
 protected:
  static constexpr int ended_by_abort = 128 + SIGABRT;

  // Lets each allocation of `what` fail, each in a process of its own. Returns how often the
  // process ended.
  int try_each_in_a_process(const std::function<call(const client& redis)>& make) {
    bool failed = true;
    int ended = 0, thrown = 0;
    for (long allocation = 0; failed && !HasFailure(); ++allocation) {
      support::forked child([&](const auto& parent) {
        ::alarm(20);  // a hang ends it otherwise
        const auto mine = make_client();
        (void)mine.mutex("warm").try_acquire();  // later ones it reads the answers itself
        const auto what = make(mine);
        left = allocation;
        bool threw = false;
        try {
          what();
        } catch (const std::bad_alloc&) {
          threw = true;
        } catch (const failure&) {
        }
        const bool unused = left >= 0;
        left = -1;
        parent.tell(unused ? "unused" : threw ? "threw" : "went on");
      });
      const auto how = child.wait();
      EXPECT_TRUE(how == 0 || how == ended_by_abort) << allocation << ": " << how;
      if (how == ended_by_abort) {
        ++ended;
        continue;
      }
      const auto told = child.heard();
      failed = told != "unused";
      if (told == "threw") ++thrown;
    }
    EXPECT_GT(thrown, 0);
    return ended;
  }
};
HOLDFAST_ON_EACH_SERVER(NoMemoryInTheMiddle);

TEST_P(NoMemoryInTheMiddle, OfAWaitForAnotherClientTheProcessEndsAndOthersGetTheLock) {
  std::optional<lease> held(other().mutex("wanted").acquire());
  try_each_in_a_process([](const client& redis) -> call {
    return [wanted = redis.mutex("wanted")] { (void)wanted.try_acquire({.timeout = 5ms}); };
  });
  held.reset();
  const auto after = redis().mutex("wanted").try_acquire({.timeout = generous});
  EXPECT_TRUE(after) << why_not(after);
}

// The members' votes end with the lease.
TEST_P(NoMemoryInTheMiddle, OfALockOfAQuorumTheProcessEndsAndOthersGetTheLock) {
  const auto lock_of = [](const client& redis) {
    return quorum({redis}).mutex("of the quorum", {.lease = 300ms});
  };
  const int ended = try_each_in_a_process([&](const client& redis) -> call {
    return [wanted = lock_of(redis)] { (void)wanted.try_acquire(); };
  });
  EXPECT_GT(ended, 0);
  const auto after = lock_of(redis()).try_acquire({.timeout = generous});
  EXPECT_TRUE(after) << why_not(after);
}

}  // namespace
}  // namespace holdfast::faults
