#include "cli/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <string_view>
#include <system_error>

#include "cli/complaint.hpp"
#include "cli/descriptor.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_bytes = 64UL * 1024;  // of whatever file was named by mistake
constexpr std::chrono::milliseconds most_until_opened = 2s;    // by the writer of a pipe
constexpr std::chrono::milliseconds most_until_written = 60s;  // each part of what it writes

class text_file {
 public:
  text_file(const std::string& path, const char* name, const char* what)
      : path_(path),
        name_(name),
        what_(what),
        // To open a FIFO that nobody writes to would otherwise take for ever.
        file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat found {};
    if (file_.get() < 0 || ::fstat(file_.get(), &found) != 0) throw unreadable();
    if (S_ISDIR(found.st_mode)) throw wrong("is a directory");
    if (!S_ISREG(found.st_mode)) return;
    if (found.st_uid != ::geteuid() && found.st_uid != 0) throw wrong("belongs to another user");
    if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      throw wrong("can be written by other users: chmod go-w it");
    }
  }

  std::string read(extent how_far) const {
    std::string text;
    std::array<char, 4096> some{};
    while (const auto got = read_some(some)) {
      const std::string_view read(some.data(), got);
      const auto end = how_far == extent::first_line ? read.find('\n') : read.npos;
      text += read.substr(0, end);
      if (text.size() > most_bytes) {
        throw wrong(fmt::format("is longer than {} KiB: name another file", most_bytes / 1024));
      }
      if (end != read.npos) break;
    }
    return text;
  }

 private:
  complaint wrong(const std::string& why) const {
    return {bad_configuration, name_, fmt::format("the {} '{}' {}", what_, path_, why)};
  }
  complaint unreadable() const {
    return wrong("cannot be read: " + std::generic_category().message(errno));
  }

  bool is_ready_within(std::chrono::milliseconds bound) const {
    pollfd readable{file_.get(), POLLIN, 0};
    return ::poll(&readable, 1, static_cast<int>(bound.count())) > 0;
  }

  // How many bytes, 0 at the end. Only a pipe is not ready at once: read() fails while its writer
  // has it open, and says 0 when no writer has.
  std::size_t read_some(std::span<char> into) const {
    for (const auto bound : {most_until_opened, most_until_written}) {
      const bool is_ready = is_ready_within(bound);
      const auto got = ::read(file_.get(), into.data(), into.size());
      if (got > 0 || (got == 0 && is_ready)) return static_cast<std::size_t>(got);
      if (got == 0) throw wrong("is a pipe that nobody writes to: start its writer first");
      if (errno != EAGAIN && errno != EINTR) throw unreadable();
    }
    throw wrong("has had nothing to read for a minute: look at what writes to it");
  }

  const std::string& path_;
  const char* const name_;
  const char* const what_;
  const descriptor file_;
};

}  // namespace

std::string read_text(const std::string& path, const char* name, const char* what, extent how_far) {
  return text_file{path, name, what}.read(how_far);
}

void refuse_if_readable_by_all(const std::string& path, const char* name, const char* what) {
  struct stat found {};
  struct statvfs mounted {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return;
  if ((found.st_mode & S_IROTH) == 0 || found.st_uid != ::geteuid()) return;
  if (::statvfs(path.c_str(), &mounted) == 0 && (mounted.f_flag & ST_RDONLY) != 0) return;
  throw complaint{bad_configuration, name,
                  fmt::format("the {} '{}' can be read by every user of this machine: chmod 600 it",
                              what, path)};
}

}  // namespace holdfast::cli
