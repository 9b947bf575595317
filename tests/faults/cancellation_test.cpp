// Threads of the user's that are cancelled (pthread_cancel) while they are inside the library.
#include <pthread.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "faults/cancellation_points.hpp"
#include "faults/everything.hpp"
#include "faults/faulty_server.hpp"

namespace holdfast::faults {
namespace {

using support::generous;

bool is_put_off() {
  int state = 0;
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  ::pthread_setcancelstate(state, nullptr);
  return state == PTHREAD_CANCEL_DISABLE;
}

// A thread that can be cancelled, unlike a std::jthread, which would tell it to stop as well.
class cancelled_thread {
 public:
  template <typename Body>
  explicit cancelled_thread(Body&& body) : thread_(std::forward<Body>(body)) {}
  void cancel() { ::pthread_cancel(thread_.native_handle()); }
  void join() { thread_.join(); }

 private:
  std::thread thread_;
};

// The user's own cancellation point.
void may_end_here() { ::pthread_testcancel(); }

task<bool> is_put_off_in_a_coroutine(client redis) {
  const bool at_first = is_put_off();
  const auto held = co_await redis.mutex("a").async_acquire();
  co_return at_first&& is_put_off();
}

class Cancellation : public fault_test {
 protected:
  static void expect_usable(const client& redis) {
    for (int i = 0; i < 3; ++i) {
      auto held = redis.mutex("another " + std::to_string(i)).try_acquire({.timeout = generous});
      ASSERT_TRUE(held) << held.error().what();
      const auto released = held->release();
      EXPECT_TRUE(released) << released.error().what();
    }
  }

  static bool is_waited_for(const client& other) {
    return inspector{other}.status("contended").waiting > 0;
  }

  static void wait_for_what_another_has(const client& redis, const client& other) {
    const auto wanted = redis.mutex("contended");
    const auto held = other.mutex("contended").acquire();
    std::stop_source stop;
    const std::jthread stops([&] {
      (void)support::eventually([&] { return is_waited_for(other); });
      const cancellation_watch watch;
      stop.request_stop();
    });
    const cancellation_watch watch;
    EXPECT_FALSE(wanted.try_acquire({.timeout = generous}, stop.get_token()));
    EXPECT_FALSE(wanted.try_acquire({.timeout = 20ms}));
    EXPECT_FALSE(sync_wait(ask(wanted)));
  }

 private:
  static task<bool> ask(lock wanted) {
    co_return (co_await wanted.async_try_acquire({.timeout = 20ms})).has_value();
  }
};
HOLDFAST_ON_EACH_SERVER(Cancellation);

TEST_P(Cancellation, IsPutOffWhereverTheLibraryCouldBeEndedByIt) {
  const auto server = start();
  {
    const cancellation_watch watch;
    const client redis(server.url(), patient());
    use_everything(redis);
    (void)inspector{redis}.diagnose();
    const auto observed = redis.election("leader").observe([](const auto&) {});
  }
  wait_for_what_another_has(client{server.url(), patient()}, client{server.url(), patient()});
#ifndef HOLDFAST_SANITIZED
  EXPECT_GT(cancellation_watch::reached(), 0U);
#endif
  EXPECT_THAT(cancellation_watch::seen(), ::testing::IsEmpty());
}

TEST_P(Cancellation, IsPutOffWhileAnEmbeddedServerBeginsAndEnds) {
  {
    const cancellation_watch watch;
    const client redis("embedded:");
    (void)redis.mutex("a").acquire();
  }
  EXPECT_THAT(cancellation_watch::seen(), ::testing::IsEmpty());
}

TEST_P(Cancellation, IsPutOffOnTheThreadOfCallbacksAndWhileCoroutinesRun) {
  const auto server = start();
  const client redis(server.url(), patient());
  std::atomic<int> told{0};
  const auto observed =
      redis.election("leader").observe([&](const auto&) { told = is_put_off() ? 1 : 2; });
  EXPECT_TRUE(support::eventually([&] { return told != 0; }));
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(sync_wait(is_put_off_in_a_coroutine(redis)));
  EXPECT_FALSE(is_put_off());
}

TEST_P(Cancellation, OfAThreadThatWaitsIsPutOffUntilItsCallReturns) {
  const auto server = start();
  const client redis(server.url(), patient());
  const client other(server.url(), patient());
  auto kept = redis.mutex("kept").acquire();
  auto held = other.mutex("contended").acquire();
  std::atomic<bool> has_returned{false}, has_gone_on{false};
  cancelled_thread thread([&] {
    const auto got = redis.mutex("contended").try_acquire({.timeout = generous});
    has_returned = got.has_value();
    may_end_here();
    has_gone_on = true;
  });
  ASSERT_TRUE(support::eventually([&] { return is_waited_for(other); }));
  thread.cancel();
  expect_usable(redis);
  EXPECT_FALSE(has_returned);
  EXPECT_TRUE(held.release());
  thread.join();
  EXPECT_TRUE(has_returned);
  EXPECT_FALSE(has_gone_on);
  // The thread gave its locks back while it ended.
  EXPECT_TRUE(other.mutex("contended").try_acquire({.timeout = generous}));
  EXPECT_TRUE(kept.extend(10s));
}

// Takes locks until it is cancelled, and counts what it cannot do.
class busy_worker {
 public:
  struct counts {
    std::atomic<int> rounds{0}, inside{0}, wrong{0};
  };

