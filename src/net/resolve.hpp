// Name look-up with a deadline.
#pragma once

#include <netdb.h>

#include <memory>
#include <string>
#include <vector>

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

// The addresses of a host, or of `where.at` alone, in the order to try them. Returns at the
// deadline even when the system's resolver does not: such a look-up is left behind and ends on its
// own thread.
resolved resolve(const tcp_endpoint& where, const connect_limits& limits);

// The same, each as an endpoint of its own. Empty `into`: why. A host that has one address is not
// taken apart.
std::string take_apart(const tcp_endpoint& where, const connect_limits& limits,
                       std::vector<endpoint>& into);

}  // namespace holdfast::net
