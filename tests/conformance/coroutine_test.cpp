// The async_ verbs: awaited by our task, by a coroutine type of somebody else, and given up.
#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class Coroutine : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(Coroutine);

// The resource of one lock. Atomic, because two clients of one process synchronize through the
// server only, where no sanitizer sees it.
struct protected_place {
  std::atomic<bool> occupied{false};
  std::atomic<int> visits{0};
  std::atomic<fencing_token> last{};

  void enter(const lease& held) {
    EXPECT_TRUE(held.held());
    EXPECT_FALSE(occupied.exchange(true)) << "two are inside";
    EXPECT_GT(held.token(), last.exchange(held.token()));
    ++visits;
  }
  void leave() { EXPECT_TRUE(occupied.exchange(false)); }
};

task<> visit_once(lock target, protected_place& place) {
  auto held = co_await target.async_acquire();
  place.enter(held);
  // Others run while this one is inside and waits for the server.
  const auto second = co_await target.async_try_acquire();
  expect_reason(second, errc::busy);
  place.leave();
  const auto released = co_await held.async_release();
  EXPECT_TRUE(released) << released.error().what();
}

TEST_P(Coroutine, AThousandShareEightLocksAndNoneIsInsideWithAnother) {
  constexpr std::size_t coroutines = 1000;
  const auto other = another_client();
  std::array<protected_place, 8> places;
  std::vector<task<>> visits;
  for (std::size_t i = 0; i < coroutines; ++i) {
    const auto at = i % places.size();
    const auto& of = i % 3 == 0 ? other : redis();
    visits.push_back(visit_once(of.mutex("place " + std::to_string(at)), places.at(at)));
  }
  sync_wait(when_all(std::move(visits)));
  for (const auto& place : places) {
    EXPECT_FALSE(place.occupied);
    EXPECT_EQ(place.visits, coroutines / places.size());
  }
}

task<std::uint64_t> token_of(lock target) {
  const auto held = co_await target.async_acquire();
  co_return held.token().value();
}

TEST_P(Coroutine, SyncWaitReturnsWhatTheTaskReturnsAndThrowsWhatItThrows) {
  const auto first = sync_wait(token_of(redis().mutex("a")));
  EXPECT_GT(sync_wait(token_of(redis().mutex("a"))), first) << "the lease ended with the task";
  const auto without = redis().mutex("a", {.fencing = fencing::off});
  EXPECT_EQ(thrown_by([&] { sync_wait(token_of(without)); }).reason(), errc::unsupported);
  EXPECT_TRUE(redis().mutex("a").try_acquire()) << "released although an exception passed";
}

task<> acquire_in_vain(lock target) {
  (void)co_await target.async_acquire({.timeout = 50ms});
  ADD_FAILURE() << "somebody else holds it";
}

TEST_P(Coroutine, WhenAllEndsAllBeforeItThrowsTheFirstFailure) {
  const auto held = redis().mutex("taken").acquire();
  protected_place place;
  std::vector<task<>> tasks;
  tasks.push_back(acquire_in_vain(another_client().mutex("taken")));
  for (int i = 0; i < 10; ++i) tasks.push_back(visit_once(redis().mutex("free"), place));
  const auto why = thrown_by([&] { sync_wait(when_all(std::move(tasks))); });
  EXPECT_EQ(why.reason(), errc::timed_out);
  EXPECT_EQ(place.visits, 10);
}

task<> give_back(lock target) {
  auto held = co_await target.async_acquire();
  const auto released = co_await held.async_release();
  EXPECT_TRUE(released) << released.error().what();
}

task<> release(lease held) {
  const auto released = co_await held.async_release();
  EXPECT_TRUE(released) << released.error().what();
}

// Keeps the thread, before it does anything else, until others see what they wait for.
task<> compute(lock target, std::function<bool()> seen) {
  EXPECT_TRUE(eventually(seen));
  (void)co_await target.async_acquire();
}

// Resumes the coroutine on a thread of its own.
struct elsewhere {
  std::vector<std::jthread>& threads;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) const {
    threads.emplace_back([coroutine] { coroutine.resume(); });
  }
  void await_resume() const noexcept {}
};

