/// \file
/// The handle of a held lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/detail/export.hpp>
#include <holdfast/detail/release_operation.hpp>
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
class acquire_operation;
struct lock_access;
}  // namespace detail

/// A held lock. The code that has this object holds the lock until the lease is released, lost or
/// destroyed.
///
/// Each lease has a deadline, until which it certainly lasts. The deadline counts on a clock that
/// also runs while the machine sleeps (CLOCK_BOOTTIME), from before the request was sent. So a
/// lease never says "held" longer than the server does. The client renews it in the background,
/// unless the lock was made with `renewal::none`.
///
/// The lease belongs to this object, not to a thread, so it may be moved anywhere. After a fork()
/// the child's copy does nothing: it says "not held", and neither renews nor releases.
///
/// A lock that came by a hand-over is ours for a second at first (`remaining()` tells), and for the
/// whole lease as soon as the background thread has confirmed it.
///
/// Thread safety: const members may be called from any thread at the same time. The others, the
/// destructor and moving need exclusive access.
class HOLDFAST_EXPORT [[nodiscard]] lease {
 public:
  /// Releases without waiting for the answer. If the connection breaks, the client tries again in
  /// the background. Never throws.
  ~lease();

  lease(lease&&) noexcept;             ///< The other lease holds nothing then.
  lease& operator=(lease&&) noexcept;  ///< Releases what was held before.

  /// The name of the lock. Empty for a lease that was moved away.
  [[nodiscard]] const std::string& name() const noexcept;

  /// The fencing token of this grant. There is none (`!token()`) with `fencing::off`, in layouts
  /// without tokens, and for a lease that was moved away.
  [[nodiscard]] fencing_token token() const noexcept;

  /// How long the lock is certainly still held: zero when it is not.
  [[nodiscard]] std::chrono::milliseconds remaining() const noexcept;

  /// True while the lock is certainly held. Reads a clock and costs no I/O. Ask it before each step
  /// that must not happen without the lock, and give `token()` to whatever you write to.
  [[nodiscard]] bool held() const noexcept;

  /// The mode in which the lock is certainly held; `lease_mode::none` when it is not held. Reads a
  /// clock and costs no I/O.
  ///
  /// A change of mode (`read_write_lock::downgrade`, `mode_lock::change`) may have been carried out
  /// by the server though no answer came. So from the moment at which the change is asked for,
  /// until it has failed for good, this is what the old and the new mode have in common. When
  /// another server takes over later, it is that again: the server may not know that the change was
  /// given up.
  [[nodiscard]] lease_mode mode() const noexcept;

  /// Fires when the lease is lost, at the latest when it could end on the server. It does not fire
  /// for a release. If the lease was released or moved away, it never fires. Callbacks on it run on
  /// the client's callback thread. Throws `forked` in the child of a fork.
  [[nodiscard]] std::stop_token lost() const;

  /// Releases and waits for the answer, at most about the client's `response_timeout`.
  ///
  /// The client may keep the lock for itself: retained (`mutex_options::retain`), or handed over to
  /// another of its threads. Then it does not ask the server. Success then says that no loss was
  /// known, not that nobody has broken the lock since the last renewal.
  ///
  /// Errors:
  ///
  /// - `lost` when it was no longer ours.
  /// - `unavailable` when no answer came, or a refusal came that may pass. The client goes on
  ///   trying in the background, and the lease ends by itself.
  /// - `permission_denied`, and whatever else the server refuses for good. The lease ends by
  ///   itself.
  ///
  /// A second call is a success without effect. Throws `forked` in the child of a fork.
  result<void> release();

  /// As `release`, for coroutines: `co_await held.async_release()` gives `result<void>`. Awaiting
  /// it throws as `release` does. Nothing is released before it is awaited; until then the lease
  /// must stay where it is. Once awaited, the awaitable must not be destroyed before the coroutine
  /// is resumed, which takes at most about `response_timeout`.
  detail::release_awaitable async_release();

  /// Makes the lease last at least `duration` from now; never shortens it. Waits for the answer at
  /// most `connect_timeout` and `response_timeout`.
  ///
  /// Errors:
  ///
  /// - `lost`.
  /// - `unavailable` when no answer came.
  /// - `clock_skew` when the server finds the request too old.
  /// - A refusal by the server, after which the lease is still held: `read_only`, `no_replicas`,
  ///   `server_busy`, `loading`, `misconfigured`, `permission_denied`, `authentication` and the
  ///   like.
  /// - `busy` while the lease may already be upgraded or changed into another.
  /// - Of a quorum also `invalid_argument` for more than its longest lease, and `busy` while
  ///   another thread extends the same lease.
  ///
  /// Throws `invalid_argument` unless `duration` is 10 ms to 24 h; `forked` in the child of a fork.
  result<void> extend(std::chrono::milliseconds duration);

  /// Says what this grant is for: the id of a job or of a trace, for example. Whoever looks at the
  /// lock sees it (`lock_holding::note`, `holdfast status`), until the lease is released or lost.
  /// Everybody who may look at the lock can read it. An empty text takes the note away.
  ///
  /// Does not wait: the note is sent in the background. One that cannot be written is lost, and so
  /// is one whose server starts anew. Does nothing when the lock is not held any more. Readers of
  /// one client that share a grant share its note, as the leases of a recursive mutex do: the last
  /// one counts, and goes with the lease that set it.
  ///
  /// Throws `invalid_argument` for more than 256 bytes, `unsupported` for locks of a quorum, of
  /// other libraries, in a process's own memory and for several locks together, `forked` in the
  /// child of a fork.
  void set_note(std::string_view text);

 private:
  friend class lock;
  friend class detail::acquire_operation;
  friend class detail::release_operation;
  friend struct detail::lock_access;
  lease(std::shared_ptr<runtime::client_core> core, runtime::grant&& got) noexcept;
  void give_up() noexcept;
  void forget_note() noexcept;
  bool is_ours() const noexcept { return holding_ != nullptr && !released_; }

  std::shared_ptr<runtime::client_core> core_;
  std::shared_ptr<runtime::holding> holding_;  // null once moved away
  std::uint64_t token_ = 0;
  bool released_ = false;
  bool has_note_ = false;
};

}  // namespace holdfast
