#include "redis/server_reply.hpp"

#include <charconv>
#include <cstdint>

namespace holdfast::redis {

std::optional<server_time> read_time(const resp::value& reply) {
  if (reply.items.size() != 2) return std::nullopt;
  std::int64_t parts[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& text = reply.items[i].text;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), parts[i]);
    if (code != std::errc{} || end != text.data() + text.size() || parts[i] < 0)
      return std::nullopt;
  }
  return server_time{std::chrono::seconds{parts[0]} + microseconds{parts[1]}};
}

}  // namespace holdfast::redis
