// The clock that also runs while the machine sleeps.
#pragma once

#include <chrono>
#include <ctime>

namespace holdfast::cli {

// Since the machine was started.
inline std::chrono::nanoseconds exact_boot_time() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

inline std::chrono::milliseconds boot_time() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(exact_boot_time());
}

}  // namespace holdfast::cli