// Whether what waits for the tasks returned before all that is in them had ended.
struct order {
  std::counting_semaphore<> returned{0};
  std::atomic<int> ended = 0;
  std::atomic<int> ended_after_return = 0;
};

// Gives the one that waits time to return before this has ended.
class ends_slowly {
 public:
  explicit ends_slowly(order& seen) : seen_(&seen) {}
  ends_slowly(ends_slowly&& other) noexcept : seen_(std::exchange(other.seen_, nullptr)) {}
  ends_slowly& operator=(ends_slowly&&) = delete;
  ~ends_slowly() {
    if (seen_ == nullptr) return;
    if (seen_->returned.try_acquire_for(20ms)) ++seen_->ended_after_return;
    ++seen_->ended;
  }

 private:
  order* seen_;
};

// Parameters of a coroutine end with its frame, on the thread on which it ended.
task<> end_elsewhere(lease held, ends_slowly, std::vector<std::jthread>& threads) {
  co_await elsewhere{threads};
  EXPECT_TRUE(held.held());
}

TEST_P(Coroutine, SyncWaitReturnsWhenNothingOfTheTaskIsLeft) {
  order seen;
  std::vector<std::jthread> threads;
  const auto target = redis().mutex("parameter", {.reentry = reentry::waits});
  sync_wait(end_elsewhere(target.acquire(), ends_slowly{seen}, threads));
  seen.returned.release();
  EXPECT_EQ(seen.ended, 1);
  EXPECT_EQ(seen.ended_after_return, 0);
  EXPECT_TRUE(target.try_acquire()) << "the task's lease is held still";
}

TEST_P(Coroutine, WhenAllEndsWhenNothingOfItsTasksIsLeft) {
  order seen;
  std::vector<std::jthread> threads;
  const auto one = redis().mutex("one", {.reentry = reentry::waits});
  const auto two = redis().mutex("two", {.reentry = reentry::waits});
  std::vector<task<>> tasks;
  for (const auto* target : {&one, &two}) {
    tasks.push_back(end_elsewhere(target->acquire(), ends_slowly{seen}, threads));
  }
  sync_wait(when_all(std::move(tasks)));
  seen.returned.release(2);
  EXPECT_EQ(seen.ended, 2);
  EXPECT_EQ(seen.ended_after_return, 0);
  EXPECT_TRUE(one.try_acquire());
  EXPECT_TRUE(two.try_acquire());
}

TEST_P(Coroutine, WhatOneGivesBackIsFreeWhileAnotherComputes) {
  const auto other = another_client();
  std::vector<task<>> tasks;
  tasks.push_back(release(redis().mutex("a").acquire()));
  tasks.push_back(
      compute(redis().mutex("b"), [&] { return other.mutex("a").try_acquire().has_value(); }));
  sync_wait(when_all(std::move(tasks)));
}

TEST_P(Coroutine, WhatOneAsksForIsAskedWhileAnotherComputes) {
  const auto other = another_client();
  redis().mutex("a").acquire().release().value();  // connected, and nothing is read
  std::vector<task<>> tasks;
  tasks.push_back(give_back(redis().mutex("a")));
  tasks.push_back(compute(redis().mutex("b"), [&] { return !other.mutex("a").try_acquire(); }));
  sync_wait(when_all(std::move(tasks)));
}

TEST_P(Coroutine, WhenAllOfNothingEnds) { sync_wait(when_all({})); }

TEST_P(Coroutine, NothingHappensBeforeItIsAwaited) {
  const auto lock = redis().mutex("a");
  {
    const auto never_awaited = lock.async_acquire();
    const auto never_started = token_of(lock);
  }
  EXPECT_EQ(server().command({"EXISTS", "hf:{a}", "hf:fence:{a}"}).number, 0);
}

// The coroutine type of some other library: it starts at once, ends by itself, knows nothing of our
// awaitables, and tells how it ended through a standard future: with a failure's reason, or
// without.
struct foreign_coroutine {
  struct promise_type {
    std::promise<std::optional<errc>> end;
    foreign_coroutine get_return_object() { return {end.get_future()}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() { end.set_value(std::nullopt); }
    void unhandled_exception() {
      try {
        throw;
      } catch (const failure& thrown) {
        end.set_value(thrown.reason());
      }
    }
  };

