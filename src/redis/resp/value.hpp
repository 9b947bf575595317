// One value of the Redis protocol, RESP2 or RESP3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::resp {

enum class type : std::uint8_t {
  null,
  simple,
  error,
  integer,
  bulk,
  real,
  boolean,
  big_number,
  verbatim,
  array,
  set,
  map,
  push,  // `map` holds keys and values alternately in `items`
};

// A decoded value. Only the member that belongs to `kind` has a meaning. Reusing one object for
// many replies keeps its buffers.
struct value {
  type kind = type::null;
  std::int64_t number = 0;   // integer, boolean (0 or 1)
  std::string text;          // simple, error (without '-'), bulk, real, big_number, verbatim
  std::vector<value> items;  // array, set, map, push

  bool is(type wanted) const noexcept { return kind == wanted; }
  bool is_text() const noexcept {
    return kind == type::simple || kind == type::bulk || kind == type::verbatim;
  }
  friend bool operator==(const value&, const value&) = default;
};

// For messages and test failures: one line, strings quoted and escaped, at most ~200 characters.
std::string to_string(const value& v);

}  // namespace holdfast::resp
