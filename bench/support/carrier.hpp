// Carries the bytes of a raw client: a plain socket, or one with OpenSSL on it and nothing else.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::bench {

// Not thread-safe. Both throw when the connection breaks.
class carrier {
 public:
  enum class patience { none, endless };

  carrier() = default;
  virtual ~carrier() = default;
  carrier(const carrier&) = delete;
  carrier& operator=(const carrier&) = delete;

  virtual void send(std::string_view bytes) = 0;  // all of them

  // How many bytes have come; 0: none yet.
  virtual std::size_t receive(std::span<char> into, patience how) = 0;
};

// To a server on the loopback device.
std::unique_ptr<carrier> plain_carrier(std::uint16_t port);

// Trusts this authority. Only where Holdfast is built with TLS.
std::unique_ptr<carrier> tls_carrier(std::uint16_t port, const std::string& authority);

}  // namespace holdfast::bench
