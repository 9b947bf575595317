// Connecting stream sockets with a deadline.
#pragma once

#include <string>
#include <variant>

#include "base/time.hpp"
#include "net/descriptor.hpp"
#include "net/wake_up.hpp"

struct addrinfo;

namespace holdfast::net {

struct tcp_endpoint {
  std::string host;
  std::uint16_t port = 0;
  std::string at{};  // one of the addresses of the host, as a number; empty: any of them
};
struct unix_endpoint {
  std::string path;
  std::string opened{};  // the same in this process, whatever the path comes to mean; may be empty
};
using endpoint = std::variant<tcp_endpoint, unix_endpoint>;

// For messages: "host:port" or the path.
std::string to_string(const endpoint& where);

struct connect_limits {
  monotonic_time deadline;
  milliseconds user_timeout;  // unacknowledged data older than this breaks the connection
  const wake_up* cancel;      // when signalled, connecting ends; may be null
};

// The result of sending or receiving without blocking.
enum class transfer { data, would_block, closed };

// Connects a non-blocking socket into `into`. Returns an empty string, or one sentence that says
// what failed. Blocks at most until the deadline, name look-up included.
std::string connect(const endpoint& where, const connect_limits& limits, descriptor& into);

// Connects to the first of these addresses that lets us in. Returns the errno, 0 when connected.
// Each has its part of the time: one that nothing comes back from leaves some to the others.
int connect_to_first(const addrinfo* of, const connect_limits& limits, descriptor& into);

// Closes without lingering: bytes that were sent and not yet delivered are dropped, so that no late
// copy of a request arrives after it was given up.
void close_hard(descriptor& socket) noexcept;

// Wakes the threads that read from the socket; they will see its end.
void shut_down(const descriptor& socket) noexcept;

// Whether what came last over this connection was sent by this machine, on the core that runs the
// caller. Then the peer and we take turns.
bool comes_from_this_core(const descriptor& socket) noexcept;

// From now on a receive that may block waits for bytes at most this long, rounded up to the tick of
// the kernel.
void block_at_most(const descriptor& socket, milliseconds limit) noexcept;

// Waits for one of `events`, `cancel` or the deadline. True: the socket is ready, and neither of
// the others has come.
bool wait_ready(int fd, short events, const connect_limits& limits);

// Whether one of them has come. To be asked after each read: a peer that always sends something
// would never be waited for.
bool is_over(const connect_limits& limits);

}  // namespace holdfast::net
