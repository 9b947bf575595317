// When a renewal is late: what those who operate a service should hear of, before a lease is lost.
#pragma once

#include "base/time.hpp"

namespace holdfast::leasing {

// How long after it was due a renewal is that comes when so much of the lease is left. It is due at
// a third of the lease; up to half of it is usual, and counts as zero.
constexpr nanoseconds renewal_lateness(nanoseconds left, nanoseconds whole) noexcept {
  return left < whole / 2 ? whole * 2 / 3 - left : nanoseconds{0};
}

}  // namespace holdfast::leasing
