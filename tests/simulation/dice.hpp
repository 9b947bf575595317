// All that is random in a run, from its seed: the same on every machine (splitmix64).
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace holdfast::simulation {

class dice {
 public:
  explicit dice(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t roll() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t up_to(std::uint64_t most) noexcept { return roll() % (most + 1); }
  bool chance(std::uint64_t percent) noexcept { return roll() % 100 < percent; }
  nanoseconds time_up_to(nanoseconds most) noexcept {
    return nanoseconds(up_to(static_cast<std::uint64_t>(most.count())));
  }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::simulation