  busy_worker(const client& redis, int number, counts& all)
      : wanted_{redis.mutex("busy"), redis.mutex("fair", {.fair = true}),
                redis.semaphore("permits", {.permits = 2}),
                all_of({redis.mutex("one"), redis.mutex("two")})},
        number_(number),
        all_(all) {}

  void operator()() const {
    for (std::size_t i = static_cast<std::size_t>(number_);; ++i) {
      const auto which = i % std::size(wanted_);
      auto held = wanted_[which].try_acquire({.timeout = generous});
      ++all_.rounds;
      may_end_here();
      if (!held) {
        ++all_.wrong;
        continue;
      }
      if (which == 0 && all_.inside.fetch_add(1) != 0) ++all_.wrong;
      if (!held->extend(10s)) ++all_.wrong;
      if (which == 0) --all_.inside;
      if (i % 2 == 0 && !held->release()) ++all_.wrong;
      may_end_here();
    }
  }

 private:
  const lock wanted_[4];
  const int number_;
  counts& all_;
};

TEST_P(Cancellation, OfManyThreadsAtAnyMomentHarmsNobodyElse) {
  const auto server = start();
  const client redis(server.url(), patient());
  auto kept = redis.mutex("kept").acquire();
  busy_worker::counts counts;
  const auto begin = [&](int number) {
    return std::make_unique<cancelled_thread>(busy_worker{redis, number, counts});
  };
  std::vector<std::unique_ptr<cancelled_thread>> workers;
  for (int i = 0; i < 6; ++i) workers.push_back(begin(i));
  std::mt19937 random(1);
  for (int i = 0; i < 150; ++i) {
    auto& one = workers[random() % workers.size()];
    const auto then = counts.rounds + static_cast<int>(random() % 8);
    EXPECT_TRUE(support::eventually([&] { return counts.rounds >= then; }));
    one->cancel();
    one->join();
    one = begin(i);
  }
  for (const auto& one : workers) one->cancel();
  for (const auto& one : workers) one->join();
  EXPECT_EQ(counts.wrong, 0);
  EXPECT_TRUE(kept.extend(10s));
  expect_usable(redis);
  for (const auto* name : {"busy", "fair", "one", "two"}) {
    EXPECT_TRUE(redis.mutex(name).try_acquire({.timeout = generous})) << name;
  }
}

}  // namespace
}  // namespace holdfast::faults
