// Reading numbers.
#pragma once

#include <algorithm>
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

// As above, of a text that anybody may have written: 0 for what is no number, and for negative
// ones.
template <typename Number>
Number number_or_zero(std::string_view text) noexcept {
  return std::max<Number>(parse_number<Number>(text).value_or(0), 0);
}

}  // namespace holdfast
