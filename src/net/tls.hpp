// TLS over a connected socket. The code that knows OpenSSL is behind this header, in net/openssl/;
// a build without it has net/tls_absent.cpp instead.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/errc.hpp>
#include <holdfast/options.hpp>

#include "net/socket.hpp"
#include "net/tls_peer.hpp"

namespace holdfast::net {

// Why there is no session, or no longer.
struct tls_problem {
  errc code = errc::unavailable;
  std::string detail;  // one sentence that says what to do
};

// The socket stays its owner's. The owner names it in each call, and closes it after this object,
// which never says goodbye to the peer.
//
// Thread safety: one thread may read while another writes.
class tls_session {
 public:
  virtual ~tls_session() = default;

  // Reads without blocking all that has come, into `into` from `got` on, and advances `got`. When
  // `into` is not full afterwards, nothing is left in here: it is safe to wait for the socket.
  virtual transfer read(const descriptor& socket, std::span<char> into, std::size_t& got) = 0;

  // Sends `bytes` from `sent` on without blocking; advances `sent`. After `would_block` the next
  // call must begin with the same bytes.
  virtual transfer write(const descriptor& socket, std::string_view bytes, std::size_t& sent) = 0;

  // Why read() said `closed`. For the reading thread.
  virtual const tls_problem& problem() const noexcept = 0;

  virtual std::string description() const = 0;  // "TLSv1.3, TLS_AES_256_GCM_SHA384"
};

// Whether TLS can be had in this way: it is built in, and the files that are named can be used.
std::optional<tls_problem> check_tls(const tls_options& options, tls_peer peer = tls_peer::server);

// Shakes hands with the server, whose certificate must name `host` or what the options say. Reads
// the files anew. Blocks at most until the deadline.
std::optional<tls_problem> open_tls(const tls_options& options, const std::string& host,
                                    const descriptor& socket, const connect_limits& limits,
                                    std::unique_ptr<tls_session>& into,
                                    tls_peer peer = tls_peer::server);

}  // namespace holdfast::net
