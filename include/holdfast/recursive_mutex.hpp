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

/// Whoever may enter a recursive mutex again: a task, say, that moves between threads. It is used
/// by one thread at a time, as what it stands for. Thread safety: a value type; distinct objects
/// are independent.
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
/// `client::recursive_mutex()`. It is a `lock` whose owner is the thread that blocks for it.
///
/// Each acquisition gives a lease; the last one that is released gives the lock back. All leases of
/// one hold have the same token and the same deadline, and are lost together; after a loss,
/// acquiring begins a new hold with a new token. Owners are known to one client: all its handles of
/// the same name and options, nobody else. Another thread or owner is kept out, as by a plain
/// mutex, and the lock is passed on among the threads of the client in the same way.
///
/// A coroutine has no thread of its own, so what `async_acquire` asks for belongs to nobody else,
/// whoever awaits it: asking twice waits. Tasks that want to enter again say who they are:
/// `mutex.of(me)`.
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