  std::optional<errc> join() {
    EXPECT_EQ(end.wait_for(generous), std::future_status::ready);
    return end.get();
  }
  std::future<std::optional<errc>> end;
};

foreign_coroutine visit_often(lock target, protected_place& place, int times) {
  for (int i = 0; i < times; ++i) {
    auto held = co_await target.async_acquire();
    place.enter(held);
    place.leave();
    const auto released = co_await held.async_release();
    EXPECT_TRUE(released) << released.error().what();
    EXPECT_FALSE(held.held());
  }
}

TEST_P(Coroutine, OfAnyTypeCanAwait) {
  const auto other = another_client();
  protected_place place;
  std::vector<foreign_coroutine> running;
  for (int i = 0; i < 10; ++i) {
    const auto& of = i % 2 == 0 ? redis() : other;
    running.push_back(visit_often(of.mutex("a"), place, 20));
  }
  for (auto& one : running) EXPECT_EQ(one.join(), std::nullopt);
  EXPECT_EQ(place.visits, 10 * 20);
  EXPECT_TRUE(redis().mutex("a").try_acquire());
}

foreign_coroutine acquire_alone(client own) {
  auto held = co_await own.mutex("a").async_acquire();
  (void)co_await held.async_release();
}

// It may go on, and end, on another thread before that which began it has come back. Whether
// nothing is used after its end, only a sanitizer sees.
TEST_P(Coroutine, MayHaveTheLastHandleOfItsClient) {
  std::vector<foreign_coroutine> running;
  for (int i = 0; i < 50; ++i) running.push_back(acquire_alone(another_client()));
  for (auto& one : running) EXPECT_EQ(one.join(), std::nullopt);
}

// Temporaries of an awaited expression: GCC 12 destroys those twice that are aggregates.
template <typename... Options>
constexpr bool own_nothing = (std::is_trivially_destructible_v<Options> && ...);
static_assert(
    own_nothing<acquire_options, mutex_options, recursive_mutex_options, read_write_options,
                mode_lock_options, semaphore_options, election_options, quorum_mutex_options>);
static_assert(own_nothing<id_options, snowflake_options, rate_limit>);
static_assert(own_nothing<token_layout, spring_registry, shedlock_provider>);
static_assert(own_nothing<redlock_layout, rueidis_locker>);
static_assert(own_nothing<symfony_store, redis_semaphore_layout>);

// What must be destroyed once comes from the heap, so that a sanitizer sees it.
task<> await_with_options(client redis, std::stop_source stop) {
  const auto text = [](char of) { return std::string(100, of); };
  auto held = co_await redis.mutex("a", {.lease = 5s})
                  .async_acquire({.timeout = generous}, stop.get_token());
  EXPECT_TRUE(co_await held.async_release());
  const auto theirs = co_await redis.mutex("b", {.lease = 5s}, dialect::redisson())
                          .async_acquire({.timeout = generous}, stop.get_token());
  EXPECT_TRUE(theirs.held());
  const auto plain = co_await redis
                         .mutex("c", {.lease = 5s},
                                dialect::token({.key_prefix = text('p'), .fixed_value = text('v')}))
                         .async_try_acquire({.timeout = generous}, stop.get_token());
  EXPECT_TRUE(plain);
  const auto permit = co_await redis.semaphore("d", {.permits = 2}, dialect::redisson())
                          .async_acquire({.timeout = generous}, stop.get_token());
  EXPECT_TRUE(permit.held());
  co_await redis.latch("e", dialect::redisson())
      .async_wait({.timeout = generous}, stop.get_token());
  EXPECT_TRUE(co_await redis.barrier("f", 1).async_try_arrive_and_wait({.timeout = generous},
                                                                       stop.get_token()));
  const auto leads = co_await redis.election("g", {.lease = 5s})
                         .async_try_acquire({.timeout = generous}, stop.get_token());
  EXPECT_TRUE(leads);
}

TEST_P(Coroutine, OptionsMayBeWrittenWhereTheyAreAwaited) {
  for (int i = 0; i < 3; ++i) {
    std::stop_source stop;
    sync_wait(await_with_options(redis(), stop));
    EXPECT_TRUE(stop.request_stop()) << "its state is still there";
  }
}

// Its options own texts.
TEST_P(Coroutine, AClientMayBeMadeWhereItIsAwaited) {
  const auto make = [](std::string url) -> task<bool> {
    for (int i = 0; i < 20; ++i) {
      const auto held = co_await client{url}.mutex("a").async_acquire();
      if (!held.held()) co_return false;
    }
    co_return true;
  };
  EXPECT_TRUE(sync_wait(make("unix://" + server().socket())));
}

foreign_coroutine acquire_until(lock target, acquire_options options, std::stop_token stop = {}) {
  const auto held = co_await target.async_acquire(options, std::move(stop));
  EXPECT_TRUE(held.held());
}

TEST_P(Coroutine, OfAnyTypeIsThrownWhatItDoesNotGet) {
  const auto held = redis().mutex("a").acquire();
  auto waiting = acquire_until(another_client().mutex("a"), {.timeout = 50ms});
  EXPECT_EQ(waiting.join(), errc::timed_out);
}

task<> expect_refusal(lock target, acquire_options options, errc reason,
                      std::stop_token stop = {}) {
  const auto got = co_await target.async_try_acquire(options, std::move(stop));
  expect_reason(got, reason);
}

TEST_P(Coroutine, TimesOutNotBeforeItsTimeAndLeavesTheQueue) {
  auto held = redis().mutex("a").acquire();
  const auto other = another_client();
  const auto before = net::now();
  sync_wait(expect_refusal(other.mutex("a"), {.timeout = 100ms}, errc::timed_out));
  EXPECT_GE(net::now() - before, 100ms);
  EXPECT_TRUE(waits("a", 0));
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(other.mutex("a").try_acquire());
}

TEST_P(Coroutine, StopTokenEndsAWaitThatIsUnderWay) {
  auto held = redis().mutex("a").acquire();
  const auto other = another_client();
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    sync_wait(
        expect_refusal(other.mutex("a"), {.timeout = forever}, errc::cancelled, stop.get_token()));
  });
  EXPECT_TRUE(waits("a", 1));
  stop.request_stop();
  EXPECT_EQ(waiting.wait_for(generous), std::future_status::ready);
  EXPECT_TRUE(waits("a", 0));
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(other.mutex("a").try_acquire()) << "nothing was granted to the one who left";
}

