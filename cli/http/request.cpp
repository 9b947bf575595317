#include "cli/http/request.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace holdfast::cli::http {
namespace {

// In a query a plus stands for a space.
std::optional<std::string> query_decoded(std::string_view text) {
  std::string with_spaces(text);
  for (char& c : with_spaces) c = c == '+' ? ' ' : c;
  return percent_decoded(with_spaces);
}

bool add_pair(std::string_view pair, std::map<std::string, std::string>& query) {
  const auto equals = pair.find('=');
  auto name = query_decoded(pair.substr(0, equals));
  auto value = query_decoded(equals == pair.npos ? std::string_view{} : pair.substr(equals + 1));
  if (!name || !value) return false;
  query.emplace(*std::move(name), *std::move(value));
  return true;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    const auto digits = text.substr(i + 1, 2);
    unsigned value = 0;
    const auto* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value, 16);
    if (digits.size() != 2 || read.ptr != end || read.ec != std::errc{}) return std::nullopt;
    bytes += static_cast<char>(value);
    i += 2;
  }
  return bytes;
}

std::string percent_encoded(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

std::optional<request> parse_target(std::string_view target) {
  if (!target.starts_with('/')) return std::nullopt;
  const auto mark = target.find('?');
  request asked{.path = std::string(target.substr(0, mark)), .query = {}};
  if (!percent_decoded(asked.path)) return std::nullopt;
  auto rest = mark == target.npos ? std::string_view{} : target.substr(mark + 1);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    if (end > 0 && !add_pair(rest.substr(0, end), asked.query)) return std::nullopt;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return asked;
}

}  // namespace holdfast::cli::http
