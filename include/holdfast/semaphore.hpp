/// \file
/// A lock that several may hold, each with so many of its permits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// How a semaphore behaves.
struct semaphore_options {
  /// How many permits there are, 1 to 1,000,000, unless `semaphore::set_permits` has said it for
  /// everybody. All who use the semaphore should say the same; each grant goes by its own number.
  std::uint32_t permits = 1;

  /// As in `lock_options`.
  std::optional<std::chrono::milliseconds> lease{};
  holdfast::renewal renewal = holdfast::renewal::automatic;
  std::uint32_t queue_limit = 100'000;
};

/// A counting semaphore whose permits are leased: those of a holder that died come back when its
/// lease ends. Made by `client::semaphore()`. It is a `lock` for one permit.
///
/// Who waits comes in in the order of arrival, whatever he asks for, so that who wants many permits
/// is not overtaken for ever by those who want one. Never are more permits in use than there are.
/// Every grant has a fencing token, and a lease whose loss (see `lease::lost`) takes all that it
/// had at once.
///
/// With `dialect::redisson()` it is Redisson's `RSemaphore`; with `redisson_lock::expirable` its
/// `RPermitExpirableSemaphore`. Then `permits` is said, for everybody, by the first who asks when
/// nobody has said it (`trySetPermits`); there is no order of arrival, no token and no
/// `queue_limit`, of the above only the limit and the loss hold; and one `lock` has at most 1,000
/// permits. A `RSemaphore` knows no leases: those of Holdfast's holders are noted beside it, and
/// what our dead had comes back when one of us asks. See docs/wire/redisson.md.
///
/// Cost: one command to acquire, one to release; two in all when it waits.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class semaphore : public lock {
 public:
  /// So many permits at once, held and released together.
  /// Throws `failure{invalid_argument}` unless 1 <= count <= 1,000,000, or 1,000 of Redisson's.
  [[nodiscard]] lock permits(std::uint32_t count) const;

  /// Says how many permits there are, for all processes, until it is said again; while it is in
  /// use, too: those in use stay so, and who waits comes in when there are more. Zero: nobody says
  /// it any more, and each goes by his own `semaphore_options::permits`. Throws `failure`: what a
  /// server that cannot be asked or refuses gives (see `errc`); `invalid_argument` above 1,000,000.
  /// After `unavailable` it may be done until `response_timeout` after it was sent; no later.
  /// Of a `RPermitExpirableSemaphore` it is `setPermits`, where zero is a number as others. Of a
  /// `RSemaphore`, where nobody knows what is in use, `unsupported`.
  void set_permits(std::uint32_t count) const;

 private:
  friend class client;
  semaphore(lock one, std::uint32_t permits) : lock(std::move(one)), permits_(permits) {}

  std::uint32_t permits_;
};

}  // namespace holdfast
