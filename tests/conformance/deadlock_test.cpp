// Threads, clients and processes that wait for each other: one is told, the others go on.
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <random>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Deadlock : public mutex_test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS_ONE_SERVER("deadlocks are refused");
    mutex_test::SetUp();
  }
  client detecting() const { return client{server().url(), {.detect_deadlocks = true}}; }
  // The waits, as they stand at the server.
  std::vector<std::string> noted() const {
    std::vector<std::string> all;
    for (auto& one : server().command({"HVALS", "hf:waits"}).items) all.push_back(one.text);
    return all;
  }
  static bool has_ended(const std::string& wait) { return wait.find('\n') == wait.size() - 1; }
  bool is_noted() const { return !std::ranges::all_of(noted(), has_ended); }
  std::int64_t notes() const { return called("hscan"); }
};
HOLDFAST_ON_EACH_SERVER(Deadlock);

struct order {
  lock first;
  lock second;
};

// Each thread takes its first lock and, when all have one, its second. A thread that is told of a
// deadlock gives back its lock. Returns the messages.
std::vector<std::string> interlocked(const std::vector<order>& all) {
  std::barrier together{static_cast<std::ptrdiff_t>(all.size())};
  std::mutex guard;
  std::vector<std::string> told;
  std::vector<std::thread> threads;
  for (const auto& mine : all) {
    threads.emplace_back([&, mine] {
      const auto first = mine.first.acquire();
      together.arrive_and_wait();
      const auto second = mine.second.try_acquire({.timeout = generous});
      if (second) return;
      EXPECT_EQ(second.error().reason(), errc::would_deadlock) << second.error().what();
      const std::lock_guard lock(guard);
      told.emplace_back(second.error().what());
    });
  }
  for (auto& thread : threads) thread.join();
  return told;
}

TEST_P(Deadlock, IsFoundBetweenThreadsOfOneClient) {
  const auto one = detecting();
  const auto a = one.mutex("a"), b = one.mutex("b");
  const auto told = interlocked({{a, b}, {b, a}});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told.front(), AllOf(HasSubstr("'a'"), HasSubstr("'b'"), HasSubstr("this thread of"),
                                  HasSubstr(":" + std::to_string(::getpid()))));
  EXPECT_TRUE(eventually([&] { return !is_noted(); }));
}

TEST_P(Deadlock, IsFoundBetweenClients) {
  const auto one = detecting(), other = detecting();
  EXPECT_EQ(
      interlocked({{one.mutex("a"), one.mutex("b")}, {other.mutex("b"), other.mutex("a")}}).size(),
      1u);
  EXPECT_TRUE(eventually([&] { return !is_noted(); }));
}

TEST_P(Deadlock, IsFoundBetweenProcesses) {
  const auto one = detecting();
  auto a = one.mutex("a").acquire();
  support::forked other{[&](const support::forked::teller& parent) {
    const auto mine = detecting();
    const auto b = mine.mutex("b").acquire();
    parent.tell("has");
    const auto got = mine.mutex("a").try_acquire({.timeout = generous});
    parent.tell(got ? "got" : got.error().code().message());
  }};
  ASSERT_EQ(other.heard(), "has");
  const auto b = one.mutex("b").try_acquire({.timeout = generous});
  EXPECT_TRUE(a.release());
  const auto heard = other.heard();
  if (b) {
    EXPECT_EQ(heard, make_error_code(errc::would_deadlock).message());
  } else {
    EXPECT_EQ(b.error().reason(), errc::would_deadlock);
    EXPECT_EQ(heard, "got");
  }
}

TEST_P(Deadlock, IsNotSeenInWhatTheDeadHaveLeft) {
  const auto one = detecting();
  const auto a = one.mutex("a").acquire();
  support::forked other{[&](const support::forked::teller& parent) {
    const auto mine = detecting();
    const auto b = mine.mutex("b", {.lease = 2s}).acquire();
    parent.tell("has");
    static_cast<void>(mine.mutex("a").acquire());
  }};
  ASSERT_EQ(other.heard(), "has");
  ASSERT_TRUE(eventually([&] { return is_noted(); }));
  other.kill9();
  EXPECT_TRUE(one.mutex("b").try_acquire({.timeout = generous})) << "its lease ends";
}

