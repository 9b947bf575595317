/// \file
/// A private redis-server or valkey-server, for tests, demos and single machines.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/detail/export.hpp>

namespace holdfast {

/// How an `embedded_server` is started.
struct embedded_options {
  /// The server program. Empty: `redis-server` or `valkey-server`, whichever is found in PATH, or
  /// else in /usr/bin, /usr/local/bin or /usr/sbin.
  std::filesystem::path program{};

  /// Further arguments for the server, for example `{"--maxmemory", "10mb"}`.
  std::vector<std::string> arguments{};

  /// How long the server may take until it answers: 1 ms to 10 min.
  std::chrono::milliseconds start_timeout{10'000};
};

/// A server of one's own: on a unix socket in a new directory that only this user can enter, with
/// no TCP port and no persistence. It ends with this object, and also when this process is killed.
///
/// A server object that was moved away may only be assigned to or destroyed.
///
/// Thread safety: const members may be called from any thread. After fork() the child's copy does
/// nothing.
class HOLDFAST_EXPORT embedded_server {
 public:
  /// Starts it and waits until it answers.
  /// Throws `failure`: `embedded_server` (if no server program is installed, its message names the
  /// package); `invalid_argument`.
  embedded_server();
  explicit embedded_server(const embedded_options& options);
  ~embedded_server();                           ///< Ends the server, and removes its directory.
  embedded_server(embedded_server&&) noexcept;  ///< Takes the server over. It goes on running.
  /// Ends the server that was here before.
  embedded_server& operator=(embedded_server&&) noexcept;

  /// The URL for `client`: `unix:///.../server.sock`.
  [[nodiscard]] const std::string& url() const noexcept;
  /// The unix socket at which it answers.
  [[nodiscard]] const std::filesystem::path& socket() const noexcept;
  /// The directory that was made for it.
  [[nodiscard]] const std::filesystem::path& directory() const noexcept;

  /// The server's process id, for tests that stop or kill it.
  [[nodiscard]] int pid() const noexcept;

  /// Kills the server as a crash would, and starts it again empty at the same address.
  /// Throws `failure`: `embedded_server` when it does not answer in time, `forked` in the child of
  /// a fork.
  void restart_empty();

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace holdfast
