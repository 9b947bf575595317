// Name look-up with a deadline.
#pragma once

#include <netdb.h>

#include <memory>
#include <string>
#include <vector>

#include "net/socket.hpp"

namespace holdfast::net {

using address_list = std::shared_ptr<addrinfo>;

struct resolved {
  address_list addresses;  // null when `problem` says why
  std::string problem;
};

// The addresses of a host, or of `where.at` alone, in the order to try them. Returns at the
// deadline even when the system's resolver does not: such a look-up is left behind on a thread of
// its own, and the next call for the same host waits for that one. So a host whose look-up hangs
// costs one thread and one descriptor, however often it is asked for. At most 256 are under way.
resolved resolve(const tcp_endpoint& where, const connect_limits& limits);

// As above, each as an endpoint of its own. Empty `into`: why. A host that has one address is not
// taken apart.
std::string take_apart(const tcp_endpoint& where, const connect_limits& limits,
                       std::vector<endpoint>& into);

}  // namespace holdfast::net
