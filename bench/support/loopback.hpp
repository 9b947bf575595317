// A connection to a server on the loopback device, made by hand.
#pragma once

#include <cstdint>

#include "net/descriptor.hpp"

namespace holdfast::bench {

[[noreturn]] void throw_errno(const char* what);

// It blocks, and sends at once.
class loopback_socket {
 public:
  explicit loopback_socket(std::uint16_t port);
  int get() const noexcept { return socket_.get(); }

 private:
  const net::descriptor socket_;
};

}  // namespace holdfast::bench
