// When a server has been silent for so long that it is asked whether it is still there.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace holdfast::redis {

// Thread safety: none.
class silence_watch {
 public:
  explicit silence_watch(milliseconds period) noexcept : period_(period) {}

  void start(monotonic_time now) noexcept { at_ = now + period_; }

  // When the period ends: then ask was_silent().
  monotonic_time at() const noexcept { return at_; }

  // Whether no batch of answers came in the period that ends now; the next one begins.
  bool was_silent(monotonic_time now, std::uint64_t batches) noexcept {
    const bool silent = batches == batches_before_;
    batches_before_ = batches;
    start(now);
    return silent;
  }

 private:
  const milliseconds period_;
  monotonic_time at_ = monotonic_time::max();
  std::uint64_t batches_before_ = 0;
};

}  // namespace holdfast::redis
