// Where the user's code runs: never on the thread that does I/O.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include <holdfast/detail/completion.hpp>

#include "runtime/timers.hpp"

namespace holdfast::runtime {

// A queue of completions; first in, first out. Thread safety: none.
class completion_queue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void push(detail::completion& c) noexcept {
    c.next_finished = nullptr;
    (first_ == nullptr ? first_ : last_->next_finished) = &c;
    last_ = &c;
  }
  detail::completion* pop() noexcept {
    detail::completion* const c = first_;
    if (c != nullptr) first_ = c->next_finished;
    return c;
  }
  // Does nothing if it is not there.
  void withdraw(const detail::completion& c) noexcept {
    detail::completion* before = nullptr;
    for (auto* one = first_; one != nullptr; before = one, one = one->next_finished) {
      if (one != &c) continue;
      (before == nullptr ? first_ : before->next_finished) = one->next_finished;
      if (last_ == one) last_ = before;
      return;
    }
  }

 private:
  detail::completion* first_ = nullptr;
  detail::completion* last_ = nullptr;
};

// Runs completions one after another on a thread of its own, started when first needed; where the
// system has none left, as soon as it has one again.
// A completion that blocks delays the others and nothing else: leases are still renewed.
// Thread safety: all members from any thread, stop() once by the owner, when no timer fires any
// more.
class callback_thread final : private timed {
 public:
  explicit callback_thread(timers& of) : timers_(of) {}
  ~callback_thread() { stop(); }

  void post(detail::completion& c) noexcept;
  void withdraw(const detail::completion& c) noexcept;  // it does not run, unless it runs already
  void stop() noexcept;                                 // runs what is queued, then joins

  // While another callback runs, a callback thread waits for its end. Two of them must not wait for
  // each other.
  class wait {
   public:
    // `call`: it runs on `where` while this is true.
    wait(const callback_thread& where, const std::atomic<bool>& call) noexcept;
    ~wait();
    wait(const wait&) = delete;
    wait& operator=(const wait&) = delete;

    // False: that call waits for the end of this one, maybe by way of others. Always true where the
    // calling thread is no callback thread.
    bool may_wait() const noexcept { return may_wait_; }

   private:
    bool may_wait_ = true;
  };

  bool is_this_thread() const noexcept;
  static bool is_any() noexcept;  // whether the calling thread is one, of whatever client

 private:
  void start() noexcept;
  void run();
  void on_timer(monotonic_time) override;
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return {std::shared_ptr<void>{}, this}; }

  timers& timers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  completion_queue queue_;
  bool stopping_ = false;
  std::thread thread_;
  // Of a wait of this thread, under the mutex of them all.
  const callback_thread* waits_for_ = nullptr;
  const std::atomic<bool>* while_ = nullptr;
};

}  // namespace holdfast::runtime
