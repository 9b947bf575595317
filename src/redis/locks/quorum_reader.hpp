// The thread that waits for several members of a quorum.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/lock_key.hpp"
#include "base/mutex.hpp"
#include "redis/connection/connection.hpp"
#include "redis/locks/quorum_group.hpp"

namespace holdfast::redis_locks {

// The members' connections that a waiting thread reads itself. It reads one after the other; before
// it would sleep at one of them it leaves the others to the background threads. Thread safety:
// drive() by that thread, all else under `guard`.
class quorum_reader final : private net::waiter::companion {
 public:
  // `guard`: the mutex of its owner. All outlive this.
  quorum_reader(mutex& guard, quorum_group& group, const lock_key& key);

  // The calling thread will call drive(), if there is a `sleeper`.
  void begin(net::waiter* sleeper);
  // How a question is sent that the calling thread asks.
  redis::connection::delivery delivery_to(std::size_t member);
  void answered(std::size_t member) noexcept;
  void wake() noexcept;

  // Reads until all is over, as is asked under `guard`; without it.
  void drive(net::waiter& self, const std::function<bool()>& is_over);

 private:
  void before_sleep() override;
  std::optional<std::size_t> next() const noexcept;
  void leave(std::optional<std::size_t> at);
  redis::connection& connection(std::size_t member) const;

  mutex& guard_;
  quorum_group& group_;
  const std::uint16_t slot_;
  net::waiter* sleeper_ = nullptr;
  std::uint64_t thread_ = 0;
  std::vector<bool> mine_;  // asked, and this thread is to read the answer
  bool slept_ = false;      // at the one whose answer it reads now
};

}  // namespace holdfast::redis_locks