TEST_P(Coroutine, StopTokenEndsTheWaitsOfAllThatHaveIt) {
  auto held = redis().mutex("a").acquire();
  const auto other = another_client();
  std::stop_source stop;
  std::vector<foreign_coroutine> running;
  for (int i = 0; i < 50; ++i) {
    running.push_back(acquire_until(other.mutex("a"), {.timeout = forever}, stop.get_token()));
  }
  EXPECT_TRUE(waits("a", 1)) << "those of one client are one request";
  stop.request_stop();
  for (auto& one : running) EXPECT_EQ(one.join(), errc::cancelled);
  EXPECT_TRUE(waits("a", 0));
  EXPECT_TRUE(held.held());
}

TEST_P(Coroutine, TokenThatIsStoppedAlreadyEndsItAtOnce) {
  const auto held = redis().mutex("a").acquire();
  std::stop_source stop;
  stop.request_stop();
  sync_wait(
      expect_refusal(redis().mutex("a"), {.timeout = forever}, errc::cancelled, stop.get_token()));
}

// Of a lock that this process has, its end is queued as soon as it has begun: refused while another
// holds it, and granted if it is only retained.
struct recorded final : detail::completion {
  using patience = detail::acquire_operation::patience;
  explicit recorded(const lock& of, patience with = patience::asks_once)
      : asks(std::in_place, of, acquire_options{}, std::stop_token{}, with) {}
  void complete() noexcept override {
    if (then) then();
    runs.set_value();  // last: the test may end now
  }
  std::optional<detail::acquire_operation> asks;
  std::promise<void> runs;
  std::function<void()> then;
};

