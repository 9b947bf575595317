// The only place that reads a clock.
#pragma once

#include "base/time.hpp"

namespace holdfast::net {

// CLOCK_BOOTTIME: never jumps, also counts while the machine is suspended.
monotonic_time now() noexcept;

// CLOCK_REALTIME since 1970, for people only: nothing may be decided by it.
nanoseconds wall_time() noexcept;

}  // namespace holdfast::net
