// How long a caller waits for a lock.
#pragma once

#include "base/time.hpp"

namespace holdfast::leasing {

struct patience {
  bool waits = false;           // false: ask once
  monotonic_time give_up_at{};  // when waiting; monotonic_time::max() for ever
  friend bool operator==(const patience&, const patience&) = default;
};

}  // namespace holdfast::leasing
