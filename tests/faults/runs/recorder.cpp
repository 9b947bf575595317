#include "faults/runs/recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "net/clock.hpp"

namespace holdfast::faults {

history::nanoseconds time_now() { return net::now().time_since_epoch(); }

recorder::recorder(const std::string& directory)
    : file_(::open((directory + "/" + std::to_string(::getpid()) + ".events").c_str(),
                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (!file_) throw std::system_error(errno, std::generic_category(), directory);
}

void recorder::record(history::event one) {
  if (one.time == history::nanoseconds(0)) one.time = time_now();
  if (one.process == 0) one.process = ::getpid();
  const auto line = to_line(one) + "\n";
  if (::write(file_.get(), line.data(), line.size()) != ssize_t(line.size())) {
    throw std::system_error(errno, std::generic_category(), "history");
  }
}

}  // namespace holdfast::faults
