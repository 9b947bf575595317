/// \file
/// A lock that several may hold, each with a number of its permits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include <holdfast/acquirable.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// How a semaphore behaves.
struct semaphore_options {
  /// How many permits there are, 1 to 1,000,000, unless `semaphore::set_permits` has set the number
  /// for all processes. All users of the semaphore should say the same; each grant goes by its own
  /// number.
  std::uint32_t permits = 1;

  /// As in `mutex_options`: 10 ms to 24 h. Unset: the client's `default_lease`.
  std::optional<std::chrono::milliseconds> lease{};
  holdfast::renewal renewal = holdfast::renewal::automatic;  ///< Whether the lease is renewed.
  std::uint32_t queue_limit = 100'000;                       ///< How many may wait at the server.
};

/// A counting semaphore whose permits are leased: the permits of a dead holder come back when its
/// lease ends. Made by `client::semaphore()`. Its own verbs acquire one permit.
///
/// Waiters get their permits in the order of arrival, whatever they ask for. So a waiter that wants
/// many permits is not overtaken for ever by waiters that want one. Never are more permits in use
/// than there are. Every grant has a fencing token. Each has a lease, too, whose loss (see
/// `lease::lost`) takes all its permits at once.
///
/// With `dialect::redisson()` it is Redisson's `RSemaphore`, with `redisson_lock::expirable` its
/// `RPermitExpirableSemaphore`. Of the above only the limit and the loss hold then:
///
/// - If nobody has set the number of permits yet, the first that asks sets `permits` for all
///   (`trySetPermits`).
/// - There is no order of arrival, no token and no `queue_limit`.
/// - One `lock` has at most 1,000 permits.
/// - A `RSemaphore` knows no leases. The leases of Holdfast's holders are noted beside it. The
///   permits of a dead holder of Holdfast's come back when another client of Holdfast's asks.
///
/// See docs/wire/redisson.md.
///
/// With `dialect::redis_semaphore()` it is a semaphore of the npm package redis-semaphore. It has
/// no order of arrival, no token and no `queue_limit` either, and at most 1,000 permits in one
/// `lock`. Each user says how many permits there are. See docs/wire/redis_semaphore.md.
///
/// Cost: one command to acquire, one to release; two in all when it waits.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class HOLDFAST_EXPORT semaphore : public acquirable {
 public:
  /// A lock for this many permits at once, held and released together.
  /// Throws `failure{invalid_argument}` unless 1 <= count <= 1,000,000, or 1,000 in another
  /// library's layout.
  [[nodiscard]] lock permits(std::uint32_t count) const;

  /// Sets how many permits there are, for all processes, until it is set again. It may be set while
  /// the semaphore is in use: permits in use stay so, and waiters come in when there are more.
  /// Zero: the number is no longer set, and each process goes by its own
  /// `semaphore_options::permits`.
  ///
  /// Of a `RPermitExpirableSemaphore` it is `setPermits`, where zero is a number like any other.
  ///
  /// Throws `failure`: `invalid_argument` above 1,000,000, and what a server gives that cannot be
  /// asked or refuses (see `errc`). Throws `unsupported` of a `RSemaphore`, where nobody knows what
  /// is in use, and of `redis_semaphore`, where each user says the number. After `unavailable` it
  /// may be done until `response_timeout` after it was sent; no later.
  void set_permits(std::uint32_t count) const;

 private:
  friend class client;
  explicit semaphore(lock one) noexcept : acquirable(std::move(one)) {}
};

}  // namespace holdfast
