// The only place that reads a clock.
#pragma once

#include "base/time.hpp"

namespace holdfast::net {

// CLOCK_BOOTTIME: never jumps, also counts while the machine is suspended.
monotonic_time now() noexcept;

}  // namespace holdfast::net
