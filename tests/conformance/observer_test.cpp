// What an observer hears, each by making it happen.
#include <algorithm>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

// An event, with texts of its own.
struct heard {
  event_type type;
  std::string name;
  lock_kind kind;
  fencing_token token;
  std::chrono::nanoseconds duration;
  bool waited;
  std::optional<errc> error;
  std::string server;
  std::thread::id thread;
};

class notebook final : public observer {
 public:
  void on(const event& what) override {
    {
      const std::lock_guard lock(mutex_);
      all_.push_back({what.type, std::string{what.name}, what.kind, what.token, what.duration,
                      what.waited, what.error, std::string{what.server},
                      std::this_thread::get_id()});
    }
    if (then) then(what);
  }

  std::vector<heard> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  std::vector<event_type> types() const {
    std::vector<event_type> found;
    for (const auto& one : all()) found.push_back(one.type);
    return found;
  }
  std::optional<heard> last(event_type type) const {
    const auto known = all();
    const auto found = std::find_if(known.rbegin(), known.rend(),
                                    [&](const auto& one) { return one.type == type; });
    return found == known.rend() ? std::nullopt : std::optional{*found};
  }
  bool hears(event_type type) const {
    return eventually([&] { return last(type).has_value(); });
  }

  std::function<void(const event&)> then;  // before the client is made

 private:
  mutable std::mutex mutex_;
  std::vector<heard> all_;
};

class Observer : public mutex_test {
 protected:
  client observed(client_options options = {}) const {
    options.observer = notes_;
    return client{server().url(), options};
  }
  const std::shared_ptr<notebook> notes_ = std::make_shared<notebook>();
};
HOLDFAST_ON_EACH_SERVER(Observer);

using enum event_type;
using ::testing::ElementsAre;

TEST_P(Observer, HearsOfALeaseFromAskingToItsRelease) {
  const auto redis = observed();
  auto held = redis.mutex("a").acquire();
  EXPECT_THAT(notes_->types(), ElementsAre(asked, granted));
  const auto token = held.token();
  EXPECT_TRUE(held.release());
  ASSERT_THAT(notes_->types(), ElementsAre(asked, granted, released));
  for (const auto& one : notes_->all()) {
    EXPECT_EQ(one.name, "a");
    EXPECT_EQ(one.kind, lock_kind::mutex);
    EXPECT_EQ(one.token, one.type == asked ? fencing_token{} : token);
    EXPECT_EQ(one.thread, std::this_thread::get_id());
    EXPECT_FALSE(one.waited);
    EXPECT_FALSE(one.error);
  }
  EXPECT_GT(notes_->last(granted)->duration, 0ns);
  EXPECT_GE(notes_->last(released)->duration, 0ns);
}

TEST_P(Observer, HearsOfALeaseThatIsDestroyed) {
  const auto redis = observed();
  { const auto held = redis.mutex("a").acquire(); }
  EXPECT_THAT(notes_->types(), ElementsAre(asked, granted, released));
}

TEST_P(Observer, HearsWhyACallWasRefused) {
  const auto held = redis().mutex("a").acquire();
  const auto here = observed();
  EXPECT_FALSE(here.mutex("a").try_acquire());
  EXPECT_EQ(notes_->last(refused)->error, errc::busy);
  EXPECT_FALSE(notes_->last(refused)->waited);
  EXPECT_FALSE(here.mutex("a").try_acquire({.timeout = 50ms}));
  EXPECT_EQ(notes_->last(refused)->error, errc::timed_out);
  EXPECT_TRUE(notes_->last(refused)->waited);
  EXPECT_GE(notes_->last(refused)->duration, 50ms);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(here.mutex("a").try_acquire({.timeout = generous}, stop.get_token()));
  EXPECT_EQ(notes_->last(refused)->error, errc::cancelled);
  EXPECT_THAT(notes_->types(), ElementsAre(asked, refused, asked, refused, asked, refused));
}

