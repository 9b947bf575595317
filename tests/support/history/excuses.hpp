// Times at which exclusion is not promised, for its judges.
#pragma once

#include <algorithm>
#include <vector>

#include "support/history/story.hpp"

namespace holdfast::history {

// S1 is not promised for as long as an old lease lasts after the server has lost it.
inline std::vector<interval> times_without_exclusion(const story& run, milliseconds lease) {
  std::vector<interval> times;
  for (const auto& one : run.all(kind::emptied)) times.push_back({one.time, one.until + lease});
  return times;
}

inline milliseconds longest_lease(const std::vector<acquisition>& of) {
  milliseconds longest{};
  for (const auto& one : of) longest = std::max(longest, one.lease());
  return longest;
}

inline bool is_within(const std::vector<interval>& times, const interval& all) {
  return std::any_of(times.begin(), times.end(),
                     [&all](const interval& time) { return time.contains(all); });
}

}  // namespace holdfast::history
