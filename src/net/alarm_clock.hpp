// Interrupts a thread that is asleep in poll(), at a time that another thread chooses.
#pragma once

#include "base/time.hpp"
#include "net/descriptor.hpp"

namespace holdfast::net {

// A timerfd. Thread safety: all members from any thread, but the last set() counts.
class alarm_clock {
 public:
  alarm_clock();  // throws std::system_error when the process has no descriptors left

  int fd() const noexcept { return timer_.get(); }
  void set(monotonic_time when) noexcept;  // at once if that has passed
  void clear() noexcept;                   // none is set any more

 private:
  descriptor timer_;
};

}  // namespace holdfast::net
