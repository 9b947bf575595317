/// \file
/// What a program can hear of its locks: for metrics, traces and logs.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include <holdfast/detail/export.hpp>
#include <holdfast/errc.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/lock_kind.hpp>

namespace holdfast {

/// The types of an `event`. New ones are added at the end: an observer must ignore those that it
/// does not know.
///
/// Each call that wants a lock is `asked`, and then either `granted` or `refused`. Each lease is
/// `granted`, and then either `lost` or `released`.
enum class event_type {
  asked,         ///< A call wants a lock. Told before the server is asked.
  granted,       ///< It has the lock.
  refused,       ///< It did not get the lock. `event::error` says why.
  renewed_late,  ///< A renewal was answered when less than half of the lease was left.
  lost,          ///< A lease ended that its holder had not released.
  released,      ///< A lease was given back. `event::error`: the server has not confirmed that.
  reconnected,   ///< The client has connected again, to a server or a node of a cluster.
  /// Another server is behind that connection: a failover, or a restart. Not told where the server
  /// does not say who it is (`INFO` is not allowed), nor when slots of a cluster move.
  failed_over,
  /// `client_options::credentials` has thrown or given no login, or a server has refused a new
  /// login on a connection that is there. `event::detail` says why. Leases live on as long as the
  /// connections do.
  login_failed,
};

/// Something that happened. It is made by the library alone, which may add members at the end.
/// Texts live as long as the call that has them.
struct event {
  event_type type = event_type::asked;  ///< What happened.

  /// The lock's name; of several locks, all names. Empty when it is about a connection.
  std::string_view name{};
  lock_kind kind = lock_kind::unknown;  ///< Of the lock.
  fencing_token token{};                ///< Granted, lost, released: that of the lease, if any.

  /// - Granted, refused: how long the call took.
  /// - Lost, released: how long the lease was held.
  /// - Renewed late: how long after it was due the renewal was answered.
  std::chrono::nanoseconds duration{};

  /// Granted, refused: whether the call had to wait for another holder.
  bool waited = false;

  /// - Refused: why. None: the call has thrown something that is no `failure`, `std::bad_alloc` for
  ///   example.
  /// - Released: why the release is not known to have succeeded. None: it has, or nobody waited for
  ///   the answer, as where a lease was destroyed without `release`.
  /// - Login failed: `errc::authentication`.
  std::optional<errc> error{};

  /// - Reconnected, failed over: the server, as `host:port`.
  /// - Login failed: the server that refused it; empty when `client_options::credentials` gave
  /// none.
  std::string_view server{};

  /// Login failed: why, in one sentence.
  std::string_view detail{};
};

/// Hears what happens to the locks of the clients that were made with it
/// (`client_options::observer`). docs/metrics.md says what each kind of lock tells.
///
/// Threads: events of a call (asked, granted, refused, released) are told within that call, on its
/// thread, before it returns. For a coroutine that is the thread on which it goes on. All other
/// events are told on the client's callback thread, a little later. No mutex of the library is
/// held.
///
/// An observer should be quick: the program's call waits for it, or the callbacks of the client do.
/// It may use the client; of what it does with locks it is told, too. On the callback thread it
/// must not block for a lock (`errc::would_deadlock`). If it throws, that is written to
/// `client_options::log`, and does no other harm.
///
/// An observer must not own the client, which owns the observer. The client may let go of it on a
/// thread of the library.
///
/// Forks: the child's copies of leases and clients tell nothing.
///
/// Thread safety: `on` is called by any number of threads at the same time.
class HOLDFAST_EXPORT observer {
 public:
  observer() = default;
  observer(const observer&) = delete;             ///< Has an identity.
  observer& operator=(const observer&) = delete;  ///< Has an identity.
  virtual ~observer();                            ///< No client has it any more.

  /// Something has happened.
  virtual void on(const event& what) = 0;
};

/// How much a line of the log matters.
enum class log_level {
  info,     ///< Good to know.
  warning,  ///< Something went wrong, and the library goes on.
  error,    ///< Something must be mended.
};

}  // namespace holdfast
