#include "redis/connection/password_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/printable.hpp"
#include "net/descriptor.hpp"

namespace holdfast::redis {

namespace {

constexpr std::size_t longest_password = 64UL * 1024;  // whatever file was named by mistake

std::string trouble_with(const std::string& path) {
  struct stat what {};
  const auto why = ::stat(path.c_str(), &what) == 0 ? why_not_trusted(what) : std::string{};
  return why.empty()
             ? "cannot be read, is no regular file, or its first line is empty or far too long"
             : why;
}

}  // namespace

// A user who can write the file chooses the password, and may learn where it is sent. Whether
// others may read it is for its owner to decide: secrets that are mounted into containers often are
// readable.
std::string why_not_trusted(const struct stat& what) {
  if (!S_ISREG(what.st_mode)) return {};
  if (what.st_uid != ::geteuid() && what.st_uid != 0) return "belongs to another user";
  if ((what.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "can be written by other users; take that right away (chmod go-w)";
  }
  return {};
}

std::optional<std::string> first_line(const std::string& path) {
  // A FIFO that nobody writes to would hold up the log-in, and the end of the client, for ever.
  const net::descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat what {};
  if (!file || ::fstat(file.get(), &what) != 0 || !S_ISREG(what.st_mode)) return std::nullopt;
  if (!why_not_trusted(what).empty()) return std::nullopt;
  std::string line;
  std::array<char, 512> some{};
  for (ssize_t got = 0; (got = ::read(file.get(), some.data(), some.size())) > 0;) {
    const std::string_view read(some.data(), static_cast<std::size_t>(got));
    const auto end = read.find('\n');
    line += read.substr(0, end);
    if (end != read.npos) break;
    if (line.size() > longest_password) return std::nullopt;
  }
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) return std::nullopt;
  return line;
}

std::optional<breakdown> read_password(credentials& login) {
  if (login.password_file.empty()) return std::nullopt;
  if (auto password = first_line(login.password_file)) {
    login.password = *std::move(password);
    return std::nullopt;
  }
  return breakdown{errc::authentication, "the password file " + printable(login.password_file) +
                                             " " + trouble_with(login.password_file)};
}

}  // namespace holdfast::redis
