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
  const auto& host = where.at.empty() ? where.host : where.at;
  return address_list{getaddrinfo(host.c_str(), port.c_str(), &hints, &list) == 0 ? list : nullptr};
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

std::string take_apart(const tcp_endpoint& where, const connect_limits& limits,
                       std::vector<endpoint>& into) {
  const auto found = resolve(where, limits);
  for (const addrinfo* a = found.addresses.get(); a != nullptr; a = a->ai_next) {
    char number[NI_MAXHOST];
    const int code =
        getnameinfo(a->ai_addr, a->ai_addrlen, number, sizeof number, nullptr, 0, NI_NUMERICHOST);
    if (code == 0) into.emplace_back(tcp_endpoint{where.host, where.port, number});
  }
  if (into.size() == 1) into.front() = where;
  return found.problem;
}

}  // namespace holdfast::net
