#include "net/wake_up.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/uncancelled.hpp"

namespace holdfast::net {

wake_up::wake_up() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void wake_up::signal() noexcept {
  const uncancelled meanwhile;
  const std::uint64_t one = 1;
  // A full counter is already readable, so the only failure that can happen does not matter.
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

void wake_up::clear() noexcept {
  const uncancelled meanwhile;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(event_.get(), &count, sizeof count);
}

}  // namespace holdfast::net
