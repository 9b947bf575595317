// How new it is what a sentinel says.
#pragma once

#include <cstdint>
#include <optional>

#include "base/mutex.hpp"
#include "base/time.hpp"

namespace holdfast::redis {

// The newest configuration of a service that a sentinel has told of: each failover gives it a
// higher epoch. Who tells of an older one is cut off from the others, or has not heard yet.
//
// Thread safety: all members from any thread.
class newest_epoch {
 public:
  // Nothing said: a user of the sentinel may not look. It is taken for new.
  bool is_after(std::optional<std::uint64_t> said) const HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return said && *said < known_;
  }
  void learn(std::optional<std::uint64_t> said, monotonic_time now) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    if (!said || *said < known_) return;
    known_ = *said;
    heard_at_ = now;
  }
  // Nobody of those who can be asked tells of a newer one than this, and these are most of all, or
  // not. Were they set up anew, and count from zero? False: they may be cut off, or not have heard
  // yet. But nobody is to be locked out for ever.
  bool begin_again_at(std::uint64_t said, bool most_say_so, monotonic_time now)
      HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    if (now < heard_at_ + (most_say_so ? spreads_within : is_over_within)) return false;
    known_ = said;
    heard_at_ = now;
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
};

}  // namespace holdfast::redis
