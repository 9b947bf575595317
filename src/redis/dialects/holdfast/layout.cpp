#include "redis/dialects/holdfast/layout.hpp"

#include <algorithm>
#include <charconv>

#include "base/printable.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::string_view version_prefix = "1:";
constexpr std::size_t client_digits = 32;
constexpr std::size_t foreign_digits = 8;  // shown of what is no request id

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_hex(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f'); }

}  // namespace

lock_value::lock_value(token_major major, const request_id& owner) noexcept {
  char* at = std::copy(version_prefix.begin(), version_prefix.end(), text_.data());
  at = std::to_chars(at, text_.data() + text_.size(), major).ptr;
  *at++ = ':';
  const request_text id = owner.text();
  const std::string_view digits = id;
  at = std::copy(digits.begin(), digits.end(), at);
  size_ = static_cast<std::uint8_t>(at - text_.data());
}

std::optional<lock_value_parts> parse_lock_value(std::string_view text) noexcept {
  if (!text.starts_with(version_prefix)) return std::nullopt;
  text.remove_prefix(version_prefix.size());
  lock_value_parts parts{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), parts.major);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (failed != std::errc{} || parts.major > largest_major) return std::nullopt;
  if (text.size() < 2 || text.front() != ':') return std::nullopt;
  parts.owner = text.substr(1);
  return parts;
}

counted_grant parse_counter(std::string_view text) noexcept {
  const char* const end = text.data() + text.size();
  token_major major = 0;
  const auto number = std::from_chars(text.data(), end, major);
  if (number.ec != std::errc{} || number.ptr == end || *number.ptr != ' ') return {};
  std::int64_t micros = 0;
  const auto time = std::from_chars(number.ptr + 1, end, micros);
  if (time.ec != std::errc{} || time.ptr != end) return {};
  return {major, server_time{microseconds{micros}}};
}

std::optional<std::string_view> other_layout_version(std::string_view text) noexcept {
  constexpr std::size_t most_digits = 3;
  const std::size_t digits = text.substr(0, most_digits + 1).find(':');
  if (digits == text.npos || digits == 0 || text.starts_with(version_prefix)) return std::nullopt;
  const std::string_view version = text.substr(0, digits);
  if (!std::all_of(version.begin(), version.end(), is_digit)) return std::nullopt;
  return version;
}

bool is_client(std::string_view text) noexcept {
  return text.size() == client_digits && std::ranges::all_of(text, is_hex);
}

owner_parts parse_owner(std::string_view owner) {
  const std::string_view client = owner.substr(0, client_digits);
  std::string_view counter = owner.substr(client.size());
  if (counter.size() > 2 && counter.ends_with('r')) counter.remove_suffix(1);
  const bool ours = is_client(client) && counter.size() > 1 && counter.size() <= 17 &&
                    counter.front() == '-' &&
                    std::all_of(counter.begin() + 1, counter.end(), is_hex);
  if (!ours) return {{}, printable(owner.substr(0, foreign_digits))};
  return {std::string{client}, std::string{client.substr(0, shown_client_digits)}.append(counter)};
}

}  // namespace holdfast::dialects
