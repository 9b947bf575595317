/// \file
/// A lock that many readers or one writer can hold.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <holdfast/detail/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// How a read-write lock behaves: each option as in `mutex_options`. Every grant has a
/// token (but see `dialect`). `reentry` is about the writer.
struct read_write_options {
  std::optional<std::chrono::milliseconds> lease{};  ///< 10 ms to 24 h. Unset: the client's.
  holdfast::renewal renewal = holdfast::renewal::automatic;  ///< Whether the lease is renewed.
  bool fair = false;                                         ///< Strict order of arrival.
  std::uint32_t queue_limit = 100'000;                       ///< How many may wait at the server.
  std::chrono::milliseconds lock_delay{0};                   ///< After a loss: zero to 1 h.
  holdfast::reentry reentry = holdfast::reentry::refused;    ///< Of a thread that holds it.
};

/// A read-write lock: any number of readers, or one writer. Made by
/// `client::read_write_lock()`.
///
/// Waiters get the lock in the order of arrival. All readers in front of the next writer come in
/// together. So neither readers nor writers starve. Readers of one client join each other without
/// asking the server, for 5 to 10 ms at a time, unless `fair` asks for strict order.
///
/// Every reader has a fencing token of its own. It is above that of every earlier writer and below
/// that of every later one. Where readers join each other, their tokens say nothing of each other's
/// order.
///
/// A reader that may want to write later asks for `upgradeable()`. There is one such holder at a
/// time, beside readers. It becomes the writer with `upgrade()`, and nobody writes in between. It
/// becomes a reader again with `downgrade()`. A plain reader cannot be upgraded, since two of them
/// would wait for each other for ever.
///
/// Cost: one command to acquire, one to release, two in all when it waits; one script each. A
/// reader that joins costs none. At a loss only the lease concerned is lost, and with it those of
/// the readers that have joined it. Others keep theirs.
///
/// In another library's layout (`dialect::redisson()`, `dialect::symfony()`) it has readers and a
/// writer, but no tokens and no order of arrival, and no holder can change what it has.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class HOLDFAST_EXPORT read_write_lock {
 public:
  /// Together with other readers and one upgradeable holder.
  [[nodiscard]] lock shared() const noexcept;
  /// Alone.
  [[nodiscard]] lock exclusive() const noexcept;
  /// Together with readers, and able to become the writer. In another library's layout this,
  /// `upgrade` and `downgrade` throw `failure`: `unsupported`.
  [[nodiscard]] lock upgradeable() const;

  /// Another lock. When it is acquired, its holder is the writer in the place of `held`, an
  /// upgradeable lease. It waits until the readers have left, and new ones wait behind it. `held`
  /// stays held until then, and also when the lock is not obtained. Afterwards `held` says "not
  /// held", without a loss.
  ///
  /// Errors besides those of every lock: `lost` when `held` had ended.
  /// Throws `failure{invalid_argument}` when `held` is not an upgradeable lease of this lock.
  [[nodiscard]] lock upgrade(const lease& held) const;

  /// As `upgrade`, from writer or upgradeable holder to reader, which never waits.
  ///
  /// From the moment at which it is asked for, `held` counts as a reader's (`lease::mode()`), since
  /// the server may have made it one. When the change fails, `held` becomes what it was. That is
  /// not possible if readers have come in meanwhile. Then `held` is lost, and says so.
  [[nodiscard]] lock downgrade(const lease& held) const;

 private:
  friend class client;
  struct ways;
  explicit read_write_lock(std::shared_ptr<const ways> all) noexcept : ways_(std::move(all)) {}

  std::shared_ptr<const ways> ways_;
};

}  // namespace holdfast
