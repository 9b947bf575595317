// An embedded server as its owner sees it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "embedded/own_directory.hpp"
#include "embedded/supervisor.hpp"
#include "net/descriptor.hpp"

namespace holdfast::embedded {

struct server_order {
  std::filesystem::path program;  // absolute
  std::shared_ptr<const own_directory> directory;
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};  // "NAME=value", beside what this process has
  milliseconds start_timeout{10'000};
};

// Whether anything answers PING at a socket, be it with a refusal, before the deadline.
bool answers(const std::filesystem::path& socket, monotonic_time deadline);

// Owns a running server, through a supervisor that ends it with this object or this process. A
// forked child's copy does nothing. Problems are thrown as failure{errc::embedded_server}.
class server_process {
 public:
  // Starts it. With `shared` the server does not end with this object but by its lack of users.
  explicit server_process(server_order order, const shared_use* shared = nullptr);
  ~server_process();
  server_process(const server_process&) = delete;
  server_process& operator=(const server_process&) = delete;

  void await_answer();  // returns when the server answers

  pid_t pid() const noexcept { return pid_; }
  const std::filesystem::path& socket() const noexcept { return socket_; }
  // As above, for this process, even if the path comes to name another file.
  std::filesystem::path socket_by_descriptor() const;

  // Kills it as a crash would and starts it again; returns when it answers.
  void restart();

 private:
  void launch(const shared_use* shared);
  std::optional<report> next_report(monotonic_time until);
  void heed(const report& news);
  [[noreturn]] void give_up(const std::string& what) const;
  std::filesystem::path log() const;

  server_order order_;
  std::filesystem::path socket_;
  std::uint64_t generation_;
  net::descriptor control_;
  pid_t supervisor_ = 0;  // 0: not our child
  pid_t pid_ = 0;
};

}  // namespace holdfast::embedded
