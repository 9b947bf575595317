// Interrupts a thread that is asleep in poll().
#pragma once

#include "net/descriptor.hpp"

namespace holdfast::net {

// An eventfd. Thread safety: all members from any thread.
class wake_up {
 public:
  wake_up();  // throws std::system_error when the process has no descriptors left

  int fd() const noexcept { return event_.get(); }
  void signal() noexcept;
  void clear() noexcept;

 private:
  descriptor event_;
};

}  // namespace holdfast::net
