// The plainest client there can be: one blocking socket. Independent of the code under test, except
// for the codec.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/descriptor.hpp"
#include "net/socket.hpp"
#include "redis/resp/value.hpp"
#include "support/eventually.hpp"

namespace holdfast::support {

// Thread safety: one thread at a time. What goes wrong is thrown as std::runtime_error.
class raw_connection {
 public:
  explicit raw_connection(const net::endpoint& where, milliseconds patience = generous);

  // Sends a command and returns its reply; a server's error is a reply too.
  resp::value command(const std::vector<std::string>& words);

  void send(std::string_view bytes);
  resp::value read_value();

  // Whatever arrives next, or an empty string when the peer has closed.
  std::string read_some();

  // True when the peer closes (or resets) before it sends anything further.
  bool closed_by_peer();

  net::descriptor& socket() noexcept { return socket_; }

 private:
  bool receive();  // false: the peer has closed

  milliseconds patience_;
  net::descriptor socket_;
  std::string received_;
};

}  // namespace holdfast::support
