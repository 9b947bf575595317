#include "support/server.hpp"

#include <arpa/inet.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "net/descriptor.hpp"
#include "support/loopback.hpp"

namespace holdfast::bench {
namespace {

std::filesystem::path program;

cpu_set_t only(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return set;
}

// Those that we may use, since the system leaves out the others.
cpu_set_t all_cores() {
  cpu_set_t set;
  std::memset(&set, 0xff, sizeof set);
  return set;
}

void bind_process(::pid_t process, const cpu_set_t& cores) {
  const auto tasks =
      std::filesystem::path("/proc") / (process == 0 ? "self" : std::to_string(process)) / "task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    const auto thread = static_cast<::pid_t>(std::stol(task.path().filename().string()));
    if (::sched_setaffinity(thread, sizeof cores, &cores) != 0 && errno != ESRCH) {
      throw_errno("sched_setaffinity");
    }
  }
}

embedded_options with_ports(std::uint16_t port, std::uint16_t tls_port,
                            const std::optional<server_certificate>& tls,
                            const std::vector<std::string>& more) {
  embedded_options all{.program = program,
                       .arguments = {"--port", std::to_string(port), "--bind", "127.0.0.1"}};
  if (tls) {
    all.arguments.insert(
        all.arguments.end(),
        {"--tls-port", std::to_string(tls_port), "--tls-cert-file", tls->file, "--tls-key-file",
         tls->key, "--tls-ca-cert-file", tls->authority, "--tls-auth-clients", "no"});
  }
  all.arguments.insert(all.arguments.end(), more.begin(), more.end());
  return all;
}

}  // namespace

void measure_on(std::filesystem::path wanted) { program = std::move(wanted); }
const std::filesystem::path& measured_program() { return program; }

std::uint16_t free_port() {
  const net::descriptor probe{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  ::sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<::sockaddr*>(&address);
  if (::bind(probe.get(), generic, size) != 0 || ::getsockname(probe.get(), generic, &size) != 0) {
    throw_errno("bind");
  }
  return ntohs(address.sin_port);
}

void pin(::pid_t process, int core) { bind_process(process, only(core)); }

void pin_thread(int core) {
  const auto set = only(core);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) throw_errno("sched_setaffinity");
}

const char* to_string(placement where) {
  switch (where) {
    case placement::same_core:
      return "same_core";
    case placement::two_cores:
      return "two_cores";
    case placement::free:
      return "free";
  }
  return "unknown";
}

std::chrono::nanoseconds processor_time_of(::pid_t process) {
  std::chrono::nanoseconds all{0};
  const auto tasks = std::filesystem::path("/proc") / std::to_string(process) / "task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::int64_t ran = 0;  // the first field; /proc/PID/stat counts in hundredths of a second
    const auto file = task.path() / "schedstat";
    if (!(std::ifstream{file} >> ran)) throw std::runtime_error("cannot read " + file.string());
    all += std::chrono::nanoseconds(ran);
  }
  return all;
}

server::server(const std::optional<server_certificate>& tls, const std::vector<std::string>& more)
    : port_(free_port()),
      tls_port_(tls ? free_port() : std::uint16_t{0}),
      process_(with_ports(port_, tls_port_, tls, more)),
      url_("redis://127.0.0.1:" + std::to_string(port_)) {}

void server::place(placement where) const {
  if (where == placement::free) {
    bind_process(0, all_cores());
    bind_process(pid(), all_cores());
    return;
  }
  pin(0, 0);
  pin(pid(), where == placement::same_core ? 0 : 1);
}

}  // namespace holdfast::bench
