// Name look-up with a deadline.
#pragma once

#include <netdb.h>

#include <memory>
#include <string>

#include "net/socket.hpp"

namespace holdfast::net {

struct address_list_deleter {
  void operator()(addrinfo* list) const noexcept { freeaddrinfo(list); }
};
using address_list = std::unique_ptr<addrinfo, address_list_deleter>;

struct resolved {
  address_list addresses;  // null when `problem` says why
  std::string problem;
};

// The addresses of a host, in the order to try them. Returns at the deadline even when the system's
// resolver does not: such a look-up is left behind and ends on its own thread.
resolved resolve(const tcp_endpoint& where, const connect_limits& limits);

}  // namespace holdfast::net
