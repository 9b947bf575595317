#include "redis/link.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "net/socket.hpp"
#include "resp/parser.hpp"

namespace holdfast::redis {
namespace {

bool is_passing(int code) noexcept {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

}  // namespace

link::outcome link::receive(reply_batch& batch) {
  if (end_ == buffer_.size()) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    } else {
      buffer_.resize(buffer_.size() * 2);
    }
  }
  const auto got = ::recv(fd(), buffer_.data() + end_, buffer_.size() - end_, MSG_DONTWAIT);
  if (got > 0) {
    end_ += static_cast<std::size_t>(got);
    return parse(batch);
  }
  if (got < 0 && is_passing(errno)) return outcome::would_block;
  problem_ = got == 0 ? "the server closed the connection"
                      : "the connection broke: " + std::generic_category().message(errno);
  return outcome::closed;
}

link::outcome link::parse(reply_batch& batch) {
  using parsed = resp::parse_result::outcome;
  while (begin_ < end_) {
    const auto result = resp::parse({buffer_.data() + begin_, end_ - begin_}, batch.next());
    if (result.what == parsed::need_more) break;
    if (result.what == parsed::malformed) {
      speaks_redis_ = false;
      problem_ = "what the server sent is not the Redis protocol";
      return outcome::closed;
    }
    begin_ += result.consumed;
    batch.keep();
  }
  if (begin_ == end_) begin_ = end_ = 0;
  return outcome::data;
}

link::outcome link::send(const std::string& bytes, std::size_t& offset) {
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

void link::close() noexcept {
  net::close_hard(socket_);
  begin_ = end_ = 0;
  speaks_redis_ = true;
  problem_.clear();
}

}  // namespace holdfast::redis
