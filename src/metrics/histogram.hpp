// How long something took, counted in buckets.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"

namespace holdfast::metering {

struct bucket {
  nanoseconds at_most;
  std::string_view seconds;  // as it is written
};

// From a round trip on one machine to a job of hours. The last one, without an end, is not here.
inline constexpr std::array buckets{
    bucket{microseconds{50}, "5e-05"},       bucket{microseconds{100}, "0.0001"},
    bucket{microseconds{250}, "0.00025"},    bucket{microseconds{500}, "0.0005"},
    bucket{milliseconds{1}, "0.001"},        bucket{microseconds{2500}, "0.0025"},
    bucket{milliseconds{5}, "0.005"},        bucket{milliseconds{10}, "0.01"},
    bucket{milliseconds{25}, "0.025"},       bucket{milliseconds{50}, "0.05"},
    bucket{milliseconds{100}, "0.1"},        bucket{milliseconds{250}, "0.25"},
    bucket{milliseconds{500}, "0.5"},        bucket{milliseconds{1000}, "1"},
    bucket{milliseconds{2500}, "2.5"},       bucket{milliseconds{5000}, "5"},
    bucket{milliseconds{10'000}, "10"},      bucket{milliseconds{30'000}, "30"},
    bucket{milliseconds{60'000}, "60"},      bucket{milliseconds{600'000}, "600"},
    bucket{milliseconds{3'600'000}, "3600"},
};

// Thread safety: all members from any thread. A reader may see a value that is counted in its
// bucket and not in the sum yet.
class histogram {
 public:
  void count(nanoseconds time) noexcept {
    const auto in = std::ranges::lower_bound(buckets, time, {}, &bucket::at_most);
    counts_[static_cast<std::size_t>(in - buckets.begin())].fetch_add(1, std::memory_order_relaxed);
    const auto rounded = std::chrono::round<microseconds>(std::max(time, nanoseconds{0}));
    sum_.fetch_add(rounded.count(), std::memory_order_relaxed);
  }
  // Of one bucket alone; the last one is that without an end.
  std::uint64_t in(std::size_t which) const noexcept {
    return counts_[which].load(std::memory_order_relaxed);
  }
  bool is_empty() const noexcept {
    return std::ranges::all_of(counts_, [](const auto& one) { return one.load() == 0; });
  }
  microseconds sum() const noexcept { return microseconds{sum_.load(std::memory_order_relaxed)}; }

 private:
  std::array<std::atomic<std::uint64_t>, buckets.size() + 1> counts_{};
  // In microseconds: in nanoseconds a thousand locks that are always held would fill it in 107
  // days.
  std::atomic<std::int64_t> sum_{0};
};

}  // namespace holdfast::metering
