// The server behind `embedded:/path/to/directory`, shared by all processes of a user that name it.
#pragma once

#include <filesystem>
#include <memory>

namespace holdfast::embedded {

// A use of the server. The first user starts it; when the last is gone, by whatever end, it lives
// on for HOLDFAST_EMBEDDED_LINGER milliseconds (30,000 when not set in the starter's environment).
// It keeps nothing on disk.
// In the directory: server.sock, server.log, `lock` (flock: the process that holds it may start or
// end the server) and `users` (a FIFO that every user holds open for writing).
class shared_embedded_server {
 public:
  // Throws failure{errc::embedded_server}.
  static shared_embedded_server join(const std::filesystem::path& directory);

  shared_embedded_server(shared_embedded_server&&) noexcept;
  shared_embedded_server& operator=(shared_embedded_server&&) noexcept;
  ~shared_embedded_server();

  const std::filesystem::path& socket() const noexcept;
  // As above, for this process, while this object lives, even if the path comes to name another
  // file.
  std::filesystem::path endpoint() const;

 private:
  class use;
  explicit shared_embedded_server(std::unique_ptr<use> joined);
  std::unique_ptr<use> use_;
};

}  // namespace holdfast::embedded
