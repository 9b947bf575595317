// The counts for locks of one kind and label.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <holdfast/observer.hpp>

#include "metrics/histogram.hpp"

namespace holdfast::metering {

// How a call that wanted a lock has ended. `errors` has the reasons.
inline constexpr std::array<std::string_view, 5> outcomes{"granted", "busy", "timed_out",
                                                          "cancelled", "failed"};

// One for each errc; the first is for exceptions without one, and for values that are not known
// here.
inline constexpr std::size_t error_kinds = static_cast<std::size_t>(errc::has_run) + 1;

// Thread safety: all members from any thread.
struct series {
  std::array<histogram, outcomes.size()> acquire{};
  histogram wait{}, hold{}, lateness{};
  std::atomic<std::uint64_t> losses{0};
  std::array<std::atomic<std::uint64_t>, error_kinds> errors{};
  std::atomic<std::int64_t> waiters{0}, held{0};

  // Counts events of locks, not those of connections.
  void count(const event& what) noexcept;

 private:
  void answered(const event& what, std::size_t outcome) noexcept;
  void ended(const event& what) noexcept;
  void failed(std::optional<errc> why) noexcept;
};

}  // namespace holdfast::metering
