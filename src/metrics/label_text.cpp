#include "metrics/label_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace holdfast::metering {
namespace {

std::uint8_t byte_at(std::string_view bytes, std::size_t i) noexcept {
  return i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : 0;
}

// Of the character that begins there; 0: none does (RFC 3629).
std::size_t length_of(std::string_view bytes, std::size_t from) noexcept {
  const auto first = byte_at(bytes, from), second = byte_at(bytes, from + 1);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(bytes, from + i) & 0xc0) != 0x80) return 0;
  }
  const bool is_too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool is_surrogate = first == 0xed && second > 0x9f;
  const bool is_too_large = first == 0xf4 && second > 0x8f;
  return is_too_long || is_surrogate || is_too_large ? 0 : length;
}

}  // namespace

std::string as_utf8(std::string bytes) {
  const auto is_ascii = [](char c) { return static_cast<std::uint8_t>(c) < 0x80; };
  if (std::ranges::all_of(bytes, is_ascii)) return bytes;
  std::string text;
  for (std::size_t i = 0; i < bytes.size();) {
    const auto length = length_of(bytes, i);
    text +=
        length == 0 ? std::string_view{"\xef\xbf\xbd"} : std::string_view{bytes}.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return text;
}

}  // namespace holdfast::metering
