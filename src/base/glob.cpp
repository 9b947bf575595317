#include "base/glob.hpp"

#include <cstddef>

namespace holdfast {
namespace {

// One byte of a pattern that is meant literally, perhaps after a backslash; moves past it.
unsigned char literal(std::string_view pattern, std::size_t& at) noexcept {
  if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
  return static_cast<unsigned char>(pattern[at++]);
}

// What a pattern says of one byte, and where the pattern goes on after it.
struct verdict {
  bool agrees;
  std::size_t next;
};

// `at` is behind the '['. A ']' that comes first is a member.
verdict in_set(std::string_view pattern, std::size_t at, unsigned char byte) noexcept {
  const std::size_t begin = at;
  const bool inverted = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (inverted) ++at;
  bool found = false;
  for (bool first = true; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) return {found != inverted, at + 1};
    const auto low = literal(pattern, at);
    auto high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = literal(pattern, ++at);
    }
    found = found || (low <= byte && byte <= high);
  }
  return {byte == '[', begin};  // never closed
}

verdict one_byte(std::string_view pattern, std::size_t at, char text) noexcept {
  const auto byte = static_cast<unsigned char>(text);
  if (pattern[at] == '?') return {true, at + 1};
  if (pattern[at] == '[') return in_set(pattern, at + 1, byte);
  const bool same = literal(pattern, at) == byte;
  return {same, at};
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) noexcept {
  constexpr auto none = std::string_view::npos;
  std::size_t at = 0;
  std::size_t after_star = none;  // the last '*' takes more whenever the rest does not fit
  std::size_t taken_up_to = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      after_star = ++at;
      taken_up_to = i;
      continue;
    }
    const auto what = at < pattern.size() ? one_byte(pattern, at, text[i]) : verdict{false, at};
    if (what.agrees) {
      at = what.next;
      ++i;
    } else if (after_star != none) {
      at = after_star;
      i = ++taken_up_to;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == none;
}

}  // namespace holdfast
