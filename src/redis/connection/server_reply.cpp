#include "redis/connection/server_reply.hpp"

#include <algorithm>
#include <cstdint>

#include "base/number.hpp"

namespace holdfast::redis {

std::optional<server_time> read_time(const resp::value& reply) {
  if (reply.items.size() != 2) return std::nullopt;
  const auto seconds = parse_number<std::int64_t>(reply.items[0].text);
  const auto micros = parse_number<std::int64_t>(reply.items[1].text);
  if (!seconds || !micros || *seconds < 0 || *micros < 0) return std::nullopt;
  return server_time{std::chrono::seconds{*seconds} + microseconds{*micros}};
}

std::string info_field(const std::string& info, std::string_view name) {
  std::size_t line = 0;
  while (line < info.size()) {
    const auto end = std::min(info.find("\r\n", line), info.size());
    const auto text = std::string_view(info).substr(line, end - line);
    if (text.starts_with(name) && text.size() > name.size() && text[name.size()] == ':') {
      return std::string(text.substr(name.size() + 1));
    }
    line = end + 2;
  }
  return {};
}

std::optional<std::string> read_setting(const resp::value& reply) {
  if (reply.is(resp::type::error) || reply.items.size() < 2) return std::nullopt;
  return reply.items[1].text;
}

}  // namespace holdfast::redis
