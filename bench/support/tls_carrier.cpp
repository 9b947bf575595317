#include <fcntl.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <memory>
#include <stdexcept>

#include "net/openssl/handles.hpp"
#include "support/carrier.hpp"
#include "support/loopback.hpp"

namespace holdfast::bench {
namespace {

using net::openssl::context_handle;
using net::openssl::ssl_handle;

// As OpenSSL's manual has it: SSL_set_fd and nothing of ours between it and the socket.
class tls final : public carrier {
 public:
  tls(std::uint16_t port, const std::string& authority)
      : socket_(port), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_mode(context_.get(), SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_read_ahead(context_.get(), 1);  // one recv for a record instead of two
    if (SSL_CTX_load_verify_file(context_.get(), authority.c_str()) != 1) fail();
    ssl_.reset(SSL_new(context_.get()));
    if (SSL_set_fd(ssl_.get(), socket_.get()) != 1 || SSL_connect(ssl_.get()) != 1) fail();
    ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
  }

  void send(std::string_view bytes) override {
    std::size_t sent = 0;
    while (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent) != 1) {
      if (SSL_get_error(ssl_.get(), 0) != SSL_ERROR_WANT_WRITE) fail();
      await(POLLOUT);
    }
  }

  std::size_t receive(std::span<char> into, patience how) override {
    std::size_t got = 0;
    while (SSL_read_ex(ssl_.get(), into.data(), into.size(), &got) != 1) {
      if (SSL_get_error(ssl_.get(), 0) != SSL_ERROR_WANT_READ) fail();
      if (how == patience::none) return 0;
      await(POLLIN);
    }
    return got;
  }

 private:
  [[noreturn]] static void fail() { throw std::runtime_error("the TLS connection broke"); }

  void await(short what) const {
    ::pollfd one{.fd = socket_.get(), .events = what, .revents = 0};
    if (::poll(&one, 1, -1) < 0) throw_errno("poll");
  }

  loopback_socket socket_;
  context_handle context_;
  ssl_handle ssl_;
};

}  // namespace

std::unique_ptr<carrier> tls_carrier(std::uint16_t port, const std::string& authority) {
  return std::make_unique<tls>(port, authority);
}

}  // namespace holdfast::bench
