// Rung on one thread, heard by another one's poll().
#pragma once

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

#include "cli/descriptor.hpp"

namespace holdfast::cli {

class bell {
 public:
  // Throws `std::system_error` when there are no descriptors left.
  bell() {
    if (fd_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  int fd() const noexcept { return fd_.get(); }
  void ring() const noexcept { ::eventfd_write(fd_.get(), 1); }
  // Since it was asked last.
  bool was_rung() const noexcept {
    eventfd_t rung = 0;
    return ::eventfd_read(fd_.get(), &rung) == 0;
  }

 private:
  const descriptor fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

}  // namespace holdfast::cli
