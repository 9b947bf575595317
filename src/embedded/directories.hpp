// Directories that only this user can enter.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "embedded/own_directory.hpp"
#include "net/descriptor.hpp"

namespace holdfast::embedded {

// A new directory under XDG_RUNTIME_DIR (if that is this user's), TMPDIR or /tmp, removed with this
// object; a forked child's copy removes nothing. Throws failure{errc::embedded_server}, also where
// another user could put something else in its place.
class private_directory {
 public:
  private_directory();
  ~private_directory();
  private_directory(const private_directory&) = delete;
  private_directory& operator=(const private_directory&) = delete;

  const std::filesystem::path& path() const noexcept { return opened_->path(); }
  const std::shared_ptr<const own_directory>& opened() const noexcept { return opened_; }

 private:
  net::descriptor parent_;
  std::shared_ptr<const own_directory> opened_;
  std::uint64_t generation_;
};

// The first file that is made in a directory that processes share.
inline constexpr const char* shared_lock = "lock";

// Creates the directory, or checks that an existing one belongs to this user, is closed to others
// and is used for nothing else. Throws failure{errc::embedded_server}.
std::shared_ptr<const own_directory> prepare_shared_directory(
    const std::filesystem::path& directory);

inline constexpr const char* socket_name = "server.sock";
inline constexpr const char* log_name = "server.log";

// The server's socket in a directory. Throws failure{errc::embedded_server} when the path is longer
// than the system's socket addresses.
std::filesystem::path socket_in(const std::filesystem::path& directory);

}  // namespace holdfast::embedded
