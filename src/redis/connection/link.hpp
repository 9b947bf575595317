// One connection with its read buffer: bytes in, values out. No thread, no role; a plain socket
// needs no lock, and a TLS session brings its own.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/errc.hpp>

#include "net/descriptor.hpp"
#include "net/tls.hpp"
#include "net/tls_peer.hpp"
#include "redis/resp/parser.hpp"
#include "redis/resp/value.hpp"

namespace holdfast::redis {

// The values that one read brought, in buffers that are used again and again.
class reply_batch {
 public:
  void clear() noexcept {
    if (bytes_ > kept_for_the_next) values_ = {};
    size_ = bytes_ = 0;
  }
  std::size_t size() const noexcept { return size_; }
  resp::value& operator[](std::size_t i) noexcept { return values_[i]; }

  // So that the few short values that most reads bring need no memory then.
  void prepare() {
    if (values_.empty()) values_.resize(usual);
  }

  // The next free value; counts once it is kept.
  resp::value& next() {
    if (size_ == values_.size()) values_.emplace_back();
    return values_[size_];
  }
  void keep(std::size_t bytes) noexcept {
    ++size_;
    bytes_ += bytes;
  }

 private:
  // Each thread has a batch for as long as it lives: not with the buffers of one large reply.
  static constexpr std::size_t kept_for_the_next = 256UL * 1024;
  static constexpr std::size_t usual = 16;

  std::vector<resp::value> values_;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;  // that they took on the wire
};

class link {
 public:
  using outcome = net::transfer;

  int fd() const noexcept { return socket_.get(); }
  net::descriptor& socket() noexcept { return socket_; }

  // Whom it leads to: for what messages advise.
  void leads_to(net::tls_peer peer) noexcept { peer_ = peer; }
  net::tls_peer peer() const noexcept { return peer_; }

  // From now on all bytes go through it.
  void secure(std::unique_ptr<net::tls_session> tls) noexcept { tls_ = std::move(tls); }
  const net::tls_session* tls() const noexcept { return tls_.get(); }

  // Becomes what the other is, which is closed afterwards.
  void take(link& other) noexcept;

  // Reads without blocking and appends the complete values to `batch`. Afterwards a poll of the
  // socket shows all that is still unread. `closed`: `batch` holds the values before the end,
  // problem() says why. Without memory for a value it is closed as well.
  outcome receive(reply_batch& batch) noexcept;

  // As above, but a plain socket on which nothing has come yet is given a moment: one call to the
  // kernel, where a poll before it would be a second one. Cannot be interrupted.
  outcome receive_soon(reply_batch& batch) noexcept;

  // Sends `bytes` from `offset` on without blocking; advances `offset`.
  outcome send(const std::string& bytes, std::size_t& offset);

  const std::string& problem() const noexcept { return problem_; }
  errc reason() const noexcept { return reason_; }

  // The peer is not believed any more: wakes the thread that reads, which receives only the end,
  // and none of the values that have come already.
  void give_up(std::string problem) noexcept;

  // Drops the socket and everything buffered.
  void close() noexcept;

 private:
  void make_room();
  std::size_t room() const noexcept;
  void empty_buffer() noexcept;
  outcome receive_with(reply_batch& batch, int flags) noexcept;
  outcome receive(reply_batch& batch, int flags);
  outcome parse(reply_batch& batch);
  resp::parse_result parse_next(resp::value& into);
  outcome receive_by_tls(reply_batch& batch);
  outcome fail(errc reason, std::string problem);
  outcome fail(resp::parse_result::outcome how);

  static constexpr std::size_t usual_buffer = 16UL * 1024;
  static constexpr std::size_t largest_buffer_kept = 4 * usual_buffer;

  net::descriptor socket_;
  std::unique_ptr<net::tls_session> tls_;  // null: plain
  net::tls_peer peer_ = net::tls_peer::server;
  std::vector<char> buffer_ = std::vector<char>(usual_buffer);
  std::size_t begin_ = 0;  // of the bytes that are not parsed yet
  std::size_t end_ = 0;
  std::optional<resp::arrival> arriving_;  // the value there, of which some has come
  std::string problem_;
  errc reason_ = errc::unavailable;
  bool given_up_ = false;
};

}  // namespace holdfast::redis
