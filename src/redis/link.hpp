// One connected socket with its read buffer: bytes in, values out. No thread, no lock, no role.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "net/descriptor.hpp"
#include "resp/value.hpp"

namespace holdfast::redis {

// The values that one read brought, in buffers that are used again and again.
class reply_batch {
 public:
  void clear() noexcept { size_ = 0; }
  std::size_t size() const noexcept { return size_; }
  resp::value& operator[](std::size_t i) noexcept { return values_[i]; }

  // The next free value; counts once it is kept.
  resp::value& next() {
    if (size_ == values_.size()) values_.emplace_back();
    return values_[size_];
  }
  void keep() noexcept { ++size_; }

 private:
  std::vector<resp::value> values_;
  std::size_t size_ = 0;
};

class link {
 public:
  enum class outcome { data, would_block, closed };

  int fd() const noexcept { return socket_.get(); }
  net::descriptor& socket() noexcept { return socket_; }

  // Reads once without blocking and appends what is complete to `batch`.
  // `closed`: problem() says why.
  outcome receive(reply_batch& batch);

  // Sends `bytes` from `offset` on without blocking; advances `offset`.
  outcome send(const std::string& bytes, std::size_t& offset);

  const std::string& problem() const noexcept { return problem_; }
  bool speaks_redis() const noexcept { return speaks_redis_; }

  // Drops the socket and everything buffered.
  void close() noexcept;

 private:
  outcome parse(reply_batch& batch);

  net::descriptor socket_;
  std::vector<char> buffer_ = std::vector<char>(16 * 1024);
  std::size_t begin_ = 0;  // of what is not parsed yet
  std::size_t end_ = 0;
  std::string problem_;
  bool speaks_redis_ = true;
};

}  // namespace holdfast::redis
