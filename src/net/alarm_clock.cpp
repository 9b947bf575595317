#include "net/alarm_clock.hpp"

#include <sys/timerfd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::net {

alarm_clock::alarm_clock() : timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!timer_) throw std::system_error(errno, std::generic_category(), "timerfd");
}

void alarm_clock::set(monotonic_time when) noexcept {
  const auto since_boot = when.time_since_epoch().count();
  ::itimerspec at{};
  at.it_value = {since_boot / 1'000'000'000, since_boot % 1'000'000'000};
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
}

void alarm_clock::clear() noexcept {
  const ::itimerspec never{};
  ::timerfd_settime(timer_.get(), 0, &never, nullptr);
}

}  // namespace holdfast::net
