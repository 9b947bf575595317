// The server that is measured, and where it and its clients run.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include <holdfast/embedded_server.hpp>

namespace holdfast::bench {

// Binds every thread of a process (0: this one) to one core.
void pin(::pid_t process, int core);
void pin_thread(int core);  // only the calling thread

// On two cores the server has core 1 and the client core 0; on the same core both have core 0.
// Free: the scheduler places them, as it does for people who have never thought about it.
enum class placement { same_core, two_cores, free };
const char* to_string(placement where);

// A private server on a free TCP port of the loopback device.
class server {
 public:
  server();

  const std::string& url() const noexcept { return url_; }
  std::uint16_t port() const noexcept { return port_; }
  int pid() const noexcept { return process_.pid(); }
  std::chrono::nanoseconds processor_time() const;

  // Moves server and client. Threads that are started later run where their creator does.
  void place(placement where) const;

 private:
  std::uint16_t port_;
  embedded_server process_;
  std::string url_;
};

}  // namespace holdfast::bench
