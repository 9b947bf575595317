// What several servers' clocks say at the same moment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/deployment.hpp"
#include "base/time.hpp"

namespace holdfast::api {

// A server's clock, beside ours that never steps.
struct clock_reading {
  std::string server;
  microseconds ahead{};      // of our own
  microseconds uncertain{};  // either way: half of the round trip
};

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

}  // namespace holdfast::api
