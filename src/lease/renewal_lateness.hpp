// When a renewal is late: operators of a service should hear of that before a lease is lost.
#pragma once

#include "base/time.hpp"

namespace holdfast::leasing {

// How long after it was due a renewal comes `now`, of a lease of this length that lasts `until`. It
// is due at a third of the lease; up to half of it is usual, and counts as zero. So does a lease
// that is over, which nothing renews.
constexpr nanoseconds renewal_lateness(monotonic_time until, monotonic_time now,
                                       nanoseconds whole) noexcept {
  if (until <= now || until - now >= whole / 2) return nanoseconds{0};
  return whole * 2 / 3 - (until - now);
}

}  // namespace holdfast::leasing
