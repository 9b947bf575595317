#include "net/clock.hpp"

#include <ctime>

namespace holdfast::net {

namespace {

nanoseconds read(clockid_t which) noexcept {
  timespec t{};
  clock_gettime(which, &t);
  return std::chrono::seconds{t.tv_sec} + nanoseconds{t.tv_nsec};
}

}  // namespace

monotonic_time now() noexcept { return monotonic_time{read(CLOCK_BOOTTIME)}; }

nanoseconds wall_time() noexcept { return read(CLOCK_REALTIME); }

}  // namespace holdfast::net
