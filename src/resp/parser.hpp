// Bytes to values, incrementally. The parser never sees a socket.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "resp/value.hpp"

namespace holdfast::resp {

// What became of the bytes at the front of a buffer.
struct parse_result {
  enum class outcome { complete, need_more, malformed };
  outcome what;
  std::size_t consumed = 0;  // complete: bytes that the value took
};

// Bounds against hostile or broken peers. A value beyond them is malformed.
inline constexpr std::size_t max_depth = 16;
inline constexpr std::size_t max_line = 64UL * 1024;  // simple strings, simple errors, numbers
inline constexpr std::size_t max_bulk = 512UL * 1024 * 1024;
inline constexpr std::size_t max_items = 16UL * 1024 * 1024;

// Parses one value at the front of `bytes`. Allocates only as far as bytes have really arrived:
// a header that announces a million items costs nothing until they come. RESP3 attributes ('|') are
// skipped. Streamed (unknown-length) types are malformed: no server sends them.
//
// `out` has a meaning only when the outcome is complete; its buffers are reused. After need_more
// the value is parsed again from its first byte: no state to keep or to get wrong. That costs time
// in proportion to size squared by read size for a large array that arrives in many pieces (a reply
// of 1 MiB in reads of 16 KiB: 64 walks, a few ten milliseconds), and nothing for what Holdfast
// lives on: replies of one read. A large bulk string is not walked: its header tells what is
// missing.
parse_result parse(std::string_view bytes, value& out);

}  // namespace holdfast::resp
