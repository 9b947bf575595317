#include "net/resolve.hpp"

#include <poll.h>

#include <mutex>
#include <system_error>
#include <utility>

#include "net/quiet_thread.hpp"

namespace holdfast::net {
namespace {

// Shared by the asking thread and the looking-up thread; whoever ends last frees it.
struct look_up {
  std::string host;
  std::string port;
  wake_up done;
  std::mutex guard;
  resolved found;

  void run() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* list = nullptr;
    const int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
    {
      const std::lock_guard lock(guard);
      found.addresses.reset(code == 0 ? list : nullptr);
      if (code != 0)
        found.problem = "the host name '" + host + "' is unknown: " + gai_strerror(code);
    }
    done.signal();
  }
};

// Numeric addresses need no look-up and no thread.
address_list numeric(const tcp_endpoint& where) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const auto port = std::to_string(where.port);
  return address_list{getaddrinfo(where.host.c_str(), port.c_str(), &hints, &list) == 0 ? list
                                                                                        : nullptr};
}

resolved look_up_aside(const tcp_endpoint& where, const connect_limits& limits) {
  auto job = std::make_shared<look_up>();
  job->host = where.host;
  job->port = std::to_string(where.port);
  quiet_thread("holdfast-dns", [job] { job->run(); }).detach();
  if (!wait_ready(job->done.fd(), POLLIN, limits)) {
    return {nullptr, "looking up the host name '" + where.host + "' took too long"};
  }
  const std::lock_guard lock(job->guard);
  return std::move(job->found);
}

}  // namespace

resolved resolve(const tcp_endpoint& where, const connect_limits& limits) {
  if (auto list = numeric(where)) return {std::move(list), {}};
  try {
    return look_up_aside(where, limits);
  } catch (const std::system_error& none_left) {
    return {nullptr, "the host name '" + where.host +
                         "' cannot be looked up: " + none_left.code().message()};
  }
}

}  // namespace holdfast::net