TEST_P(Observer, HearsThatACallHasThrown) {
  const auto here = observed();
  const auto lock = here.mutex("a");
  const auto held = lock.acquire();
  EXPECT_EQ(thrown_by([&] { (void)lock.acquire(); }).reason(), errc::would_deadlock);
  EXPECT_EQ(notes_->last(refused)->error, errc::would_deadlock);
}

TEST_P(Observer, HearsThatACallHadToWait) {
  auto held = redis().mutex("a").acquire();
  const auto here = observed();
  std::jthread waiter{[&] { (void)here.mutex("a").acquire(); }};
  ASSERT_TRUE(waits("a", 1));
  EXPECT_TRUE(held.release());
  waiter.join();
  EXPECT_TRUE(notes_->last(granted)->waited);
  EXPECT_THAT(notes_->types(), ElementsAre(asked, granted, released));
}

// Nothing tells from outside that a thread waits for another of its client. Now and then the lock
// is free again before it does.
TEST_P(Observer, HearsThatAThreadWaitedForAnotherOfItsClient) {
  const auto here = observed();
  EXPECT_TRUE(eventually([&] {
    auto held = here.mutex("a").acquire();
    EXPECT_FALSE(notes_->last(granted)->waited);
    const auto known = notes_->all().size();
    std::jthread waiter{[&] { (void)here.mutex("a").acquire(); }};
    EXPECT_TRUE(eventually([&] { return notes_->all().size() > known; }));
    EXPECT_TRUE(held.release());
    waiter.join();
    return notes_->last(granted)->waited;
  }));
}

TEST_P(Observer, HearsOfALossOnTheCallbackThreadAndOfNoReleaseAfterwards) {
  const auto here = observed();
  auto held = here.mutex("a", {.lease = 300ms}).acquire();
  inspector{redis()}.break_lock("a", "a test");
  ASSERT_TRUE(notes_->hears(lost));
  EXPECT_EQ(notes_->last(lost)->token, held.token());
  EXPECT_NE(notes_->last(lost)->thread, std::this_thread::get_id());
  expect_reason(held.release(), errc::lost);
  EXPECT_THAT(notes_->types(), ElementsAre(asked, granted, lost));
}

TEST_P(Observer, HearsOfALossThatOnlyTheReleaseFinds) {
  const auto here = observed();
  auto held = here.mutex("a").acquire();
  inspector{redis()}.break_lock("a", "a test");
  expect_reason(held.release(), errc::lost);
  EXPECT_THAT(notes_->types(), ElementsAre(asked, granted, lost));
}

TEST_P(Observer, HearsOfNoLossWhereALeaseWasReplaced) {
  const auto here = observed();
  const auto lock = here.read_write_lock("a");
  {
    auto writer = lock.exclusive().acquire();
    const auto reader = lock.downgrade(writer).acquire();
  }
  EXPECT_THAT(notes_->types(), ElementsAre(asked, granted, asked, granted, released, released));
  EXPECT_EQ(notes_->last(granted)->kind, lock_kind::mode_lock);
}

TEST_P(Observer, HearsOfARenewalThatIsLate) {
  HOLDFAST_NEEDS_ONE_SERVER("a node that was stopped");
  auto own = start();
  client_options options;
  options.observer = notes_;
  const client here{own.url(), options};
  const auto held = here.mutex("a", {.lease = 3s}).acquire();
  own.freeze();
  const bool is_late = eventually([&] { return held.remaining() < 1300ms; });
  own.thaw();
  ASSERT_TRUE(is_late);
  ASSERT_TRUE(notes_->hears(renewed_late));
  EXPECT_EQ(notes_->last(renewed_late)->name, "a");
  EXPECT_GE(notes_->last(renewed_late)->duration, 500ms);
  EXPECT_TRUE(held.held());
}

