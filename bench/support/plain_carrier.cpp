#include <sys/socket.h>

#include <cerrno>

#include "support/carrier.hpp"
#include "support/loopback.hpp"

namespace holdfast::bench {
namespace {

class plain final : public carrier {
 public:
  explicit plain(std::uint16_t port) : socket_(port) {}

  void send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) throw_errno("send");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  std::size_t receive(std::span<char> into, patience how) override {
    const int flags = how == patience::none ? MSG_DONTWAIT : 0;
    const auto got = ::recv(socket_.get(), into.data(), into.size(), flags);
    if (got < 0 && errno == EAGAIN) return 0;
    if (got <= 0) throw_errno("recv");
    return static_cast<std::size_t>(got);
  }

 private:
  loopback_socket socket_;
};

}  // namespace

std::unique_ptr<carrier> plain_carrier(std::uint16_t port) { return std::make_unique<plain>(port); }

}  // namespace holdfast::bench
