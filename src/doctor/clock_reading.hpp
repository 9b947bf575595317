// Readings of several servers' clocks at the same moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "doctor/deployment.hpp"

namespace holdfast::doctor {

// A server's clock, beside ours that never steps.
struct clock_reading {
  std::string server;
  microseconds ahead{};      // of our own
  microseconds uncertain{};  // either way: half of the round trip
  monotonic_time at{};       // when, on our clock
};

// How much faster than ours a server's clock has run between two readings, in millionths.
struct clock_speed {
  std::int64_t faster{};
  std::int64_t uncertain{};  // either way

  bool is_certainly_beyond(std::int64_t millionths) const noexcept {
    return (faster < 0 ? -faster : faster) - uncertain > millionths;
  }
};
clock_speed speed_between(const clock_reading& first, const clock_reading& second);

// For people: "1.25 %".
std::string in_percent(std::int64_t millionths);

// Nothing when it does not answer, or its user may not ask.
std::optional<clock_reading> read_clock(std::string server, const asking&);

struct clock_difference {
  const clock_reading* behind;
  const clock_reading* ahead;
  microseconds between{};
  bool is_allowed = false;  // by a lease of the usual 30 s: a hundredth

  std::string in_ms() const;
};

// Between the two that are furthest apart. `read`: one at least.
clock_difference largest_difference(const std::vector<clock_reading>& read);

}  // namespace holdfast::doctor
