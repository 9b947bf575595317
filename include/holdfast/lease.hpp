/// \file
/// The handle of a held lock.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include <holdfast/detail/completion.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/lease_mode.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

namespace runtime {
class client_core;
class holding;
struct grant;
}  // namespace runtime

namespace detail {
struct lock_access;
}

class release_awaitable;

/// A held lock: whoever has this object owns the lock until it is released, lost or destroyed.
///
/// The lease has a deadline of its own on a clock that also counts while the machine sleeps
/// (CLOCK_BOOTTIME), counted from before the request was sent, so it never says "held" longer than
/// the server does. Unless the lock was made with `renewal::none`, it is renewed in the background.
///
/// Ownership belongs to this object, not to a thread: it may be moved anywhere. After a fork() the
/// child's copy is inert: it says "not held", and neither renews nor releases.
///
/// A lock that was handed over by its last owner is ours for a second at first (`remaining()`
/// tells) and for the whole lease as soon as the background thread has confirmed it.
///
/// Thread safety: const members may be called from any thread at the same time; the others, the
/// destructor and moving need exclusive access.
class [[nodiscard]] lease {
 public:
  /// Releases without waiting for the answer; retries in the background if the connection breaks.
  /// Never throws.
  ~lease();

  lease(lease&&) noexcept;
  lease& operator=(lease&&) noexcept;  ///< Releases what was held before.

  /// The name of the lock; empty for a lease that was moved away.
  [[nodiscard]] const std::string& name() const noexcept;

  /// The fencing token of this grant. No token (`!token()`) with `fencing::off`, and of a lease
  /// that was moved away.
  [[nodiscard]] fencing_token token() const noexcept;

  /// How long the lock is certainly still held: zero when it is not.
  [[nodiscard]] std::chrono::milliseconds remaining() const noexcept;

  /// True while the lock is certainly held. Reads a clock, costs no I/O: ask it before each step
  /// that must not happen without the lock, and give `token()` to what you write to.
  [[nodiscard]] bool held() const noexcept;

  /// In which mode it is certainly held; `lease_mode::none` when it is not. From the moment at
  /// which a change of it (`read_write_lock::downgrade`, `mode_lock::change`) is asked for until
  /// the change has failed for good, it is what the old and the new mode have in common: the server
  /// may have carried it out, though no answer came. Reads a clock, costs no I/O.
  [[nodiscard]] lease_mode mode() const noexcept;

  /// Fires when the lease is lost, at the latest when it could end at the server; does not fire
  /// for a release. Callbacks on it run on the client's callback thread. Of a lease that was
  /// released or moved away it never fires. Throws `forked` in the child of a fork.
  [[nodiscard]] std::stop_token lost() const;

  /// Releases and waits for the answer, at most about the client's `response_timeout`.
  /// A lock that this client keeps (`lock_options::retain`), or passes on to another of its
  /// threads, stays the client's. Then the server is not asked, and success says that no loss was
  /// known: not that nobody has broken the lock since the last renewal. Errors: `lost` when it was
  /// no longer ours; `unavailable` when no answer came, or a refusal that may pass (it is tried on
  /// in the background, and the lease ends by itself); `permission_denied` and whatever else the
  /// server refuses for good: the lease ends by itself. A second call is a success without effect.
  /// Throws `forked` in the child of a fork.
  result<void> release();

  /// The same for coroutines: `co_await held.async_release()` gives `result<void>`. What throws
  /// above is thrown by awaiting it.
  release_awaitable async_release();

  /// Makes the lease last at least `duration` from now; never shortens it. Waits for the answer at
  /// most `connect_timeout` and `response_timeout`.
  /// Errors: `lost`; `unavailable` when no answer came; `clock_skew` when the server finds the
  /// request too old; what it refuses now, though the lease is held on (`read_only`, `no_replicas`,
  /// `server_busy`, `loading`, `misconfigured`, `permission_denied`, `authentication` and the
  /// like), and `busy` while it may already be upgraded or changed into another; of a quorum also
  /// `invalid_argument` for more than its longest lease, and `busy` while another thread extends
  /// the same lease.
  /// Throws `invalid_argument` unless `duration` is 10 ms to 24 h; `forked` in a forked child.
  result<void> extend(std::chrono::milliseconds duration);

 private:
  friend class lock;
  friend class acquire_operation;
  friend class release_awaitable;
  friend struct detail::lock_access;
  lease(std::shared_ptr<runtime::client_core> core, runtime::grant&& got) noexcept;
  void give_up() noexcept;
  bool is_ours() const noexcept { return holding_ != nullptr && !released_; }

  std::shared_ptr<runtime::client_core> core_;
  std::shared_ptr<runtime::holding> holding_;  // null once moved away
  std::uint64_t token_ = 0;
  bool released_ = false;
};

/// What `lease::async_release()` returns; await it. Not awaited, it releases when it is destroyed;
/// awaited, it must not be destroyed before it has been resumed (at most about `response_timeout`).
/// Any coroutine type can await it. Thread safety: used by one coroutine.
class [[nodiscard("co_await it")]] release_awaitable final : private detail::resumption {
 public:
  explicit release_awaitable(lease& held) noexcept;
  ~release_awaitable();
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> coroutine);
  result<void> await_resume();

 private:
  std::shared_ptr<runtime::client_core> core_;
  std::shared_ptr<runtime::holding> holding_;
  bool begun_ = false;
};

}  // namespace holdfast