TEST_P(Deadlock, IsFoundInARingOfThree) {
  const auto one = detecting(), other = detecting();
  const auto told = interlocked({{one.mutex("a"), one.mutex("b")},
                                 {other.mutex("b"), other.mutex("c")},
                                 {one.mutex("c"), one.mutex("a")}});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told.front(), AllOf(HasSubstr("'a'"), HasSubstr("'b'"), HasSubstr("'c'")));
}

TEST_P(Deadlock, IsFoundBetweenFairAndRecursiveLocksAndPartsOfSeveral) {
  const auto one = detecting(), other = detecting();
  const auto c = all_of({one.mutex("c1"), one.mutex("c2")});
  EXPECT_EQ(interlocked({{one.mutex("a", {.fair = true}), one.mutex("b")},
                         {other.recursive_mutex("b"), other.mutex("c2")},
                         {c, one.mutex("a", {.fair = true})}})
                .size(),
            1u);
}

TEST_P(Deadlock, IsFoundBetweenReadersAndWriters) {
  const auto one = detecting(), other = detecting();
  EXPECT_EQ(
      interlocked(
          {{one.read_write_lock("a").shared(), one.mode_lock("b").in(lock_mode::protected_read)},
           {other.mode_lock("b").in(lock_mode::exclusive), other.read_write_lock("a").exclusive()}})
          .size(),
      1u);
}

TEST_P(Deadlock, IsNotWhatEndsByItself) {
  const auto one = detecting(), other = detecting();
  // An upgrade waits for the other reader, not for what it replaces.
  const auto doc = one.read_write_lock("doc");
  const auto upgradeable = doc.upgradeable().acquire();
  auto reader = other.read_write_lock("doc").shared().acquire();
  std::thread upgrades{
      [&] { EXPECT_TRUE(doc.upgrade(upgradeable).try_acquire({.timeout = generous})); }};
  EXPECT_TRUE(eventually([&] { return is_noted(); }));
  EXPECT_TRUE(reader.release());
  upgrades.join();
  // A lock that another thread gives back.
  const auto mine = one.mutex("mine", {.reentry = reentry::waits});
  auto held = mine.acquire();
  const auto noted = notes();
  std::thread gives_back{[&] {
    EXPECT_TRUE(eventually([&] { return notes() > noted; }));
    EXPECT_TRUE(held.release());
  }};
  EXPECT_TRUE(mine.try_acquire({.timeout = generous}));
  gives_back.join();
}

// The request that wrote it down may come once more, over a connection that has broken.
TEST_P(Deadlock, IsNotWhatEndedForAsLongAsACopyMayCome) {
  const auto held = redis().mutex("a").acquire();
  const auto seconds = [&] { return std::stoull(server().command({"TIME"}).items.at(0).text); };
  const auto before = seconds();
  expect_reason(detecting().mutex("a").try_acquire({.timeout = 200ms}), errc::timed_out);
  ASSERT_TRUE(eventually([&] { return !is_noted(); }));
  const auto ended = noted();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_GE(std::stoull(ended.front()) / 1'000'000, before + 2) << "the response time-out";
  EXPECT_TRUE(eventually([&] { return noted().empty(); }));
}

TEST_P(Deadlock, IsWrittenAgainWhenTheServerForgetsIt) {
  const auto a = detecting().mutex("a");
  auto held = redis().mutex("a").acquire();
  std::thread waiter{[&] { EXPECT_TRUE(a.try_acquire({.timeout = generous})); }};
  EXPECT_TRUE(eventually([&] { return is_noted(); }));
  server().command({"DEL", "hf:waits"});
  EXPECT_TRUE(eventually([&] { return is_noted(); }));
  EXPECT_TRUE(held.release());
  waiter.join();
}

TEST_P(Deadlock, IsNotWaitedForWhereItCannotBeSeen) {
  server().command({"SET", "hf:waits", "something else"});
  const auto held = redis().mutex("a").acquire();
  const auto told = detecting().mutex("a").try_acquire({.timeout = generous});
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().what(),
              AllOf(HasSubstr("deadlocks cannot be detected"), HasSubstr("WRONGTYPE")));
}

