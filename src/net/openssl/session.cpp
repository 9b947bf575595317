// A TLS session whose bytes we carry ourselves: OpenSSL never sees the socket.
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/mutex.hpp"
#include "net/openssl/context.hpp"
#include "net/openssl/explain.hpp"
#include "net/tls.hpp"

namespace holdfast::net {
namespace openssl {
namespace {

bool is_passing(int code) noexcept {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

std::string doubt(tls_peer peer) {
  return std::string("; does it speak TLS there? If not, ") + advice_to_speak_plain(peer);
}

tls_problem silence(tls_peer peer) {
  return {errc::unavailable,
          "the server accepted the connection but does not shake hands" + doubt(peer)};
}

// The reader takes bytes from the socket without the mutex, and needs the mutex only to decrypt
// them. So a thread that looks again and again for an answer does not hold up the writers.
class session final : public tls_session {
 public:
  session(const tls_options& options, tls_peer peer, std::string name)
      : options_(options), peer_(peer), name_(std::move(name)) {}

  std::optional<tls_problem> shake_hands(const descriptor& socket, const connect_limits& limits);

  transfer read(const descriptor& socket, std::span<char> into, std::size_t& got) override;
  transfer write(const descriptor& socket, std::string_view bytes, std::size_t& sent) override;
  const tls_problem& problem() const noexcept override { return problem_; }
  std::string description() const override {
    return std::string(SSL_get_version(ssl_.get())) + ", " + SSL_get_cipher_name(ssl_.get());
  }

 private:
  static int note_refusal(int accepted, X509_STORE_CTX* check);
  static const BIO_METHOD* carrier();
  static int take_arrived(BIO* bio, char* into, int size);
  static int send_out(BIO* bio, const char* bytes, int size);
  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  std::optional<tls_problem> prepare();
  std::optional<tls_problem> receive(const descriptor& socket);
  std::optional<tls_problem> await_more(const descriptor& socket, const connect_limits& limits);
  bool wants_more(int code) const noexcept;
  tls_problem explain() const;
  transfer end(tls_problem why) {
    problem_ = std::move(why);
    return transfer::closed;
  }

  const tls_options options_;
  const tls_peer peer_;
  const std::string name_;  // that the certificate must have

  // The reader's.
  tls_problem problem_;
  bool full_ = false;  // the last read() ended because it had no room
  std::vector<char> arrived_ = std::vector<char>(17 * 1024);  // a record and its envelope
  std::size_t begin_ = 0;                                     // of what OpenSSL has not taken yet
  std::size_t end_ = 0;

  mutex guard_;
  context_handle context_;
  ssl_handle ssl_;
  const descriptor* socket_ = nullptr;  // of the call under way
  certificate_handle refused_;          // the server's, when it was
};

// OpenSSL forgets the certificate that it refuses.
int session::note_refusal(int accepted, X509_STORE_CTX* check) {
  X509* const own = X509_STORE_CTX_get0_cert(check);
  if (accepted == 0 && own != nullptr && X509_up_ref(own) == 1) {
    auto* const ssl =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(check, SSL_get_ex_data_X509_STORE_CTX_idx()));
    static_cast<session*>(SSL_get_app_data(ssl))->refused_.reset(own);
  }
  return accepted;
}

tls_problem session::explain() const {
  if (!refused_) return explain_failure(options_, peer_);
  return explain_refusal(refused_.get(), SSL_get_verify_result(ssl_.get()), options_, peer_, name_);
}

// Not OpenSSL's own, which would raise SIGPIPE.
const BIO_METHOD* session::carrier() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "holdfast");
    BIO_meth_set_read(made, take_arrived);
    BIO_meth_set_write(made, send_out);
    BIO_meth_set_ctrl(made, control);
    return made;
  }();
  return method;
}

int session::take_arrived(BIO* bio, char* into, int size) {
  auto& self = *static_cast<session*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (self.begin_ == self.end_) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const auto taken = std::min(self.end_ - self.begin_, static_cast<std::size_t>(size));
  std::memcpy(into, self.arrived_.data() + self.begin_, taken);
  self.begin_ += taken;
  return static_cast<int>(taken);
}

int session::send_out(BIO* bio, const char* bytes, int size) {
  const auto& self = *static_cast<session*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(self.socket_->get(), bytes, static_cast<std::size_t>(size),
                           MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && is_passing(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

std::optional<tls_problem> session::prepare() {
  if (auto wrong = make_context(options_, peer_, context_)) return wrong;
  ssl_.reset(SSL_new(context_.get()));
  BIO* const bio = ssl_ ? BIO_new(carrier()) : nullptr;
  if (bio == nullptr) return tls_problem{errc::unavailable, "OpenSSL is out of memory"};
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_connect_state(ssl_.get());
  if (!options_.insecure_accept_any_certificate) {
    SSL_set_app_data(ssl_.get(), this);
    SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, note_refusal);
  }
  // Only what the certificate calls its hosts, never its subject (RFC 9525).
  X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl_.get());
  X509_VERIFY_PARAM_set_hostflags(
      expected, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, name_.c_str()) == 1) return std::nullopt;
  // An address is not for SNI.
  if (X509_VERIFY_PARAM_set1_host(expected, name_.c_str(), name_.size()) == 1 &&
      SSL_set_tlsext_host_name(ssl_.get(), name_.c_str()) == 1) {
    return std::nullopt;
  }
  return tls_problem{errc::invalid_argument, "no certificate can name '" + name_ + "'"};
}

