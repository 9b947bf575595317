#include "cli/printable.hpp"

#include <fmt/format.h>
#include <wchar.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace holdfast::cli {
namespace {

struct character {
  std::uint32_t code = 0;
  std::size_t size = 0;  // 0: not valid UTF-8
};

// The first character of a text that is not empty (RFC 3629: no overlong forms, no surrogates).
character first(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size) return {};
  std::uint32_t code = byte(0) & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, size};
}

struct span {
  std::uint32_t from;
  std::uint32_t to;
};

// Characters that steer the terminal, change the direction of text, or cannot be seen.
constexpr span misleading[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xa0, 0xa0},     {0xad, 0xad},     {0x034f, 0x034f},
    {0x061c, 0x061c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x2000, 0x200f},
    {0x2028, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000}, {0x3164, 0x3164}, {0xe000, 0xf8ff},
    {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xffff}, {0xe0000, 0x10ffff},
};

bool is_misleading(std::uint32_t code) {
  return std::ranges::any_of(misleading,
                             [code](span range) { return code >= range.from && code <= range.to; });
}

void append_escaped(std::string& out, std::uint32_t code) {
  switch (code) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      const auto end = std::back_inserter(out);
      code < 0x80 ? fmt::format_to(end, "\\x{:02x}", code)
                  : fmt::format_to(end, "\\u{{{:x}}}", code);
  }
}

std::string escape(std::string_view text, std::string_view backslash) {
  std::string out;
  while (!text.empty()) {
    const auto next = first(text);
    if (next.size == 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (next.code == '\\') {
      out += backslash;
    } else if (is_misleading(next.code)) {
      append_escaped(out, next.code);
    } else {
      out += text.substr(0, next.size);
    }
    text.remove_prefix(std::max<std::size_t>(next.size, 1));
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escape(text, "\\\\"); }

std::string printable_message(std::string_view text) { return escape(text, "\\"); }

std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto size = first(text).size;
    if (size == 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    out += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto next = first(text);
    if (next.size == 0) return false;
    text.remove_prefix(next.size);
  }
  return true;
}

std::size_t width(std::string_view printable_text) {
  std::size_t columns = 0;
  while (!printable_text.empty()) {
    const auto next = first(printable_text);
    const int needed = ::wcwidth(static_cast<wchar_t>(next.code));
    columns += needed < 0 ? 1 : static_cast<std::size_t>(needed);
    printable_text.remove_prefix(std::max<std::size_t>(next.size, 1));
  }
  return columns;
}

}  // namespace holdfast::cli