TEST_P(Deadlock, IsNotSeenInALockThatWasGivenBackAndPassedOn) {
  const auto one = detecting();
  const auto kept = one.mutex("kept", {.retain = 1min}), b = one.mutex("b");
  kept.acquire().release().value();
  std::atomic<int> step = 0;
  // The client still has it, under the same request, and a coroutine uses it now.
  std::thread task_runs{[&] {
    sync_wait([](lock of, std::atomic<int>& now) -> task<> {
      const auto held = co_await of.async_acquire();
      now = 1;
      EXPECT_TRUE(eventually([&] { return now == 3; }));
    }(kept, step));
  }};
  std::thread waits_for_it{[&] {
    const auto held = b.acquire();
    EXPECT_TRUE(eventually([&] { return step == 1; }));
    step = 2;
    EXPECT_TRUE(kept.try_acquire({.timeout = generous}));
  }};
  std::thread lets_go{[&] {
    EXPECT_TRUE(eventually([&] { return server().command({"HLEN", "hf:waits"}).number == 2; }));
    const auto noted = notes();
    EXPECT_TRUE(eventually([&] { return notes() > noted; }));
    step = 3;
  }};
  EXPECT_TRUE(eventually([&] { return step == 2; }));
  EXPECT_TRUE(b.try_acquire({.timeout = generous}));
  task_runs.join();
  waits_for_it.join();
  lets_go.join();
}

TEST_P(Deadlock, IsNeverReportedWhereAllTakeTheLocksInOneOrder) {
  const auto one = detecting(), other = detecting();
  const auto taken = redis().mutex("taken").acquire();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      std::minstd_rand dice{i + 1};
      const auto& redis = i % 2 == 0 ? one : other;
      for (int k = 0; k < 8; ++k) {
        const auto from = dice() % 3, to = from + 1 + dice() % (3 - from);
        const auto first = redis.mutex(std::to_string(from)).acquire();
        const auto second = redis.mutex(std::to_string(to)).acquire();
        // Long enough that those who wait are written down.
        EXPECT_FALSE(redis.mutex("taken").try_acquire({.timeout = 5ms})) << "nobody frees it";
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(notes(), 0);
}

TEST_P(Deadlock, AlwaysEndsWhereTheyTakeThemInAnyOrder) {
  const auto one = detecting(), other = detecting();
  std::atomic<int> told = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      std::minstd_rand dice{i + 1};
      const auto& redis = i % 2 == 0 ? one : other;
      for (int k = 0; k < 20;) {
        const auto from = dice() % 4, to = (from + 1 + dice() % 3) % 4;
        const auto first = redis.mutex(std::to_string(from)).acquire({.timeout = generous});
        const auto second = redis.mutex(std::to_string(to)).try_acquire({.timeout = generous});
        if (second) {
          ++k;
        } else {
          ++told;
          EXPECT_EQ(second.error().reason(), errc::would_deadlock) << second.error().what();
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(told, 0);
  EXPECT_TRUE(eventually([&] { return !is_noted(); }));
}

TEST_P(Deadlock, NamesWhatTerminalsCanShow) {
  const auto one = detecting();
  const auto odd = one.mutex("odd\n{\x1b[31m} name"), b = one.mutex("b b");
  const auto told = interlocked({{odd, b}, {b, odd}});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told.front(), AllOf(HasSubstr("'odd\\n{\\x1b[31m} name'"), HasSubstr("'b b'")));
}

TEST_P(Deadlock, CostsNothingWhereNobodyWaitsOrNobodyAsksForIt) {
  const auto one = detecting();
  const auto costs_nothing = [&] {
    const auto before = notes();
    one.mutex("a").acquire().release().value();
    return notes() == before;
  };
  EXPECT_TRUE(eventually(costs_nothing)) << "on a busy machine an answer may take 20 ms";
  const auto held = redis().mutex("a").acquire();
  const auto before = notes();
  expect_reason(one.mutex("a").try_acquire(), errc::busy);
  expect_reason(another_client().mutex("a").try_acquire({.timeout = 200ms}), errc::timed_out);
  EXPECT_EQ(notes(), before);
}

}  // namespace
}  // namespace holdfast::conformance
