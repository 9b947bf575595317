// Doing one thing again and again for a bounded time, and what that gave.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "cli/signals.hpp"

namespace holdfast::cli::bench {

struct measurement {
  std::vector<std::uint32_t> nanoseconds;  // each, sorted; never empty
  double per_second = 0;

  double microseconds_at(double share) const;  // 0.5: the median
};

// Runs actions[i] on a thread of its own until the time is over. An exception of one action ends
// all. Throws `interrupted` when a signal asked to end: all locks have been given back.
measurement measure(const std::vector<std::function<void()>>& actions, std::chrono::seconds time,
                    signal_watch& signals);

}  // namespace holdfast::cli::bench
