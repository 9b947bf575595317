// Growing pauses between tries, with jitter. A value: its state is in it, no global generator.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace holdfast::leasing {

// The first and the longest pause.
struct pauses {
  short_milliseconds first;
  short_milliseconds longest;
  friend bool operator==(const pauses&, const pauses&) = default;
};

// When the server cannot be reached: for requests that are tried again and for reconnecting.
inline constexpr pauses while_unreachable{milliseconds(10), milliseconds(500)};

// When somebody else holds the lock: for requests that stand in no queue.
inline constexpr pauses while_busy{milliseconds(2), milliseconds(64)};

class back_off {
 public:
  explicit constexpr back_off(std::uint64_t seed) noexcept : random_(seed) {}

  // The next pause: doubles from the first to the longest. Between half and the whole of that, so
  // that clients which failed together do not come back together.
  constexpr nanoseconds next(const pauses& bounds) noexcept {
    const nanoseconds whole =
        std::min<nanoseconds>(bounds.first * (std::int64_t{1} << doublings_), bounds.longest);
    if (whole < bounds.longest) ++doublings_;
    return whole - up_to(whole / 2);
  }

  // Evenly distributed over [0, most].
  constexpr nanoseconds up_to(nanoseconds most) noexcept {
    return nanoseconds(draw() % (static_cast<std::uint64_t>(most.count()) + 1));
  }

  // The next pause is a first one again.
  constexpr void reset() noexcept { doublings_ = 0; }

  friend bool operator==(const back_off&, const back_off&) = default;

 private:
  // splitmix64: short, and good from any seed, also from 0, 1, 2.
  constexpr std::uint64_t draw() noexcept {
    std::uint64_t z = random_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t random_;
  std::uint32_t doublings_ = 0;
};

}  // namespace holdfast::leasing