// Refills arrived_, which must be used up; empty afterwards when nothing has come.
std::optional<tls_problem> session::receive(const descriptor& socket) {
  begin_ = end_ = 0;
  const auto got = ::recv(socket.get(), arrived_.data(), arrived_.size(), MSG_DONTWAIT);
  if (got > 0) end_ = static_cast<std::size_t>(got);
  if (got > 0 || (got < 0 && is_passing(errno))) return std::nullopt;
  if (got == 0) return tls_problem{errc::unavailable, "the server closed the connection"};
  return tls_problem{errc::unavailable,
                     "the connection broke: " + std::generic_category().message(errno)};
}

// Whether the call that returned `code` only lacks bytes or room.
bool session::wants_more(int code) const noexcept {
  const int what = SSL_get_error(ssl_.get(), code);
  return what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE;
}

std::optional<tls_problem> session::await_more(const descriptor& socket,
                                               const connect_limits& limits) {
  for (;;) {
    if (auto broken = receive(socket)) {
      broken->detail += " while shaking hands" + doubt(peer_);
      return broken;
    }
    if (begin_ == end_ && !wait_ready(socket.get(), POLLIN, limits)) return silence(peer_);
    if (is_over(limits)) return silence(peer_);  // it may send for ever
    if (begin_ < end_) return std::nullopt;
  }
}

std::optional<tls_problem> session::shake_hands(const descriptor& socket,
                                                const connect_limits& limits) {
  if (auto wrong = prepare()) return wrong;
  const scoped_mutex lock(guard_);
  socket_ = &socket;
  for (;;) {
    ERR_clear_error();
    const int code = SSL_do_handshake(ssl_.get());
    if (code == 1) return std::nullopt;
    if (!wants_more(code)) return explain();
    if (SSL_want_write(ssl_.get())) {
      if (!wait_ready(socket.get(), POLLOUT, limits)) return silence(peer_);
    } else if (auto broken = await_more(socket, limits)) {
      return broken;
    }
  }
}

transfer session::read(const descriptor& socket, std::span<char> into, std::size_t& got) {
  if (begin_ == end_ && !full_) {
    if (auto broken = receive(socket)) return end(std::move(*broken));
    if (begin_ == end_) return transfer::would_block;
  }
  const scoped_mutex lock(guard_);
  socket_ = &socket;  // an alert or a new key may have to be sent
  const auto before = got;
  while (got < into.size()) {
    std::size_t more = 0;
    ERR_clear_error();
    const int code = SSL_read_ex(ssl_.get(), into.data() + got, into.size() - got, &more);
    got += more;
    if (code == 1) continue;
    full_ = false;
    if (wants_more(code)) return got > before ? transfer::data : transfer::would_block;
    if (SSL_get_error(ssl_.get(), code) == SSL_ERROR_ZERO_RETURN) {
      return end({errc::unavailable, "the server closed the connection"});
    }
    return end(explain());
  }
  full_ = true;
  return transfer::data;
}

transfer session::write(const descriptor& socket, std::string_view bytes, std::size_t& sent) {
  const scoped_mutex lock(guard_);
  socket_ = &socket;
  while (sent < bytes.size()) {
    std::size_t more = 0;
    ERR_clear_error();
    const int code = SSL_write_ex(ssl_.get(), bytes.data() + sent, bytes.size() - sent, &more);
    sent += more;
    if (code != 1) return wants_more(code) ? transfer::would_block : transfer::closed;
  }
  return transfer::data;
}

}  // namespace
}  // namespace openssl

std::optional<tls_problem> check_tls(const tls_options& options, tls_peer peer) {
  openssl::context_handle unused;
  return openssl::make_context(options, peer, unused);
}

std::optional<tls_problem> open_tls(const tls_options& options, const std::string& host,
                                    const descriptor& socket, const connect_limits& limits,
                                    std::unique_ptr<tls_session>& into, tls_peer peer) {
  const auto& name = options.server_name.empty() ? host : options.server_name;
  auto made = std::make_unique<openssl::session>(options, peer, name);
  if (auto broken = made->shake_hands(socket, limits)) {
    // The files were good when the client was made: they are being exchanged right now.
    if (broken->code == errc::invalid_argument) broken->code = errc::unavailable;
    return broken;
  }
  into = std::move(made);
  return std::nullopt;
}

}  // namespace holdfast::net
