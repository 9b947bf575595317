// The only place that reads a clock.
#pragma once

#include <cstdint>

#include "base/time.hpp"

struct timex;

namespace holdfast::net {

// CLOCK_BOOTTIME: never jumps, also counts while the machine is suspended.
monotonic_time now() noexcept;

// Ten years: nobody waits longer, no sum overflows, and scripts count it exactly.
inline constexpr milliseconds longest_wait = std::chrono::hours{24 * 365 * 10};
// When a wait that begins now is over; one of `longest_wait` or more never is.
monotonic_time end_of_wait(milliseconds timeout) noexcept;

// By how many millionths the kernel makes the clocks above and below faster (or slower, below 0)
// than the machine's oscillator just now; 0 where it does not say. CLOCK_BOOTTIME is slewed too.
std::int64_t clock_correction() noexcept;
// As above, from an answer of adjtimex().
std::int64_t correction_of(const timex&) noexcept;

// CLOCK_REALTIME since 1970, for people only: nothing may be decided by it.
nanoseconds wall_time() noexcept;

}  // namespace holdfast::net
