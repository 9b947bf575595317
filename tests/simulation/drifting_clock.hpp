// The clock of one simulated machine. The world's own time is the measure for all of them.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace holdfast::simulation {

class drifting_clock {
 public:
  // Both clocks show `begin` together; then this one is faster by so many millionths.
  drifting_clock(monotonic_time begin, std::int64_t faster_by) noexcept
      : begin_(begin), faster_by_(faster_by) {}

  monotonic_time local(monotonic_time world) const noexcept {
    const nanoseconds past = world - begin_;
    return world + past * faster_by_ / millionths;
  }
  // The earliest moment at which this clock shows `local`.
  monotonic_time world(monotonic_time local) const noexcept {
    const nanoseconds past = local - begin_;
    // Much later than any run; the product below would not fit.
    if (past > std::chrono::hours{1}) return begin_ + past;
    auto found = begin_ + past * millionths / (millionths + faster_by_);
    while (this->local(found) < local) ++found;
    return found;
  }

 private:
  static constexpr std::int64_t millionths = 1'000'000;
  monotonic_time begin_;
  std::int64_t faster_by_;
};

}  // namespace holdfast::simulation