bool has_run(const std::future<void>& of) {
  return of.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

TEST_P(Coroutine, AnOperationThatIsDestroyedByTheOneBeforeItIsNotCompleted) {
  const auto held = redis().mutex("a").acquire();
  recorded first(redis().mutex("a")), second(redis().mutex("a"));
  first.then = [&] { second.asks.reset(); };
  const auto first_ran = first.runs.get_future(), second_ran = second.runs.get_future();
  sync_wait([](recorded& one, recorded& other, lock another) -> task<> {
    one.asks->start(one);
    other.asks->start(other);
    (void)co_await another.async_acquire();
  }(first, second, redis().mutex("b")));
  EXPECT_TRUE(has_run(first_ran));
  EXPECT_FALSE(has_run(second_ran));
}

TEST_P(Coroutine, AnOperationThatIsDestroyedWhileACallbackRunsIsNotCompleted) {
  const auto held = redis().mutex("a").acquire();
  recorded first(redis().mutex("a")), second(redis().mutex("a")), third(redis().mutex("a"));
  std::promise<void> goes_on;
  first.then = [until = goes_on.get_future().share()] { until.wait(); };
  const auto second_ran = second.runs.get_future();
  auto third_ran = third.runs.get_future();
  for (auto* one : {&first, &second, &third}) one->asks->start(*one);
  second.asks.reset();
  goes_on.set_value();
  ASSERT_EQ(third_ran.wait_for(generous), std::future_status::ready);
  EXPECT_FALSE(has_run(second_ran));
}

TEST_P(Coroutine, WhatADestroyedOperationGotAtOnceIsGivenBack) {
  const auto busy = redis().mutex("a").acquire();
  const auto retained = redis().mutex("b", {.retain = 1h});
  (void)retained.acquire();
  recorded first(redis().mutex("a")), second(retained);
  std::promise<void> goes_on;
  first.then = [until = goes_on.get_future().share()] { until.wait(); };
  auto first_ran = first.runs.get_future();
  for (auto* one : {&first, &second}) one->asks->start(*one);
  second.asks.reset();
  goes_on.set_value();
  EXPECT_TRUE(another_client().mutex("b").try_acquire({.timeout = generous}));
  EXPECT_EQ(first_ran.wait_for(generous), std::future_status::ready);
}

// One of a crowd of readers whom the one before them brings in from another thread.
struct joining final : detail::completion {
  explicit joining(const lock& of)
      : asks(std::in_place, of, acquire_options{}, std::stop_token{},
             detail::acquire_operation::patience::waits) {}
  void complete() noexcept override { EXPECT_TRUE(asks) << "it is destroyed"; }
  std::optional<detail::acquire_operation> asks;
};

TEST_P(Coroutine, AReaderThatIsDestroyedWhileHeIsLetInIsNotCompleted) {
  const auto other = another_client();
  const auto reads = redis().read_write_lock("a").shared();
  for (int round = 0; round < 1000; ++round) {
    auto writer = other.read_write_lock("a").exclusive().acquire();
    recorded first(reads, detail::acquire_operation::patience::waits);
    first.then = [&] { EXPECT_TRUE(first.asks->finish()); };
    first.asks->start(first);
    sync_wait([](const lock& of, lease& busy, const lock& another, int delay) -> task<> {
      std::deque<joining> crowd;
      for (int i = 0; i < 50; ++i) crowd.emplace_back(of).asks->start(crowd.back());
      EXPECT_TRUE(busy.release());
      const auto until = net::now() + delay * 1us;
      while (net::now() < until) continue;
      crowd.back().asks.reset();
      (void)co_await another.async_acquire();  // others that were told run before this
      for (auto& one : crowd) one.asks.reset();
    }(reads, writer, redis().mutex("b"), round % 200));
    ASSERT_EQ(first.runs.get_future().wait_for(generous), std::future_status::ready);
  }
}

TEST_P(Coroutine, AReleaseThatIsNotAwaitedReleasesNothing) {
  {
    auto held = redis().mutex("a").acquire();
    { const auto not_awaited = held.async_release(); }
    EXPECT_TRUE(held.held());
    EXPECT_FALSE(another_client().mutex("a").try_acquire());
  }
  EXPECT_TRUE(another_client().mutex("a").try_acquire({.timeout = generous}));
}

}  // namespace
}  // namespace holdfast::conformance
