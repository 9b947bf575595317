#include "cli/http/listener.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/complaint.hpp"

namespace holdfast::cli::http {
namespace {

using addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

[[noreturn]] void refuse(const listen_address& at, const std::string& why, const char* advice) {
  throw complaint{bad_configuration, "cannot_listen",
                  fmt::format("cannot listen at {}:{}: {}{}", at.host, at.port, why, advice)};
}

addresses look_up(const listen_address& at) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const auto* const host = at.host == "*" ? nullptr : at.host.c_str();
  const int failed = ::getaddrinfo(host, std::to_string(at.port).c_str(), &wanted, &found);
  if (failed != 0) refuse(at, ::gai_strerror(failed), "; give an address of this machine");
  return {found, &::freeaddrinfo};
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return port;
}

std::uint16_t port_of(const descriptor& socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&own);
  return ntohs(v6->sin6_port);  // at the same place in an address of the older kind
}

bool is_newer_kind(const addrinfo* where) { return where->ai_family == AF_INET6; }

// Of both kinds, where it listens at all addresses of the newer kind.
bool takes_older_kind(int socket, const addrinfo& where) {
  const int off = 0;
  return !is_newer_kind(&where) ||
         ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0;
}

descriptor open_at(const addrinfo& where) {
  descriptor socket(::socket(where.ai_family, where.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  constexpr int backlog = 1024;
  const bool listens = socket.get() >= 0 &&
                       ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                       takes_older_kind(socket.get(), where) &&
                       ::bind(socket.get(), where.ai_addr, where.ai_addrlen) == 0 &&
                       ::listen(socket.get(), backlog) == 0;
  if (!listens) {
    const int why = errno;
    socket.reset();
    errno = why;
  }
  return socket;
}

// "::1" of "[::1]", "name" of "name".
std::string host_in(const std::string& text) {
  if (text.starts_with('[') && text.ends_with(']')) return text.substr(1, text.size() - 2);
  return text.find(':') == text.npos ? text : std::string{};
}

}  // namespace

listen_address parse_listen_address(const std::string& text) {
  listen_address address;
  const auto colon = text.rfind(':');
  if (colon != text.npos) address.host = host_in(text.substr(0, colon));
  const auto port =
      parse_port(colon == text.npos ? text : std::string_view(text).substr(colon + 1));
  if (!port || address.host.empty()) {
    throw CLI::ValidationError("--listen",
                               fmt::format("'{}' is neither PORT nor HOST:PORT; an IPv6 "
                                           "address stands in brackets: [::1]:9870",
                                           text));
  }
  address.port = *port;
  return address;
}

bool is_loopback(const listen_address& address) {
  const auto found = look_up(address);
  for (const auto* one = found.get(); one != nullptr; one = one->ai_next) {
    if (one->ai_family == AF_INET) {
      const auto* const v4 = reinterpret_cast<const sockaddr_in*>(one->ai_addr);
      if (ntohl(v4->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET) return false;
    } else if (one->ai_family == AF_INET6) {
      const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(one->ai_addr);
      if (!IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)) return false;
    }
  }
  return true;
}

listener listen_at(const listen_address& address) {
  const auto found = look_up(address);
  std::vector<const addrinfo*> all;
  for (const auto* one = found.get(); one != nullptr; one = one->ai_next) all.push_back(one);
  // "*" of the newer kind means all addresses of both.
  if (address.host == "*") std::stable_partition(all.begin(), all.end(), is_newer_kind);
  for (const auto* one : all) {
    auto socket = open_at(*one);
    if (socket.get() < 0) continue;
    const bool is_v6 = address.host.find(':') != address.host.npos;
    const auto host = is_v6 ? "[" + address.host + "]" : address.host;
    auto url = fmt::format("http://{}:{}", host, port_of(socket));
    return {std::move(socket), std::move(url)};
  }
  const int why = errno;
  refuse(address, std::generic_category().message(why),
         why == EADDRINUSE ? "; another program listens there: choose another port" : "");
}

}  // namespace holdfast::cli::http
