/// \file
/// A named lock, and the four ways to acquire it.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include <holdfast/detail/acquire_operation.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

namespace runtime {
class client_core;
class lock_source;
}  // namespace runtime

namespace detail {
struct lock_access;  // what the library's own sources see of locks and leases
}

/// A named lock on a server: its kind, its name and its options. The object itself holds nothing:
/// acquire it to get a `lease`.
///
/// There are four verbs:
///
/// - `acquire` waits. It throws a `failure` if it does not get the lock.
/// - `try_acquire` asks once (or waits as long as told) and returns busy, timed out and cancelled
///   as values.
/// - `async_acquire` and `async_try_acquire` do the same for a coroutine of any type, which awaits
///   their result, once. They do not block the thread. Nothing happens before it is awaited.
///
/// Defaults: if a call names no timeout, `acquire` and `async_acquire` wait for the client's
/// `default_timeout`, the other two ask once. A request to `stop` ends the waiting of each verb
/// with `cancelled`. While a call waits and the server refuses for a reason that may pass (out of
/// memory, loading, read-only, ...), the client asks again until the timeout.
///
/// Errors of all verbs: `busy` (asked once), `timed_out`, `cancelled`, `unavailable`,
/// `authentication`, `untrusted_server`, `permission_denied`, `not_redis`, `foreign_key`,
/// `layout_version`, `clock_skew`, `queue_full`, `unsupported`, `invalid_argument` (more permits
/// than there are), and the server's refusals (see `errc`); with `client_options::detect_deadlocks`
/// also `would_deadlock`.
///
/// Errors of the programmer are thrown by all verbs: `invalid_argument` for a negative timeout, and
/// `forked` in the child of a fork. The verbs that block also throw `would_deadlock`, on a thread
/// that would wait for itself.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class HOLDFAST_EXPORT lock {
 public:
  lock(const lock&) = default;
  lock(lock&&) noexcept = default;
  lock& operator=(lock other) noexcept;  ///< Names the other lock from now on.
  ~lock() = default;

  /// Waits for the lock. Throws `failure` for everything but success.
  [[nodiscard]] lease acquire(const acquire_options& options = {}, std::stop_token stop = {}) const;

  /// Asks once, or waits up to `options.timeout`. Throws only for errors of the programmer
  /// (`invalid_argument`, `would_deadlock`, `forked`).
  [[nodiscard]] result<lease> try_acquire(const acquire_options& options = {},
                                          std::stop_token stop = {}) const;

  /// `co_await` it for a `lease`. It throws as `acquire` does.
  detail::acquire_awaitable<lease> async_acquire(acquire_options options = {},
                                                 std::stop_token stop = {}) const;

  /// `co_await` it for a `result<lease>`.
  detail::acquire_awaitable<result<lease>> async_try_acquire(acquire_options options = {},
                                                             std::stop_token stop = {}) const;

  /// The name with which it was made.
  [[nodiscard]] const std::string& name() const noexcept;

 private:
  friend class detail::acquire_operation;
  friend struct detail::lock_access;
  [[nodiscard]] result<lease> wait_for_lease(std::stop_token stop,
                                             std::chrono::milliseconds timeout) const;
  lock(std::shared_ptr<runtime::client_core> core, std::shared_ptr<runtime::lock_source> source);

  std::shared_ptr<runtime::client_core> core_;
  std::shared_ptr<runtime::lock_source> source_;
};

}  // namespace holdfast
