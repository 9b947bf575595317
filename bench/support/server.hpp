// The server that is measured, and where it and its clients run.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/embedded_server.hpp>

namespace holdfast::bench {

// Binds every thread of a process (0: this one) to one core.
void pin(::pid_t process, int core);
void pin_thread(int core);  // only the calling thread

// On two cores the server has core 1 and the client core 0; on the same core both have core 0.
// Free: the scheduler places them, as it does for people who have never thought about it.
enum class placement { same_core, two_cores, free };
const char* to_string(placement where);

// Which program all servers are from now on; empty, as at first: redis-server or valkey-server,
// whichever is found. Not thread-safe.
void measure_on(std::filesystem::path program);
const std::filesystem::path& measured_program();

struct server_certificate {
  std::string file;
  std::string key;
  std::string authority;
};

// On the loopback device. Another process may take it before a server does: then the server says
// so and we end.
std::uint16_t free_port();

// The processor time that a process and its threads have used.
std::chrono::nanoseconds processor_time_of(::pid_t process);

// A private server on a free TCP port of the loopback device, and on another one with TLS.
class server {
 public:
  explicit server(const std::optional<server_certificate>& tls = std::nullopt,
                  const std::vector<std::string>& more = {});

  const std::string& url() const noexcept { return url_; }
  std::string tls_url() const { return "rediss://127.0.0.1:" + std::to_string(tls_port_); }
  std::uint16_t port() const noexcept { return port_; }
  std::uint16_t tls_port() const noexcept { return tls_port_; }
  int pid() const noexcept { return process_.pid(); }
  std::chrono::nanoseconds processor_time() const { return processor_time_of(pid()); }

  // Moves server and client. Threads that are started later run where their creator does.
  void place(placement where) const;

 private:
  std::uint16_t port_;
  std::uint16_t tls_port_;  // 0: none
  embedded_server process_;
  std::string url_;
};

}  // namespace holdfast::bench
