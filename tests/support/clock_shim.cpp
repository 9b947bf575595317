#include "support/clock_shim.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "net/descriptor.hpp"

namespace holdfast::support {

clock_shim::clock_shim() : file_((directory_.path() / "offset").string()) {
  const net::descriptor fd(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const bool sized = fd && ::ftruncate(fd.get(), sizeof *offset_) == 0;
  void* mapped =
      sized ? ::mmap(nullptr, sizeof *offset_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0)
            : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "clock shim");
  }
  offset_ = new (mapped) std::atomic<std::int64_t>(0);
}

clock_shim::~clock_shim() { ::munmap(offset_, sizeof *offset_); }

std::vector<std::string> clock_shim::environment() const {
  return {"LD_PRELOAD=" HOLDFAST_CLOCK_SHIM_LIBRARY, "HOLDFAST_CLOCK_SHIM=" + file_};
}

void clock_shim::set(nanoseconds ahead) noexcept { offset_->store(ahead.count()); }

}  // namespace holdfast::support
