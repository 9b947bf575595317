/// \file
/// A lock that its holder may acquire again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <holdfast/lock.hpp>

namespace holdfast {

namespace runtime {
class lock_site;
}

/// An owner may enter a recursive mutex again. It stands for a task, for example, that moves
/// between threads. It is used by one thread at a time, as is what it stands for. Thread safety: a
/// value type; distinct objects are independent.
class owner {
 public:
  /// Unlike all others of this process; its copies are the same owner.
  owner() noexcept;
  friend bool operator==(const owner&, const owner&) noexcept = default;

 private:
  friend class recursive_mutex;
  std::uint64_t id_;
};

/// A mutex that its holder may acquire again, without asking the server. Made by
/// `client::recursive_mutex()`. As a `lock` it is held by the thread that blocks for it.
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
class recursive_mutex : public lock {
 public:
  recursive_mutex(const recursive_mutex&) = default;
  recursive_mutex(recursive_mutex&&) noexcept = default;
  recursive_mutex& operator=(recursive_mutex other) noexcept;
  ~recursive_mutex() = default;

  /// The same mutex, acquired by `who` in place of the calling thread.
  [[nodiscard]] lock of(const owner& who) const;

  /// How many leases of the present hold the calling thread, or `who`, has; 0 when it has none or
  /// has lost it.
  [[nodiscard]] std::size_t hold_count() const;
  [[nodiscard]] std::size_t hold_count(const owner& who) const;

 private:
  friend class client;
  recursive_mutex(lock of_threads, std::shared_ptr<runtime::lock_site> site)
      : lock(std::move(of_threads)), site_(std::move(site)) {}

  std::shared_ptr<runtime::lock_site> site_;
};

}  // namespace holdfast
