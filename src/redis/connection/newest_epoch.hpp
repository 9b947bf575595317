// How new it is what a sentinel says.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/mutex.hpp"
#include "base/time.hpp"

namespace holdfast::redis {

// The newest configuration of a service that a sentinel has told of: each failover gives it a
// higher epoch. A sentinel that tells of an older one is cut off from the others, or has not heard
// yet.
//
// Thread safety: all members from any thread.
class newest_epoch {
 public:
  // Nothing said: a user of the sentinel may not look. It is taken for new.
  bool is_after(std::optional<std::uint64_t> said) const HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return said && *said < known_;
  }
  // True: it is a newer one.
  bool learn(std::optional<std::uint64_t> said, monotonic_time now) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    if (!said || *said < known_) return false;
    const bool is_newer = std::exchange(known_, *said) < *said;
    if (is_newer) leads_nowhere_ = false;
    if (!leads_nowhere_) heard_at_ = now;
    return is_newer;
  }
  // Whether the master that was named with it could be reached. If not, it does not count that it
  // is heard again.
  void led_to_a_master(bool did) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    leads_nowhere_ = !did;
  }
  // All could have heard of it by now.
  bool is_settled(monotonic_time now) const HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return now >= heard_at_ + spreads_within;
  }
  // Of those who tell of an older one this is the newest, and they are most of all, or not. Were
  // they set up anew, and count from zero? False: they may be cut off, or not have heard yet. But
  // nobody is to be locked out for ever.
  bool begin_again_at(std::uint64_t said, bool most_say_so, monotonic_time now)
      HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    if (now < heard_at_ + (most_say_so ? spreads_within : is_over_within)) return false;
    known_ = said;
    heard_at_ = now;
    leads_nowhere_ = false;
    return true;
  }

 private:
  // Sentinels tell each other every two seconds.
  static constexpr milliseconds spreads_within{5000};
  // Nor do networks stay divided for long, mostly.
  static constexpr milliseconds is_over_within{60'000};

  mutable mutex mutex_;
  std::uint64_t known_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  monotonic_time heard_at_ HOLDFAST_GUARDED_BY(mutex_){};
  bool leads_nowhere_ HOLDFAST_GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::redis
