/// \file
/// A named lock, and the four ways to acquire it.
#pragma once

#include <chrono>
#include <coroutine>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <holdfast/detail/completion.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

namespace runtime {
class acquisition;
class executor;
class lock_source;
}  // namespace runtime

namespace detail {
struct lock_access;  // what the library's own sources see of locks and leases
}

class acquire_awaitable;
class try_acquire_awaitable;

/// A named lock on a server: what kind it is and how it behaves. It holds nothing by itself;
/// acquiring gives a `lease`.
///
/// The four verbs differ in two ways only. `acquire` waits and throws what it does not get;
/// `try_acquire` asks once (or waits as long as told) and returns busy, timed out and cancelled as
/// values. The `async_` forms are awaited by a coroutine instead of blocking the thread. A request
/// to `stop` ends the waiting of each with `cancelled`.
///
/// Errors of all verbs: `busy` (asked once), `timed_out`, `cancelled`, `unavailable`,
/// `authentication`, `untrusted_server`, `permission_denied`, `not_redis`, `foreign_key`,
/// `layout_version`, `clock_skew`, `queue_full`, `unsupported`, `invalid_argument` (more permits
/// than there are), and the server's refusals (see `errc`); with `client_options::detect_deadlocks`
/// also `would_deadlock`. While waiting, refusals that may pass (out of memory, loading, read-only,
/// ...) are asked again until the timeout.
///
/// Errors of the programmer are thrown by all of them: `invalid_argument` for a negative timeout,
/// `forked` in the child of a fork, and by those that block `would_deadlock` on a thread that would
/// wait for itself.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class lock {
 public:
  lock(const lock&) = default;
  lock(lock&&) noexcept = default;
  lock& operator=(lock other) noexcept;
  ~lock() = default;

  /// Waits for the lock. Throws `failure` for everything but success.
  [[nodiscard]] lease acquire(const acquire_options& options = {}, std::stop_token stop = {}) const;

  /// Asks once, or waits up to `options.timeout`. Throws only for errors of the programmer
  /// (`invalid_argument`, `would_deadlock`, `forked`).
  [[nodiscard]] result<lease> try_acquire(const acquire_options& options = {},
                                          std::stop_token stop = {}) const;

  /// `co_await` it for a `lease`; throws like `acquire`. Nothing happens before it is awaited.
  [[nodiscard]] acquire_awaitable async_acquire(acquire_options options = {},
                                                std::stop_token stop = {}) const;

  /// `co_await` it for a `result<lease>`. Nothing happens before it is awaited.
  [[nodiscard]] try_acquire_awaitable async_try_acquire(acquire_options options = {},
                                                        std::stop_token stop = {}) const;

  /// The name it was made with.
  [[nodiscard]] const std::string& name() const noexcept;

 private:
  friend class acquire_operation;
  friend struct detail::lock_access;
  [[nodiscard]] result<lease> wait_for_lease(std::stop_token stop,
                                             std::chrono::milliseconds timeout) const;
  lock(std::shared_ptr<runtime::client_core> core, std::shared_ptr<runtime::lock_source> source);

  std::shared_ptr<runtime::client_core> core_;
  std::shared_ptr<runtime::lock_source> source_;
};

/// One running acquisition, for those who bridge to other asynchronous worlds (see `asio.hpp`).
///
/// `start()` begins it; the completion runs once, when `finish()` may be called. Destroying it
/// before that gives the lock back if it is granted after all, and the completion does not run.
/// Thread safety: used by one thread at a time; destroying it while the completion runs on another
/// thread is the caller's race to avoid (cancel through the stop token instead).
class acquire_operation {
 public:
  /// Whether an unset timeout means the client's default (as in `acquire`) or asking once.
  enum class patience { waits, asks_once };

  acquire_operation(lock target, acquire_options options, std::stop_token stop,
                    patience when_unset);
  ~acquire_operation();
  acquire_operation(acquire_operation&&) noexcept;
  acquire_operation& operator=(acquire_operation&&) = delete;

  void start(detail::completion& when_done);
  [[nodiscard]] result<lease> finish();

 private:
  lock target_;
  acquire_options options_;
  std::stop_token stop_;
  patience when_unset_;
  std::unique_ptr<runtime::acquisition> running_;
  detail::completion* when_done_ = nullptr;
  runtime::executor* executor_ = nullptr;  // where that runs; null: the client's callback thread
};

/// What `lock::async_try_acquire` returns. Any coroutine type can await it, once.
/// Thread safety: used by one coroutine.
class [[nodiscard("co_await it, or nothing is locked")]] try_acquire_awaitable final
    : private detail::resumption {
 public:
  explicit try_acquire_awaitable(acquire_operation operation) : operation_(std::move(operation)) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) {
    waiting = coroutine;
    operation_.start(*this);
  }
  [[nodiscard]] result<lease> await_resume() { return operation_.finish(); }

 private:
  acquire_operation operation_;
};

/// What `lock::async_acquire` returns. Any coroutine type can await it, once.
/// Thread safety: used by one coroutine.
class [[nodiscard("co_await it, or nothing is locked")]] acquire_awaitable final
    : private detail::resumption {
 public:
  explicit acquire_awaitable(acquire_operation operation) : operation_(std::move(operation)) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) {
    waiting = coroutine;
    operation_.start(*this);
  }
  [[nodiscard]] lease await_resume() { return operation_.finish().value(); }

 private:
  acquire_operation operation_;
};

}  // namespace holdfast
