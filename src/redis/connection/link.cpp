#include "redis/connection/link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "net/socket.hpp"
#include "redis/resp/parser.hpp"

namespace holdfast::redis {
namespace {

bool is_passing(int code) noexcept {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

// How a TLS server begins its complaint about a client that does not speak TLS.
constexpr char tls_alert = 0x15;

}  // namespace

// The buffer grows with the bytes that have come, to the size that the value in it is known to
// need.
void link::make_room() {
  if (end_ < buffer_.size()) return;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    return;
  }
  const auto doubled = 2 * buffer_.size();
  const auto missing = arriving_ ? arriving_->missing() : 1;
  buffer_.resize(missing < usual_buffer ? doubled : std::min(doubled, end_ + missing));
}

// Of what lies behind a value only a little is read with it, however large the buffer has become:
// values take more room than bytes.
std::size_t link::room() const noexcept {
  const auto missing = arriving_ ? arriving_->missing() : 1;
  return std::min(buffer_.size() - end_, std::max(largest_buffer_kept, missing));
}

void link::empty_buffer() noexcept {
  begin_ = end_ = 0;
  if (buffer_.size() <= largest_buffer_kept) return;
  buffer_.resize(usual_buffer);
  buffer_.shrink_to_fit();
}

link::outcome link::fail(errc reason, std::string problem) {
  reason_ = reason;
  problem_ = std::move(problem);
  return outcome::closed;
}

link::outcome link::receive(reply_batch& batch) noexcept {
  return receive_with(batch, MSG_DONTWAIT);
}

link::outcome link::receive_soon(reply_batch& batch) noexcept {
  return tls_ ? outcome::would_block : receive_with(batch, 0);
}

link::outcome link::receive_with(reply_batch& batch, int flags) noexcept {
  try {
    return receive(batch, flags);
  } catch (const std::bad_alloc&) {
    return fail(errc::unavailable, "out of memory");  // short enough to need none
  }
}

link::outcome link::receive(reply_batch& batch, int flags) {
  if (given_up_) [[unlikely]]
    return outcome::closed;
  if (tls_) [[unlikely]]
    return receive_by_tls(batch);
  make_room();
  const auto got = ::recv(fd(), buffer_.data() + end_, room(), flags);
  if (got > 0) {
    end_ += static_cast<std::size_t>(got);
    return parse(batch);
  }
  if (got < 0 && is_passing(errno)) return outcome::would_block;
  return fail(errc::unavailable,
              got == 0 ? "the server closed the connection"
                       : "the connection broke: " + std::generic_category().message(errno));
}

link::outcome link::receive_by_tls(reply_batch& batch) {
  const auto unread = end_ - begin_;
  auto what = outcome::data;
  do {
    make_room();
    what = tls_->read(socket_, buffer_, end_);
  } while (what == outcome::data && end_ == buffer_.size());
  const bool arrived = end_ - begin_ > unread;
  if (arrived && parse(batch) == outcome::closed) return outcome::closed;
  if (what == outcome::closed) return fail(tls_->problem().code, tls_->problem().detail);
  return arrived ? outcome::data : outcome::would_block;
}

link::outcome link::parse(reply_batch& batch) {
  using parsed = resp::parse_result::outcome;
  while (begin_ < end_) {
    const auto result = parse_next(batch.next());
    if (result.what == parsed::need_more) break;
    if (result.what != parsed::complete) return fail(result.what);
    begin_ += result.consumed;
    batch.keep(result.consumed);
  }
  if (begin_ == end_) empty_buffer();
  return outcome::data;
}

// A value that has come in part is followed from then on: parsing it anew at each read would take
// ever longer.
resp::parse_result link::parse_next(resp::value& into) {
  const std::string_view bytes{buffer_.data() + begin_, end_ - begin_};
  if (!arriving_) {
    const auto result = resp::parse(bytes, into);
    if (result.what != resp::parse_result::outcome::need_more) return result;
    arriving_.emplace();
  }
  if (const auto how = arriving_->look(bytes); how != resp::parse_result::outcome::complete) {
    return {how};
  }
  arriving_.reset();
  return resp::parse(bytes, into);
}

link::outcome link::fail(resp::parse_result::outcome how) {
  if (how == resp::parse_result::outcome::too_large) {
    return fail(errc::not_redis, "the server sends an answer of more than " +
                                     std::to_string(resp::max_value >> 20) +
                                     " MiB, which is more than Holdfast asks for");
  }
  const bool tls = !tls_ && buffer_[begin_] == tls_alert;
  return fail(errc::not_redis,
              tls ? std::string("the server speaks TLS: ") + net::advice_to_speak_tls(peer_)
                  : "the server's bytes are not the Redis protocol");
}

link::outcome link::send(const std::string& bytes, std::size_t& offset) {
  if (tls_) [[unlikely]]
    return tls_->write(socket_, bytes, offset);
  while (offset < bytes.size()) {
    const auto sent =
        ::send(fd(), bytes.data() + offset, bytes.size() - offset, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      offset += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return outcome::would_block;
    } else if (errno != EINTR) {
      return outcome::closed;  // the reader will find out why
    }
  }
  return outcome::data;
}

void link::give_up(std::string problem) noexcept {
  net::shut_down(socket_);
  given_up_ = true;
  problem_ = std::move(problem);
}

void link::close() noexcept {
  net::close_hard(socket_);
  tls_.reset();
  given_up_ = false;
  arriving_.reset();
  empty_buffer();
  reason_ = errc::unavailable;
  problem_.clear();
}

void link::take(link& other) noexcept {
  close();
  socket_.reset(other.socket_.release());
  tls_ = std::move(other.tls_);
  peer_ = other.peer_;
  buffer_.swap(other.buffer_);
  begin_ = std::exchange(other.begin_, 0);
  end_ = std::exchange(other.end_, 0);
  arriving_ = std::exchange(other.arriving_, std::nullopt);
}

}  // namespace holdfast::redis
