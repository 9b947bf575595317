// How Redisson makes known what has happened to a lock: docs/wire/redisson.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "redis/resp/writer.hpp"

namespace holdfast::dialects {

// In a cluster it uses sharded channels where servers know them (its shardedSubscriptionMode AUTO).
// Scripts are told by their last argument: parts/say.lua.
enum class messages : std::uint8_t { plain, sharded };

inline constexpr const char* sharded_command = "SPUBLISH";

// How many arguments that takes.
constexpr std::size_t words_of(messages how) noexcept { return how == messages::sharded ? 1 : 0; }

inline void write_words(messages how, resp::writer& out) {
  if (how == messages::sharded) out.arg(sharded_command);
}

}  // namespace holdfast::dialects
