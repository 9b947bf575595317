/// \file
/// Adapts a lock to code that expects a standard mutex.
#pragma once

#include <iterator>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <holdfast/lock.hpp>

namespace holdfast {

/// A standard *Lockable* (for `std::scoped_lock`, `std::unique_lock`, `std::lock`) over a lock.
///
/// `lock()` waits the client's `default_timeout` and throws `failure` after it, which standard
/// guards pass on. This interface cannot report a lost lease: ask `held_lease().held()` inside.
/// Prefer `lock::acquire()` where the code is yours.
///
/// Each thread has leases of its own. If a thread's lease is lost while the thread is inside,
/// another thread may lock. Neither of the two can then touch the lease of the other.
///
/// Thread safety: like `std::mutex`: one object may be used from any number of threads, and the
/// thread that has locked it unlocks it.
class lockable {
 public:
  /// Adapts this lock. Sends nothing yet.
  explicit lockable(holdfast::lock target) : target_(std::move(target)) {}
  lockable(const lockable&) = delete;
  lockable& operator=(const lockable&) = delete;

  /// Waits for the client's `default_timeout`. Throws `failure` if it does not get the lock.
  void lock() { keep(target_.acquire()); }

  /// False when another holder has it.
  /// Throws `failure` when it cannot be known.
  bool try_lock() {
    auto got = target_.try_acquire();
    if (got) return keep(*std::move(got)), true;
    if (got.error().reason() == errc::busy) return false;
    throw got.error();
  }

  /// Releases what the calling thread has locked last, also when its lease is lost.
  /// Throws `std::system_error` (`operation_not_permitted`), as `std::unique_lock` does, when the
  /// calling thread has not locked it. It leaves the leases of other threads alone.
  void unlock() {
    std::unique_lock guard(guard_);
    const auto mine = latest();
    if (mine == inside_.end()) {
      throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                              "unlock() of a lock that this thread has not locked");
    }
    const auto given_back = inside_.extract(mine);
    guard.unlock();  // before the lease is released
  }

  /// The lease of the calling thread while it is inside; undefined otherwise.
  [[nodiscard]] lease& held_lease() noexcept {
    const std::lock_guard guard(guard_);
    return latest()->second;
  }

 private:
  using leases = std::multimap<std::thread::id, lease>;

  void keep(lease got) {
    const std::lock_guard guard(guard_);
    inside_.emplace(std::this_thread::get_id(), std::move(got));
  }

  // Of this thread; the end if it has none. Equal keys stand in the order in which they were added.
  leases::iterator latest() noexcept {
    const auto [first, behind] = inside_.equal_range(std::this_thread::get_id());
    return first == behind ? inside_.end() : std::prev(behind);
  }

  const holdfast::lock target_;
  std::mutex guard_;
  leases inside_;
};

}  // namespace holdfast
