// The thread inside sync_wait: it resumes its coroutines itself and does their I/O meanwhile.
#pragma once

#include <memory>
#include <mutex>

#include "base/uncancelled.hpp"
#include "net/event_source.hpp"
#include "net/waiter.hpp"
#include "runtime/callback_thread.hpp"

namespace holdfast::runtime {

class client_core;

// While it exists its thread cannot be cancelled: coroutines cannot be unwound.
// Thread safety: post() from any thread; the rest belongs to the thread that made it. Executors of
// one thread nest: the innermost is the current one.
class executor {
 public:
  executor();
  ~executor();
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  // That of the calling thread; null when it is not inside sync_wait.
  static executor* current() noexcept;

  // Runs `c` on the executor's thread. In the child of a fork it does not run: it is the parent's.
  void post(detail::completion& c) noexcept;
  // As above, with the completion that makes run_until() return. The child of a fork returns, too.
  void post_end(detail::completion& c) noexcept;
  // It does not run, if `where` is an executor of the calling thread.
  static void withdraw(const executor* where, const detail::completion& c) noexcept;

  // Runs what is posted, and I/O between, until `finished` is true after some completion.
  void run_until(const bool& finished);

  // An operation was started here: the thread drives this client's connection between completions.
  // Not if there are several, as in a cluster: their answers are read in the background then.
  void will_drive(const std::shared_ptr<client_core>& core);
  net::waiter& waiter() noexcept { return waiter_; }

 private:
  static void prepare_fork() noexcept;
  static void go_on_in_parent() noexcept;
  static void go_on_in_child() noexcept;
  void push(detail::completion& c, bool is_end) noexcept;
  void move_to(net::event_source* home);
  detail::completion* take() noexcept;

  const uncancelled meanwhile_;
  net::waiter waiter_{net::waiter::kind::executor};
  std::shared_ptr<client_core> core_;  // keeps the connection alive while it is driven
  executor* const outer_;
  std::mutex mutex_;
  completion_queue queue_;
  detail::completion* end_ = nullptr;  // is in queue_
};

}  // namespace holdfast::runtime
