// By how much clocks may disagree over a span of time, in millionths of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace holdfast::leasing {

// Covers errors that this machine cannot see: two crystals, and a server whose clock is being
// corrected.
inline constexpr std::int64_t usual_rate_allowance = 10'000;

// A correction of this size makes up for a crystal, as a rule. One that is larger makes up for an
// offset: the clock is wrong while that goes on.
inline constexpr std::int64_t usual_correction = 500;

// The allowance on a machine whose kernel corrects the clock by `correction` millionths. The
// correction counts either way: a slow clock believes a lease for too long, and a fast one believes
// too early that nothing more is executed.
constexpr std::int64_t rate_allowance_for(std::int64_t correction) noexcept {
  const std::int64_t size = correction < 0 ? -correction : correction;
  return usual_rate_allowance + std::max<std::int64_t>(0, size - usual_correction);
}

// The allowance of this machine, as it was set last. There is one for a process, since there is one
// clock.
inline std::atomic<std::int64_t>& rate_allowance() noexcept {
  static constinit std::atomic<std::int64_t> millionths{usual_rate_allowance};
  return millionths;
}

}  // namespace holdfast::leasing
