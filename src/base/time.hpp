// The two time lines of Holdfast. Nothing here reads a clock: `now` is always an argument.
#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast {

// Time of this machine: nanoseconds of CLOCK_BOOTTIME, which never jumps and also counts while the
// machine is suspended. Deadlines live on it. Only net/clock.hpp reads it.
struct boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock, duration>;
  static constexpr bool is_steady = true;
};
using monotonic_time = boot_clock::time_point;

// Time of the server: microseconds of its TIME command. Wall-clock time, so it may step.
struct server_clock_tag {
  using duration = std::chrono::microseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<server_clock_tag, duration>;
  static constexpr bool is_steady = false;
};
using server_time = server_clock_tag::time_point;

// As scripts are told it.
constexpr std::int64_t micros(server_time t) noexcept { return t.time_since_epoch().count(); }

// "Now" on both time lines, as far as we know it. `server` is an estimate that is never ahead of
// the server (unless its clock stepped back since).
struct moment {
  monotonic_time local;
  server_time server;
};

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// The lease of a lock, up to 49 days.
using short_milliseconds = std::chrono::duration<std::uint32_t, std::milli>;

}  // namespace holdfast
