// Numbers of permits as words.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::cli {

// Nothing for a text that is not a whole number from 0 to the most that a semaphore can have.
inline std::optional<std::uint32_t> parse_permits(std::string_view digits) {
  constexpr std::uint32_t most = 1'000'000;
  std::uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [last, failed] = std::from_chars(digits.data(), end, number);
  const bool good = failed == std::errc{} && last == end && number <= most;
  return good ? std::optional(number) : std::nullopt;
}

}  // namespace holdfast::cli
