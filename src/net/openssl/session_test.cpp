// A session against a peer of our own, which does what servers seldom do.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <thread>

#include "net/clock.hpp"
#include "net/openssl/handles.hpp"
#include "net/tls.hpp"

namespace holdfast::net {
namespace {

using key_handle = std::unique_ptr<EVP_PKEY, openssl::freed_by<EVP_PKEY_free>>;

// The server's end of a pair of sockets, which blocks.
class peer {
 public:
  explicit peer(int fd) : socket_(fd), context_(SSL_CTX_new(TLS_server_method())) {
    const key_handle key{EVP_EC_gen("P-256")};
    const openssl::certificate_handle own{X509_new()};
    X509_gmtime_adj(X509_getm_notBefore(own.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(own.get()), 3600);
    X509_set_pubkey(own.get(), key.get());
    X509_sign(own.get(), key.get(), EVP_sha256());
    SSL_CTX_use_certificate(context_.get(), own.get());
    SSL_CTX_use_PrivateKey(context_.get(), key.get());
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), fd);
  }

  void accept() { EXPECT_EQ(SSL_accept(ssl_.get()), 1); }
  void write(const std::string& bytes) {
    EXPECT_EQ(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())),
              static_cast<int>(bytes.size()));
  }
  std::string read(std::size_t size) {
    std::string got(size, '\0');
    for (std::size_t at = 0; at < size;) {
      const int more = SSL_read(ssl_.get(), got.data() + at, static_cast<int>(size - at));
      if (more <= 0) return got.substr(0, at);
      at += static_cast<std::size_t>(more);
    }
    return got;
  }
  void demand_new_keys() {
    EXPECT_EQ(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED), 1);
    EXPECT_EQ(SSL_do_handshake(ssl_.get()), 1);
  }
  void vanish() { socket_.reset(); }

 private:
  descriptor socket_;
  openssl::context_handle context_;
  openssl::ssl_handle ssl_;
};

class TlsSession : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    socket_.reset(ends[0]);
    peer_ = std::make_unique<peer>(ends[1]);
    std::thread other([&] { peer_->accept(); });
    const connect_limits limits{now() + std::chrono::seconds{20}, {}, nullptr};
    const auto broken =
        open_tls({.insecure_accept_any_certificate = true}, "h", socket_, limits, session_);
    other.join();
    ASSERT_FALSE(broken) << broken->detail;
  }

  // All that has come, in pieces of at most `piece`.
  std::string read_all(std::size_t piece) {
    std::string all;
    std::string into(piece, '\0');
    for (;;) {
      std::size_t got = 0;
      const auto what = session_->read(socket_, into, got);
      all.append(into, 0, got);
      if (what != transfer::data) return all;
    }
  }

  descriptor socket_;
  std::unique_ptr<peer> peer_;
  std::unique_ptr<tls_session> session_;
};

// While hands are shaken, a server may send any number of requests to do that. When the limits are
// over, what more of them has come is not read.
void expect_an_end(const connect_limits& limits) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const descriptor ours(ends[0]), theirs(ends[1]);
  const std::string record = std::string("\x16\x03\x03\x40\x00", 5) + std::string(0x4000, '\0');
  int sent = 0;
  for (ssize_t some = 1; some > 0; sent += std::max(0, static_cast<int>(some))) {
    some = ::send(theirs.get(), record.data(), record.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  std::unique_ptr<tls_session> session;
  const auto broken =
      open_tls({.insecure_accept_any_certificate = true}, "h", ours, limits, session);
  ASSERT_TRUE(broken);
  EXPECT_NE(broken->detail.find("does not shake hands"), std::string::npos) << broken->detail;
  int unread = 0;
  ::ioctl(ours.get(), FIONREAD, &unread);
  EXPECT_GT(unread, sent / 2);
}

TEST(TlsHandshake, EndsAtItsDeadlineHoweverMuchComes) { expect_an_end({now(), {}, nullptr}); }

TEST(TlsHandshake, IsCancelledHoweverMuchComes) {
  wake_up cancel;
  cancel.signal();
  expect_an_end({now() + std::chrono::hours{1}, {}, &cancel});
}

TEST_F(TlsSession, NamesVersionAndCipher) {
  EXPECT_TRUE(session_->description().starts_with("TLSv1.3, TLS_")) << session_->description();
}

TEST_F(TlsSession, NothingStaysInsideHoweverSmallThePieces) {
  std::string sent;
  for (int i = 0; i < 40'000; ++i) sent += std::to_string(i % 10);
  peer_->write(sent);
  EXPECT_EQ(read_all(1000), sent);
  peer_->write(sent);
  EXPECT_EQ(read_all(sent.size()), sent);
}

TEST_F(TlsSession, NewKeysCostNobodyABlockedCall) {
  peer_->demand_new_keys();
  peer_->write("hello");
  EXPECT_EQ(read_all(100), "hello");
  std::size_t sent = 0;
  EXPECT_EQ(session_->write(socket_, "world", sent), transfer::data);
  EXPECT_EQ(peer_->read(5), "world");
}

TEST_F(TlsSession, BlockedWriteGoesOnWithMoreBytesFromElsewhere) {
  std::string out(2'000'000, 'a');
  std::size_t sent = 0;
  ASSERT_EQ(session_->write(socket_, out, sent), transfer::would_block);
  ASSERT_LT(sent, out.size());
  std::string received;
  std::thread other([&] { received = peer_->read(out.size() + 5); });
  auto rest = std::make_unique<std::string>(out.substr(sent) + "after");
  const connect_limits limits{now() + std::chrono::seconds{20}, {}, nullptr};
  for (std::size_t again = 0; again < rest->size();) {
    if (session_->write(socket_, *rest, again) == transfer::data) break;
    ASSERT_TRUE(wait_ready(socket_.get(), POLLOUT, limits));
    rest = std::make_unique<std::string>(rest->substr(again));
    again = 0;
  }
  other.join();
  EXPECT_EQ(received, out + "after");
}

TEST_F(TlsSession, EndsWithItsPeer) {
  peer_->write("last words");
  peer_->vanish();
  EXPECT_EQ(read_all(100), "last words");
  std::size_t got = 0;
  char into[10];
  EXPECT_EQ(session_->read(socket_, into, got), transfer::closed);
  EXPECT_EQ(session_->problem().detail, "the server closed the connection");
  std::size_t sent = 0;
  // No SIGPIPE.
  while (session_->write(socket_, "to nobody", sent) == transfer::data) sent = 0;
}

}  // namespace
}  // namespace holdfast::net
