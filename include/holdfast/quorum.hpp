/// \file
/// A lock of several independent servers, of which a minority may fail.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/dialect.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

namespace redis_locks {
class quorum_handle;
}

/// How a quorum behaves. All its users should say the same.
struct quorum_options {
  /// The longest lease, together with its `lock_delay`, that anybody takes or extends to: 10 ms to
  /// 24 h. A member that has lost its memory gives no vote for that long, since it may have voted
  /// for a holder that still counts on it.
  std::chrono::milliseconds longest_lease{30'000};
};

/// How a lock of a quorum behaves: each option as in `mutex_options`.
///
/// The others are not possible over servers that know nothing of each other. Each would have a
/// queue of its own, with another head (`fair`, `queue_limit`), and would have to ask for the lock
/// back (`retain`). Tokens cost nothing (`fencing`).
struct quorum_mutex_options {
  std::optional<std::chrono::milliseconds> lease{};  ///< 10 ms to 24 h. Unset: the client's.
  holdfast::renewal renewal = holdfast::renewal::automatic;  ///< Whether the lease is renewed.
  std::chrono::milliseconds lock_delay{0};                   ///< After a loss: zero to 1 h.
  holdfast::reentry reentry = holdfast::reentry::refused;    ///< Of a thread that holds it.
};

/// Independent servers that vote on the holder of a lock (Redlock, with tokens that stay ordered).
///
/// A request holds the lock when more than half of the members have voted for it, and as long as
/// more than half keep that vote. So the lock stays usable, and safe, while fewer than half are
/// down, hung or cut off. Independent means that no server is a replica of another, and that none
/// loses what it was told.
///
/// Each member is a client of its own server, made by the caller. 3 or 5 members are usual. An even
/// number is allowed and no better than one less. docs/quorum.md says what a quorum promises under
/// which assumptions, and when one server is the better choice.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class HOLDFAST_EXPORT quorum {
 public:
  /// Throws `failure`:
  ///
  /// - `invalid_argument` when there is no member, when two members have the same address or
  ///   different tenants, or when `longest_lease` is out of its range.
  /// - `unsupported` for a member that is a cluster or that has `min_replicas`.
  /// - `forked` in the child of a fork.
  ///
  /// Two members may be the same server under different addresses. The first acquisition finds that
  /// out, and says so with `invalid_argument`.
  explicit quorum(std::vector<client> members, quorum_options options = {});

  /// A lock that one holder at a time can have. It is not the lock of that name of any one member.
  /// Waiters get it in the order of arrival as a rule, and not for certain.
  ///
  /// With `dialect::redlock` it is a lock of redsync or node-redlock on the same servers, with what
  /// that algorithm promises: no token, no order, and no waiter is notified (docs/wire/redlock.md).
  ///
  /// Throws `failure` as `client::mutex` does; `invalid_argument` for a lease and `lock_delay` that
  /// together are longer than `quorum_options::longest_lease`; and `unsupported` for dialects of
  /// libraries that lock on one server, and for `lock_delay` in any dialect.
  [[nodiscard]] lock mutex(std::string_view name, const quorum_mutex_options& options = {},
                           const dialect& how = {}) const;

  /// These are unsound over a quorum, so they do not exist. The compiler shows the reason.
  void semaphore(...) const = delete;  ///< Of two permits three could each have a majority.
  /// A member votes for one holder, and readers are several.
  void read_write_lock(...) const = delete;
  void mode_lock(...) const = delete;     ///< A member votes for one holder, and here are several.
  void rate_limiter(...) const = delete;  ///< Each member would count on its own.
  void counter(...) const = delete;       ///< Each member would count on its own.
  void id_generator(...) const = delete;  ///< Each member would give out the same ids.

 private:
  std::shared_ptr<redis_locks::quorum_handle> handle_;
};

}  // namespace holdfast
