// Bytes to values, incrementally. The parser never sees a socket.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "redis/resp/value.hpp"

namespace holdfast::resp {

// The result for the bytes at the front of a buffer.
struct parse_result {
  enum class outcome {
    complete,
    need_more,
    malformed,
    too_large,  // it would be more than max_value
  };
  outcome what;
  std::size_t consumed = 0;  // complete: bytes that the value took
};

// Bounds against hostile or broken peers. The size of a value is its bytes on the wire, and this
// structure for each value in it. Announced bytes and values count when they are announced.
inline constexpr std::size_t max_value = 64UL * 1024 * 1024;
inline constexpr std::size_t max_items = max_value / sizeof(value);
inline constexpr std::size_t max_depth = 16;
inline constexpr std::size_t max_line = 64UL * 1024;  // simple strings, simple errors, numbers

// Parses one value at the front of `bytes`. Allocates only as far as bytes have really arrived:
// a header that announces a million items costs nothing until they come. RESP3 attributes ('|') are
// skipped. Streamed (unknown-length) types are malformed: no server sends them.
//
// `out` has a meaning only when the outcome is complete; its buffers are reused. After need_more
// the value is parsed again from its first byte: no state to keep or to get wrong. A reader of
// bytes as they come asks an `arrival` whether parsing is worth it.
parse_result parse(std::string_view bytes, value& out);

// Follows a value of which parse() needs more, until all of it has come: each byte is looked at
// once, in however many pieces the peer sends it, and nothing is allocated.
class arrival {
 public:
  // `bytes` begin where the value does, and hold what they held at the last call. `complete`:
  // parse() will not need more.
  parse_result::outcome look(std::string_view bytes);

  // After need_more: how many bytes are missing at least.
  std::size_t missing() const noexcept { return missing_; }

 private:
  parse_result::outcome look_at_next(std::string_view bytes);
  parse_result::outcome announce(std::size_t items);

  std::size_t at_ = 0;  // so far it was looked at; may be behind all that has come
  std::size_t missing_ = 1;
  std::size_t values_ = 1;  // that have come or were announced
  std::size_t depth_ = 0;
  std::array<std::size_t, max_depth + 1> left_{1};  // values to come, by the depth of their list
};

}  // namespace holdfast::resp
