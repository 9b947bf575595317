// Renewals that are due together share a command.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "net/background_thread.hpp"

namespace holdfast::redis_locks {

class redis_engine;
class redis_lock;

// Collects what is due, as timers, messages and answers find it, and sends it in batches of
// recipe::renew_batch. Thread safety: add() from any thread; the rest on the background thread.
class renewals final : public net::attendant {
 public:
  renewals(redis_engine& owner, net::background_thread& helper) : engine_(owner), helper_(helper) {}

  void add(std::shared_ptr<redis_lock> due);

  // Those that are due at about the same time share a command, so their times are rounded up a
  // little: to 1/256 of the lease, at most 100 ms.
  static monotonic_time together(monotonic_time at, milliseconds lease) noexcept {
    const nanoseconds grain =
        std::clamp<nanoseconds>(lease / 256, milliseconds{1}, milliseconds{100});
    const auto since = at.time_since_epoch();
    return monotonic_time{(since + grain - nanoseconds{1}) / grain * grain};
  }

  interest wants(monotonic_time now) override;
  void attend(short events, monotonic_time now) override;

 private:
  redis_engine& engine_;
  net::background_thread& helper_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<redis_lock>> due_;  // guarded by mutex_
};

}  // namespace holdfast::redis_locks
