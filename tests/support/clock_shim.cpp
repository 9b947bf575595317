#include "support/clock_shim.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <system_error>

#include "net/descriptor.hpp"
#include "support/eventually.hpp"

namespace holdfast::support {

clock_shim::clock_shim() : file_((directory_.path() / "shown").string()) {
  const net::descriptor fd(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const bool sized = fd && ::ftruncate(fd.get(), sizeof *shown_) == 0;
  void* mapped =
      sized ? ::mmap(nullptr, sizeof *shown_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0)
            : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "clock shim");
  }
  shown_ = new (mapped) shown;
}

clock_shim::~clock_shim() { ::munmap(shown_, sizeof *shown_); }

std::vector<std::string> clock_shim::environment() const {
  return {"LD_PRELOAD=" HOLDFAST_CLOCK_SHIM_LIBRARY, "HOLDFAST_CLOCK_SHIM=" + file_};
}

void clock_shim::set(nanoseconds ahead) noexcept {
  shown_->ahead = ahead.count();
  shown_->stopped_at = 0;
}

void clock_shim::set(nanoseconds ahead, const private_server& server) {
  const auto seconds = [&server] { return std::stoll(server.command({"TIME"}).items.at(0).text); };
  const auto before = seconds();
  const auto step = (ahead.count() - shown_->ahead) / 1'000'000'000;
  set(ahead);
  // A test may take some seconds on a busy machine, but no clock is set by so few.
  if (!eventually([&] { return std::abs(seconds() - before - step) < std::abs(step) / 2 + 1; })) {
    throw std::runtime_error("clock shim: the server does not notice that its clock was set");
  }
}

void clock_shim::stop_at(nanoseconds wall_time) noexcept { shown_->stopped_at = wall_time.count(); }

}  // namespace holdfast::support
