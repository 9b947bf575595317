// Reading numbers.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace holdfast {

// The number that `text` is, all of it. Nothing for anything else, and for one that is too large.
template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, value, base);
  if (failed != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

}  // namespace holdfast