TEST_P(Observer, HearsOfConnections) {
  HOLDFAST_NEEDS_ONE_SERVER("its connections are those of one");
  auto own = start();
  client_options options;
  options.observer = notes_;
  const client here{own.url(), options};
  const auto held = here.mutex("a").acquire();
  own.command({"CLIENT", "KILL", "TYPE", "normal"});
  own.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  ASSERT_TRUE(notes_->hears(reconnected));
  EXPECT_EQ(notes_->last(reconnected)->name, "");
  EXPECT_NE(notes_->last(reconnected)->server, "");
  EXPECT_FALSE(notes_->last(failed_over));
  own.restart();
  EXPECT_TRUE(notes_->hears(failed_over));
}

TEST_P(Observer, HearsOfAllKinds) {
  const auto here = observed();
  const auto kind_of = [&](const lock& one) {
    const auto got = one.acquire();
    return notes_->last(granted)->kind;
  };
  EXPECT_EQ(kind_of(here.mutex("a", {.fencing = fencing::off})), lock_kind::mutex);
  EXPECT_EQ(kind_of(here.recursive_mutex("r")), lock_kind::mutex);
  EXPECT_EQ(kind_of(here.election("e")), lock_kind::mutex);
  EXPECT_EQ(kind_of(here.read_write_lock("rw").shared()), lock_kind::mode_lock);
  EXPECT_EQ(kind_of(here.mode_lock("m").in(lock_mode::protected_write)), lock_kind::mode_lock);
  EXPECT_EQ(kind_of(here.semaphore("s", {.permits = 2})), lock_kind::semaphore);
  EXPECT_EQ(notes_->last(released)->kind, lock_kind::semaphore);
  here.latch("l").wait();
  EXPECT_EQ(notes_->last(granted)->kind, lock_kind::latch);
  (void)here.barrier("b", 1).arrive_and_wait();
  EXPECT_EQ(notes_->last(granted)->kind, lock_kind::barrier);
  EXPECT_EQ(notes_->last(released)->kind, lock_kind::semaphore) << "nobody holds a barrier";
}

TEST_P(Observer, HearsOfSeveralLocksAsOne) {
  const auto here = observed();
  auto held = all_of({here.mutex("{x}a"), here.mutex("{x}b")}).acquire();
  EXPECT_EQ(parts(held).size(), 2U);
  EXPECT_TRUE(held.release());
  ASSERT_THAT(notes_->types(), ElementsAre(asked, granted, released));
  EXPECT_EQ(notes_->last(granted)->name, "{x}a, {x}b");
  EXPECT_EQ(notes_->last(granted)->kind, lock_kind::several);
}

TEST_P(Observer, HearsOfAQuorum) {
  HOLDFAST_NEEDS_ONE_SERVER("no cluster is a member of a quorum");
  const auto here = observed();
  const auto lock = quorum{{here}}.mutex("a", {.lease = 300ms});
  auto held = lock.acquire();
  EXPECT_FALSE(lock.try_acquire());
  EXPECT_TRUE(held.release());
  EXPECT_THAT(notes_->types(), ElementsAre(asked, granted, asked, refused, released));
  held = lock.acquire();
  server().command({"FLUSHALL"});
  ASSERT_TRUE(notes_->hears(lost));
  EXPECT_EQ(notes_->last(lost)->token, held.token());
}

task<void> hold(const client& redis) {
  auto held = co_await redis.mutex("a").async_acquire();
  (void)co_await held.async_release();
}

TEST_P(Observer, HearsOfCoroutines) {
  sync_wait(hold(observed()));
  EXPECT_THAT(notes_->types(), ElementsAre(asked, granted, released));
}

