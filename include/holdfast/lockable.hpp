/// \file
/// Adapts a lock to code that expects a standard mutex.
#pragma once

#include <optional>
#include <utility>

#include <holdfast/lock.hpp>

namespace holdfast {

/// A standard *Lockable* (for `std::scoped_lock`, `std::unique_lock`, `std::lock`) over a lock.
///
/// `lock()` waits the client's `default_timeout` and throws `failure` after it, which standard
/// guards pass on. This interface cannot report a lost lease: ask `held_lease().held()` inside.
/// Prefer `lock::acquire()` where the code is yours.
///
/// Thread safety: like `std::mutex`, except that one `lockable` belongs to one thread at a time.
/// Give each thread its own over the same `holdfast::lock`; they exclude each other.
class lockable {
 public:
  explicit lockable(holdfast::lock target) : target_(std::move(target)) {}

  void lock() { lease_.emplace(target_.acquire()); }

  /// False when another holder has it.
  /// Throws `failure` when it cannot be known.
  bool try_lock() {
    auto got = target_.try_acquire();
    if (got) return lease_.emplace(std::move(*got)), true;
    if (got.error().reason() == errc::busy) return false;
    throw got.error();
  }

  void unlock() noexcept { lease_.reset(); }

  /// The lease while locked; undefined otherwise.
  [[nodiscard]] lease& held_lease() noexcept { return *lease_; }

 private:
  holdfast::lock target_;
  std::optional<lease> lease_;
};

}  // namespace holdfast
