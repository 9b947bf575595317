#include "net/clock.hpp"

#include <ctime>

namespace holdfast::net {

monotonic_time now() noexcept {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return monotonic_time{std::chrono::seconds{t.tv_sec} + nanoseconds{t.tv_nsec}};
}

}  // namespace holdfast::net
