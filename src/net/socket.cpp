#include "net/socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "net/clock.hpp"
#include "net/resolve.hpp"

namespace holdfast::net {
namespace {

std::string system_message(int code) { return std::generic_category().message(code); }

template <typename Value>
void set_option(int fd, int level, int name, const Value& value) noexcept {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

// A connection from an address to itself.
bool is_within_machine(int fd) noexcept {
  union {
    ::sockaddr any;
    ::sockaddr_in four;
    ::sockaddr_in6 six;
  } ours{}, theirs{};
  ::socklen_t size = sizeof ours;
  if (::getsockname(fd, &ours.any, &size) != 0) return false;
  size = sizeof theirs;
  if (::getpeername(fd, &theirs.any, &size) != 0) return false;
  if (ours.any.sa_family == AF_INET) {
    return ours.four.sin_addr.s_addr == theirs.four.sin_addr.s_addr;
  }
  return ours.any.sa_family == AF_INET6 &&
         IN6_ARE_ADDR_EQUAL(&ours.six.sin6_addr, &theirs.six.sin6_addr);
}

// A peer that vanished without a word is noticed by the kernel too: unanswered data after
// `user_timeout`, an idle connection by keep-alive probes.
void tune_tcp(int fd, milliseconds user_timeout) noexcept {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<unsigned>(user_timeout.count()));
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

// Connects one socket to one address; returns the errno, 0 when connected.
int connect_to(const sockaddr* address, socklen_t size, const connect_limits& limits,
               descriptor& into) {
  into.reset(::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!into) return errno;
  if (address->sa_family != AF_UNIX) tune_tcp(into.get(), limits.user_timeout);
  if (::connect(into.get(), address, size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_ready(into.get(), POLLOUT, limits)) return ETIMEDOUT;
  int code = 0;
  socklen_t code_size = sizeof code;
  if (::getsockopt(into.get(), SOL_SOCKET, SO_ERROR, &code, &code_size) != 0) return errno;
  return code;
}

std::string connect_unix(const unix_endpoint& where, const connect_limits& limits,
                         descriptor& into) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& path = where.opened.empty() ? where.path : where.opened;
  if (path.size() >= sizeof address.sun_path) {
    return "the socket path '" + where.path + "' is longer than the system allows (107 bytes)";
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  int code = connect_to(generic, sizeof address, limits, into);
  // A unix socket whose backlog is full refuses at once instead of letting us wait.
  while (code == EAGAIN && now() < limits.deadline) {
    const connect_limits pause{
        std::min(limits.deadline, now() + milliseconds{2}), {}, limits.cancel};
    wait_ready(-1, 0, pause);
    if (now() < pause.deadline) break;  // cancelled
    code = connect_to(generic, sizeof address, limits, into);
  }
  if (code == 0) return {};
  return "cannot connect to the socket " + where.path + ": " + system_message(code);
}

std::string connect_tcp(const tcp_endpoint& where, const connect_limits& limits, descriptor& into) {
  auto found = resolve(where, limits);
  if (!found.addresses) return found.problem;
  const int code = connect_to_first(found.addresses.get(), limits, into);
  if (code == 0) return {};
  const auto which = where.at.empty() ? "" : " at " + where.at;
  return "cannot connect to " + to_string(endpoint{where}) + which + ": " + system_message(code);
}

}  // namespace

std::string to_string(const endpoint& where) {
  if (const auto* socket = std::get_if<unix_endpoint>(&where)) return socket->path;
  const auto& tcp = std::get<tcp_endpoint>(where);
  const bool ipv6 = tcp.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + tcp.host + "]" : tcp.host) + ":" + std::to_string(tcp.port);
}

std::string connect(const endpoint& where, const connect_limits& limits, descriptor& into) {
  auto problem = std::holds_alternative<unix_endpoint>(where)
                     ? connect_unix(std::get<unix_endpoint>(where), limits, into)
                     : connect_tcp(std::get<tcp_endpoint>(where), limits, into);
  if (!problem.empty()) into.reset();
  return problem;
}

int connect_to_first(const addrinfo* of, const connect_limits& limits, descriptor& into) {
  int left = 0;
  for (const addrinfo* a = of; a != nullptr; a = a->ai_next) ++left;
  int code = EADDRNOTAVAIL;
  for (const addrinfo* a = of; a != nullptr; a = a->ai_next, --left) {
    const auto started = now();
    const auto part = (limits.deadline - started) / left;
    code = connect_to(a->ai_addr, a->ai_addrlen,
                      {started + part, limits.user_timeout, limits.cancel}, into);
    if (code == 0 || now() >= limits.deadline) break;
  }
  return code;
}

void close_hard(descriptor& socket) noexcept {
  if (socket) set_option(socket.get(), SOL_SOCKET, SO_LINGER, linger{1, 0});
  socket.reset();
}

void shut_down(const descriptor& socket) noexcept {
  if (socket) ::shutdown(socket.get(), SHUT_RDWR);
}

void block_at_most(const descriptor& socket, milliseconds limit) noexcept {
  const ::timeval timeout{limit.count() / 1000, limit.count() % 1000 * 1000};
  set_option(socket.get(), SOL_SOCKET, SO_RCVTIMEO, timeout);
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK);
}

bool comes_from_this_core(const descriptor& socket) noexcept {
  int core = -1;
  ::socklen_t size = sizeof core;
  const int got = ::getsockopt(socket.get(), SOL_SOCKET, SO_INCOMING_CPU, &core, &size);
  return got == 0 && core == ::sched_getcpu() && is_within_machine(socket.get());
}

bool wait_ready(int fd, short events, const connect_limits& limits) {
  for (;;) {
    const auto left = limits.deadline - now();
    if (left <= nanoseconds{0}) return false;
    pollfd polled[2] = {{fd, events, 0}, {limits.cancel ? limits.cancel->fd() : -1, POLLIN, 0}};
    const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    const int ready = ::ppoll(polled, 2, &timeout, nullptr);
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0 && polled[1].revents != 0) return false;
    if (ready > 0) return true;
  }
}

bool is_over(const connect_limits& limits) {
  if (now() >= limits.deadline) return true;
  pollfd polled{limits.cancel != nullptr ? limits.cancel->fd() : -1, POLLIN, 0};
  return limits.cancel != nullptr && ::poll(&polled, 1, 0) > 0;
}

}  // namespace holdfast::net
