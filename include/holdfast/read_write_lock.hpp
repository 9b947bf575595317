/// \file
/// A lock that many readers or one writer can hold.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/lock.hpp>

namespace holdfast {

/// A read-write lock: any number of readers, or one writer. Made by `client::rw()`.
///
/// Whoever waits comes in in the order of arrival; all readers in front of the next writer come in
/// together. So neither readers nor writers starve. Readers of one client join each other without
/// asking the server, for 5 to 10 ms at a time, unless `lock_options::fair` wants strict order.
/// Every reader has a fencing token of his own: above that of every earlier writer and below that
/// of every later one. Where readers join each other, theirs say nothing of each other's order.
///
/// Who may want to write after having read asks `upgradeable()`: one at a time, beside readers. He
/// becomes the writer with `upgrade()` without letting anybody write in between, and a reader again
/// with `downgrade()`. A plain reader cannot be upgraded, since two of them would wait for each
/// other for ever.
///
/// Cost: one command to acquire, one to release, two in all when it waits; one script each. None
/// for a reader who joins. At a loss only the lease concerned is lost, and with it those of the
/// readers who have joined it; others keep theirs.
///
/// Written as Redisson's `RReadWriteLock` (`dialect::redisson()`) it has readers and a writer,
/// but no tokens, no order of arrival and nobody who can change what he has.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class read_write_lock {
 public:
  /// Together with other readers and one upgradeable holder.
  [[nodiscard]] lock shared() const noexcept { return shared_; }
  /// Alone.
  [[nodiscard]] lock exclusive() const noexcept { return exclusive_; }
  /// Together with readers, and able to become the writer. Throws `failure`: `unsupported` in
  /// another library's layout, and so do `upgrade` and `downgrade`.
  [[nodiscard]] lock upgradeable() const;

  /// A lock that, when it is acquired, makes its holder the writer in place of `held`, an
  /// upgradeable lease; it waits until the readers have left, and new ones wait behind it. `held`
  /// stays held until then, and when it is not obtained; afterwards it says "not held", without a
  /// loss. Errors besides those of every lock: `lost` when `held` had ended.
  /// Throws `failure{invalid_argument}` when `held` is not an upgradeable lease of this lock.
  [[nodiscard]] lock upgrade(const lease& held) const;

  /// The same from writer or upgradeable holder to reader, which never waits. From the moment it is
  /// asked for, `held` counts as a reader's (`lease::mode()`), since the server may have made it
  /// one. When it fails, `held` becomes what it was; when that cannot be, since readers have come
  /// in meanwhile, `held` is lost, and says so.
  [[nodiscard]] lock downgrade(const lease& held) const;

 private:
  friend class client;
  read_write_lock(lock shared, std::optional<lock> upgradeable, lock exclusive)
      : shared_(std::move(shared)),
        upgradeable_(std::move(upgradeable)),
        exclusive_(std::move(exclusive)) {}

  lock shared_;
  std::optional<lock> upgradeable_;  // not in every layout
  lock exclusive_;
};

}  // namespace holdfast
