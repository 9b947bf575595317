// The margin of deadlines for the speed of clocks follows the kernel's correction of ours.
#pragma once

#include "base/time.hpp"

namespace holdfast::runtime {

// To be called where deadlines are about to be reckoned. Asks the kernel at most once a second, in
// the whole process. Returns `now`.
monotonic_time follow_clock_rate(monotonic_time now) noexcept;

}  // namespace holdfast::runtime
