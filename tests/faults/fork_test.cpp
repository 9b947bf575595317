// Forking while other threads are anywhere inside the library.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <coroutine>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "faults/faulty_server.hpp"
#include "support/forked.hpp"

namespace holdfast::faults {
namespace {

using support::generous;

// The inheritance of a child: objects, and the unfinished work of threads that are not there any
// more.
class busy_process {
 public:
  explicit busy_process(const std::string& url) : shared_(url), own_(std::in_place, url) {
    // Renewed all the time, so that the background threads are at work.
    for (int i = 0; i < 64; ++i) {
      const auto& redis = i % 2 == 0 ? shared_ : *own_;
      renewed_.push_back(redis.mutex("kept " + std::to_string(i), {.lease = 300ms}).acquire());
    }
    for (int i = 0; i < 8; ++i) {
      read_.push_back(shared_.read_write_lock("read " + std::to_string(i)).shared().acquire());
    }
    for (int i = 0; i < 2; ++i) {
      workers_.emplace_back([this] {
        while (!enough_) {
          for (const auto& held : read_) failures_ += held.mode() != lease_mode::shared;
        }
      });
    }
    for (int i = 0; i < 8; ++i) {
      workers_.emplace_back([this, wanted = shared_.mutex("shared " + std::to_string(i % 3))] {
        while (!enough_) {
          auto held = wanted.acquire();
          if (!held.release()) ++failures_;
        }
      });
    }
  }
  ~busy_process() {
    enough_ = true;
    for (auto& worker : workers_) worker.join();
    EXPECT_EQ(failures_, 0);
  }

  // In the child: says what is wrong.
  std::string inherit() {
    for (const auto& held : renewed_) {
      if (held.held()) return "a lease of the parent's is held";
    }
    for (const auto& held : read_) {
      if (held.mode() != lease_mode::none) return "a lease of the parent's has a mode";
    }
    if (!is_forked([&] { static_cast<void>(shared_.mutex("x").try_acquire()); })) return "shared";
    if (!is_forked([&] { static_cast<void>(renewed_[0].release()); })) return "released";
    const auto url = own_->url();
    renewed_.clear();
    own_.reset();
    const auto got = client{url}.mutex("of a child").try_acquire({.timeout = support::generous});
    return got ? "" : got.error().what();
  }

 private:
  template <typename Call>
  static bool is_forked(Call&& call) {
    try {
      call();
    } catch (const failure& thrown) {
      return thrown.reason() == errc::forked;
    }
    return false;
  }

  const client shared_;
  std::optional<client> own_;  // with handles in this thread only
  std::vector<lease> renewed_;
  std::vector<lease> read_;  // whose modes the threads look at
  std::atomic<bool> enough_{false};
  std::atomic<int> failures_{0};
  std::vector<std::thread> workers_;
};

// A coroutine that nobody waits for.
struct detached {
  struct promise_type {
    detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
};

// Threads that keep a client busy.
class busy_client {
 public:
  explicit busy_client(const std::string& url) : redis_(url, patient()) {
    for (int i = 0; i < 6; ++i) {
      threads_.emplace_back([this, i] {
        const auto wanted = redis_.mutex("busy " + std::to_string(i), {.fair = true});
        while (!enough_) (void)wanted.acquire().release();
      });
    }
  }
  ~busy_client() {
    enough_ = true;
    for (auto& one : threads_) one.join();
  }
  const client& redis() const { return redis_; }

 private:
  const client redis_;
  std::atomic<bool> enough_{false};
  std::vector<std::thread> threads_;
};

class Fork : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (!support::allocator_survives_fork) {
      GTEST_SKIP() << "this sanitizer's own locks are not whole in a child of a busy process";
    }
  }

  // In a coroutine. 0: this is the child, which ends by itself if it should hang.
  static pid_t fork_with_an_end() {
    const pid_t child = ::fork();
    if (child != 0) return child;
    sigset_t alarms;  // a thread of the library has blocked them
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    ::pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
    ::alarm(15);
    return child;
  }

  static int status_of(pid_t child) {
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }

  static task<> use_own_client(std::string url) {
    const client own(url, patient());
    auto held = co_await own.mutex("of a child").async_acquire({.timeout = generous});
    if (!co_await held.async_release()) ::_exit(3);
  }

  // The child has finished with the parent's objects when it is back here.
  static task<pid_t> fork_within(client redis, std::string url) {
    (void)co_await redis.mutex("in a coroutine").async_acquire();
    const auto child = fork_with_an_end();
    if (child == 0) {
      co_await use_own_client(url);
      bool is_refused = false;
      try {
        (void)co_await redis.mutex("in a coroutine").async_acquire();
      } catch (const failure& why) {
        is_refused = why.reason() == errc::forked;
      }
      if (!is_refused) ::_exit(4);
    }
    co_return child;
  }

