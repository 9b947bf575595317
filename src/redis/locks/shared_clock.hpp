// A server's clock, as all threads of a client know it.
#pragma once

#include <optional>

#include "base/mutex.hpp"
#include "base/time.hpp"
#include "lease/server_clock.hpp"

namespace holdfast::redis_locks {

// Thread safety: all members from any thread.
class shared_clock {
 public:
  void learn(monotonic_time sent_at, monotonic_time received_at, server_time said)
      HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    clock_.sample(sent_at, received_at, said);
  }
  server_time estimate(monotonic_time at) const HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return clock_.estimate(at);
  }
  // Both times, as requests that have a not-after need them.
  moment at(monotonic_time now) const HOLDFAST_EXCLUDES(mutex_) { return {now, estimate(now)}; }
  std::optional<monotonic_time> earliest(server_time then) const HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return clock_.earliest(then);
  }

 private:
  mutable mutex mutex_;
  leasing::server_clock clock_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::redis_locks
