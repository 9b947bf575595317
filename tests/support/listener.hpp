// Listening on the loopback interface.
#pragma once

#include <cstdint>
#include <string>

#include "net/descriptor.hpp"

namespace holdfast::support {

// Has a port of 127.0.0.1 (0: any free one), or of another address of this machine, so that the
// kernel gives it to nobody else, and returns it. A connection is refused until somebody listens
// there. Throws when it is taken.
std::uint16_t bind_on_loopback(net::descriptor& into, std::uint16_t port = 0,
                               const std::string& address = "127.0.0.1");

// Listens on a port of 127.0.0.1 (0: any free one), or of another address of this machine, and
// returns the port. Throws when it is taken.
std::uint16_t listen_on_loopback(net::descriptor& into, std::uint16_t port = 0,
                                 const std::string& address = "127.0.0.1");

// The next connection that waits to be accepted, non-blocking; -1 when there is none.
int accept_from(const net::descriptor& listener) noexcept;

// A port of 127.0.0.1 on which nobody listens at this moment. Below those that the kernel gives to
// connections, or one of them could have it before the server that it is for; and each process
// begins elsewhere to look for it. Another one at each call.
std::uint16_t free_port();

}  // namespace holdfast::support
