#include "support/listener.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace holdfast::support {

std::uint16_t bind_on_loopback(net::descriptor& into, std::uint16_t port, const std::string& host) {
  into.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  ::setsockopt(into.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(into.get(), generic, size) != 0 || ::getsockname(into.get(), generic, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "a port of " + host);
  }
  return ntohs(address.sin_port);
}

std::uint16_t listen_on_loopback(net::descriptor& into, std::uint16_t port,
                                 const std::string& host) {
  port = bind_on_loopback(into, port, host);
  if (::listen(into.get(), 128) == 0) return port;
  throw std::system_error(errno, std::generic_category(), "listening on " + host);
}

int accept_from(const net::descriptor& listener) noexcept {
  const int fd = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  const int on = 1;
  if (fd >= 0) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

std::uint16_t free_port() {
  constexpr unsigned first = 10000, count = 22000;
  static std::atomic<unsigned> next{static_cast<unsigned>(::getpid()) * 1009};
  for (unsigned tried = 1;; ++tried) {
    try {
      net::descriptor listener;
      return listen_on_loopback(listener, static_cast<std::uint16_t>(first + next++ % count));
    } catch (const std::system_error&) {
      if (tried == count) throw;
    }
  }
}

}  // namespace holdfast::support