  static detached wait_beside(client redis, pid_t parent, std::atomic<int>& heard) {
    (void)co_await redis.mutex("beside").async_acquire();
    if (::getpid() != parent) ::_exit(5);
    ++heard;
  }
  static task<pid_t> fork_beside_others(client redis, std::string url, std::atomic<int>& heard) {
    constexpr int others = 5;
    for (int i = 0; i < others; ++i) wait_beside(redis, ::getpid(), heard);
    const auto child = co_await fork_within(redis, url);
    if (child == 0) co_return child;
    while (heard < others) (void)co_await redis.mutex("in a coroutine").async_acquire();
    co_return child;
  }

  static detached fork_in_a_callback(client redis, std::string url, bool returns,
                                     std::atomic<pid_t>& child) {
    (void)co_await redis.mutex("in a callback").async_acquire();
    const auto made = fork_with_an_end();
    if (made != 0) {
      child = made;
      co_return;
    }
    sync_wait(use_own_client(url));
    if (!returns) ::_exit(0);
  }
};
HOLDFAST_ON_EACH_SERVER(Fork);

TEST_P(Fork, ChildOfABusyProcessWaitsForNothingThatItInherits) {
  const auto server = start();
  busy_process parent(server.url());
  for (int i = 0; i < 30; ++i) {
    support::forked child([&](const support::forked::teller& to) {
      ::alarm(20);  // who waits for a thread that is not there waits for ever
      to.tell("wrong: " + parent.inherit());
    });
    ASSERT_EQ(child.heard(), "wrong: ");
    ASSERT_EQ(child.wait(), 0);
  }
}

TEST_P(Fork, ChildOfACoroutineGoesOnWithAClientOfItsOwn) {
  const auto server = start();
  const busy_client busy(server.url());
  for (int i = 0; i < 40; ++i) {
    const auto child = sync_wait(fork_within(busy.redis(), server.url()));
    if (child == 0) ::_exit(0);
    ASSERT_EQ(status_of(child), 0);
  }
}

// Other coroutines of the thread wait for something, or are about to hear of it.
TEST_P(Fork, ChildOfACoroutineHearsNothingThatTheParentAskedFor) {
  const auto server = start();
  const client redis(server.url(), patient());
  for (int i = 0; i < 10; ++i) {
    std::atomic<int> heard{0};
    const auto child = sync_wait(fork_beside_others(redis, server.url(), heard));
    if (child == 0) ::_exit(0);
    ASSERT_EQ(status_of(child), 0);
  }
}

TEST_P(Fork, ChildOfACallbackGoesOnWithAClientOfItsOwn) {
  const auto server = start();
  const busy_client busy(server.url());
  for (int i = 0; i < 20; ++i) {
    std::atomic<pid_t> child{0};
    fork_in_a_callback(busy.redis(), server.url(), i % 2 == 0, child);
    ASSERT_TRUE(eventually([&] { return child != 0; }));
    ASSERT_EQ(status_of(child), 0) << i;
  }
}

TEST_P(Fork, ChildMayStopAndEndWhatTheParentWaitsFor) {
  struct nobody final : detail::completion {
    void complete() noexcept override {}
  } listeners[4];
  const auto server = start();
  const busy_client busy(server.url());
  const client other(server.url(), patient());
  const auto theirs = other.mutex("z").acquire();
  std::stop_source stop;
  std::vector<std::unique_ptr<detail::acquire_operation>> pending;
  const auto& redis = busy.redis();
  for (const auto& wanted : {redis.mutex("z"), all_of({redis.mutex("a"), redis.mutex("z")}),
                             redis.read_write_lock("z").shared(), redis.mutex("busy 0")}) {
    pending.push_back(std::make_unique<detail::acquire_operation>(
        wanted, acquire_options{}, stop.get_token(), detail::acquire_operation::patience::waits));
    pending.back()->start(listeners[pending.size() - 1]);
  }
  for (int i = 0; i < 20; ++i) {
    const auto child = fork_with_an_end();
    if (child == 0) {
      if (i % 2 == 0) stop.request_stop();
      pending.clear();
      sync_wait(use_own_client(server.url()));
      ::_exit(0);
    }
    ASSERT_EQ(status_of(child), 0);
  }
}

}  // namespace
}  // namespace holdfast::faults
