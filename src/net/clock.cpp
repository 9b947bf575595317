#include "net/clock.hpp"

#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
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

monotonic_time end_of_wait(milliseconds timeout) noexcept {
  return timeout < longest_wait ? now() + timeout : monotonic_time::max();
}

std::int64_t clock_correction() noexcept {
  timex said{};  // asks, and needs no right for that
  return ::adjtimex(&said) < 0 ? 0 : correction_of(said);
}

std::int64_t correction_of(const timex& said) noexcept {
  // The length of a tick in microseconds, of which there are USER_HZ in a second.
  const std::int64_t by_tick = said.tick == 0 ? 0 : said.tick * ::sysconf(_SC_CLK_TCK) - 1'000'000;
  const std::int64_t by_frequency = said.freq / 65'536;
  // Of an offset that the kernel works off by itself, the part that falls into this second.
  std::int64_t by_offset = 0;
  if ((said.status & STA_PLL) != 0) {
    const std::int64_t in_us = (said.status & STA_NANO) != 0 ? said.offset / 1000 : said.offset;
    by_offset = in_us / (std::int64_t{4} << std::clamp<long>(said.constant, 0, 20));
  }
  return by_tick + by_frequency + by_offset;
}

nanoseconds wall_time() noexcept { return read(CLOCK_REALTIME); }

}  // namespace holdfast::net