// A coroutine that runs until it waits, and may be destroyed there.
struct destructible {
  struct promise_type {
    destructible get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};
destructible wait_for(lock wanted) { const auto held = co_await wanted.async_acquire(); }

TEST_P(Observer, HearsOfACoroutineThatIsDestroyedWhileItWaits) {
  const auto held = redis().mutex("a").acquire();
  const auto here = observed();
  const auto waiting = wait_for(here.mutex("a"));
  ASSERT_TRUE(waits("a", 1));
  waiting.handle.destroy();
  EXPECT_THAT(notes_->types(), ElementsAre(asked, refused));
  EXPECT_EQ(notes_->last(refused)->error, errc::cancelled);
}

TEST_P(Observer, HearsNothingInTheChildOfAFork) {
  const auto here = observed();
  auto held = here.mutex("a").acquire();
  support::forked child{[&](const support::forked::teller& parent) {
    { const auto inherited = std::move(held); }
    parent.tell(notes_->types().size() == 2 ? "nothing" : "something");
  }};
  EXPECT_EQ(child.heard(), "nothing");
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(held.release());
}

TEST_P(Observer, HearsOfMemory) {
  client_options options;
  options.observer = notes_;
  const client here{"memory:Observer", options};
  { const auto held = here.mutex("a").acquire(); }
  EXPECT_THAT(notes_->types(), ElementsAre(asked, granted, released));
}

TEST_P(Observer, MayUseTheClientAndIsUnderNoMutex) {
  std::optional<client> here;
  int own = 0;
  bool was_refused = false;
  notes_->then = [&](const event& what) {
    if (what.name != "a") return;
    (void)here->mutex("of the observer").acquire();
    if (what.type == granted) was_refused = !here->mutex("a").try_acquire();
    ++own;
  };
  here.emplace(observed());
  { const auto held = here->mutex("a").acquire(); }
  EXPECT_GE(own, 3);
  EXPECT_TRUE(was_refused) << "it had the lock when that was told";
  EXPECT_TRUE(here->mutex("a").try_acquire());
}

TEST_P(Observer, DoesNoHarmWhenItThrowsAndThatIsLogged) {
  std::mutex guard;
  std::vector<std::string> lines;
  notes_->then = [](const event&) { throw std::runtime_error("full\nof notes"); };
  client_options options;
  options.log = [&](log_level level, std::string_view line) {
    const std::lock_guard lock(guard);
    EXPECT_EQ(level, log_level::error);
    lines.emplace_back(line);
    throw std::runtime_error("nor is there a log");
  };
  auto held = observed(options).mutex("a").acquire();
  EXPECT_TRUE(held.release());
  EXPECT_THAT(notes_->types(), ElementsAre(asked, granted, released));
  const std::lock_guard lock(guard);
  EXPECT_THAT(lines, ElementsAre("the observer of this client has thrown: full\\nof notes",
                                 lines[0], lines[0]));
}

TEST_P(Observer, IsNotNeededForALog) {
  std::mutex guard;
  std::vector<std::string> lines;
  client_options options;
  options.log = [&](log_level level, std::string_view line) {
    const std::lock_guard lock(guard);
    EXPECT_EQ(level, log_level::warning);
    lines.emplace_back(line);
  };
  const client here{server().url(), options};
  const auto held = here.mutex("a", {.lease = 300ms}).acquire();
  inspector{redis()}.break_lock("a", "a test");
  const auto is_told = [&] {
    const std::lock_guard lock(guard);
    return lines.size() == 1;
  };
  ASSERT_TRUE(eventually(is_told));
  EXPECT_THAT(lines.front(), ::testing::StartsWith("the lock 'a' was lost after "));
}

TEST_P(Observer, FillsMetrics) {
  const auto counted = std::make_shared<metrics>();
  client_options options;
  options.observer = counted;
  const client here{server().url(), options};
  {
    const auto held = here.mutex("a").acquire();
    EXPECT_FALSE(here.mutex("a").try_acquire());
    EXPECT_THAT(counted->text(), ::testing::HasSubstr("\nholdfast_held{kind=\"mutex\"} 1\n"));
  }
  const auto text = counted->text();
  EXPECT_THAT(text, ::testing::HasSubstr("\nholdfast_held{kind=\"mutex\"} 0\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("_count{kind=\"mutex\",outcome=\"granted\"} 1\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("_count{kind=\"mutex\",outcome=\"busy\"} 1\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("holdfast_hold_seconds_count{kind=\"mutex\"} 1\n"));
}

}  // namespace
}  // namespace holdfast::conformance
