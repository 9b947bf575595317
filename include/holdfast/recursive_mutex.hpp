/// \file
/// A lock that its holder may acquire again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <holdfast/acquirable.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// How a recursive mutex behaves: each option as in `mutex_options`.
struct recursive_mutex_options {
  std::optional<std::chrono::milliseconds> lease{};  ///< 10 ms to 24 h. Unset: the client's.
  holdfast::renewal renewal = holdfast::renewal::automatic;  ///< Whether the lease is renewed.
  holdfast::fencing fencing = holdfast::fencing::on;         ///< Whether grants carry a token.
  bool fair = false;                                         ///< Strict order of arrival.
  std::chrono::milliseconds retain{0};      ///< Kept so long after use: zero to 1 h.
  std::uint32_t queue_limit = 100'000;      ///< How many may wait at the server.
  std::chrono::milliseconds lock_delay{0};  ///< After a loss: zero to 1 h.
};

/// An owner may enter a recursive mutex again. It stands for a task, for example, that moves
/// between threads. It is used by one thread at a time, as is what it stands for. Thread safety: a
/// value type; distinct objects are independent.
class HOLDFAST_EXPORT owner {
 public:
  /// Unlike all others of this process; its copies are the same owner.
  owner() noexcept;
  /// Whether both stand for the same owner.
  friend bool operator==(const owner&, const owner&) noexcept = default;

 private:
  friend class recursive_mutex;
  std::uint64_t id_;
};

/// A mutex that its holder may acquire again, without asking the server. Made by
/// `client::recursive_mutex()`. Its own verbs acquire it for the thread that blocks.
///
/// Each acquisition gives a lease; the last one that is released gives the lock back. All leases of
/// one hold have the same token and the same deadline, and are lost together; after a loss,
/// acquiring begins a new hold with a new token.
///
/// Each client knows only its own owners: all its handles of the same name and options know them.
/// Another thread or owner is kept out, as by a plain mutex. Local hand-over between the threads of
/// the client is also as with a plain mutex.
///
/// A coroutine has no thread of its own. So a lease from `async_acquire` belongs to nobody else, in
/// whatever thread it is awaited: a second acquisition waits. A task that wants to enter again says
/// who it is: `mutex.of(me)`.
///
/// Cost: as the plain mutex for the first acquisition and the last release, no command in between.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class HOLDFAST_EXPORT recursive_mutex : public acquirable {
 public:
  /// This mutex, acquired by `who` in place of the calling thread.
  [[nodiscard]] lock of(const owner& who) const;

  /// How many leases of the present hold the calling thread, or `who`, has; 0 when it has none or
  /// has lost it.
  [[nodiscard]] std::size_t hold_count() const;
  [[nodiscard]] std::size_t hold_count(const owner& who) const;

 private:
  friend class client;
  explicit recursive_mutex(lock of_threads) noexcept : acquirable(std::move(of_threads)) {}
};

}  // namespace holdfast
