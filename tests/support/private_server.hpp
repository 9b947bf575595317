// A real server of one test's own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "resp/value.hpp"

namespace holdfast::support {

struct server_settings {
  std::string program{};                   // empty: whichever server is installed
  bool tcp = false;                        // also listen on a free port of 127.0.0.1
  std::vector<std::string> arguments{};    // {"--maxmemory", "1mb"}
  std::vector<std::string> environment{};  // {"LD_PRELOAD=..."}, beside what this process has
};

// Listens on a unix socket in a directory of its own, without persistence; ends with this object
// and with this process. Its log is printed when the current test has failed. Throws what is wrong
// when it does not start.
class private_server {
 public:
  explicit private_server(const server_settings& settings = {});
  ~private_server();
  private_server(private_server&&) noexcept;
  private_server& operator=(private_server&&) noexcept;

  const std::string& url() const;  // unix:///...
  std::string tcp_url() const;     // redis://127.0.0.1:port; only with settings.tcp
  std::uint16_t port() const;      // only with settings.tcp
  std::string socket() const;      // path
  int pid() const;
  std::string log() const;

  void freeze();   // SIGSTOP: accepts connections and answers nothing
  void thaw();     // SIGCONT
  void kill9();    // as a crash; waits until it is gone
  void restart();  // ends it in whatever state it is; starts it empty at the same addresses

  // One command over a connection of its own. An error reply is returned like any other.
  resp::value command(const std::vector<std::string>& words) const;

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace holdfast::support
