// Directories that only this user can enter.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace holdfast::embedded {

// A new directory under XDG_RUNTIME_DIR, TMPDIR or /tmp, removed with this object; a forked child's
// copy removes nothing. Throws failure{errc::embedded_server}.
class private_directory {
 public:
  private_directory();
  ~private_directory();
  private_directory(const private_directory&) = delete;
  private_directory& operator=(const private_directory&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  std::uint64_t generation_;
};

// What is made first in a directory that processes share.
inline constexpr const char* shared_lock = "lock";

// Creates the directory, or checks that an existing one belongs to this user, is closed to others
// and is used for nothing else. Throws failure{errc::embedded_server}.
void prepare_shared_directory(const std::filesystem::path& directory);

// The server's socket in a directory. Throws failure{errc::embedded_server} when the path is longer
// than the system's socket addresses.
std::filesystem::path socket_in(const std::filesystem::path& directory);

}  // namespace holdfast::embedded
