// When the background thread looks whether answers lie unread.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace holdfast::redis {

// `batches`: how many batches of answers have been read so far.
// Thread safety: none.
class unread_watch {
 public:
  monotonic_time at() const noexcept { return at_; }

  // It looks at this time at the latest. False: it would have looked before anyway.
  bool look_by(monotonic_time time, std::uint64_t batches) noexcept {
    if (at_ <= time) return false;
    at_ = time;
    batches_before_ = batches;
    return true;
  }
  void cancel() noexcept { at_ = monotonic_time::max(); }

  // Asked when it looks: nobody has read anything meanwhile.
  bool found_nobody_reading(std::uint64_t batches) const noexcept {
    return batches == batches_before_;
  }

 private:
  monotonic_time at_ = monotonic_time::max();
  std::uint64_t batches_before_ = 0;
};

}  // namespace holdfast::redis
