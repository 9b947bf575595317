// Reads the common parts of the holdfast scripts' answers. Reading is total: any answer of the
// server becomes a value or a refusal with a sentence.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "redis/dialects/recipe.hpp"

namespace holdfast::dialects {

// Nobody holds a lock for ten years: a longer time left (somebody used PEXPIRE on our key) is told
// as this one, so that sums with it cannot overflow.
inline constexpr milliseconds longest_ttl = std::chrono::hours(10 * 365 * 24);

// A time left in milliseconds; nothing unless the value is an integer and not negative.
std::optional<milliseconds> read_ttl(const resp::value&) noexcept;

// A major from 0 to largest_major, as an integer or as decimal text.
std::optional<token_major> read_major(const resp::value&) noexcept;

// A server's time in microseconds.
std::optional<server_time> read_time(const resp::value&) noexcept;

// The first word of an array that begins with a text; empty for everything else.
std::string_view leading_word(const resp::value&) noexcept;

// {"late", server time}, which every script says in the same way.
std::optional<late> read_late(const resp::value&) noexcept;

// {"foreign"}, {"layout", version}: the key is not a lock that we understand. `key` as in
// lock_key::value_key().
std::optional<refused> read_not_ours(const resp::value&, std::string_view key);

// {"family", letter}: the lock is one of modes, or of permits, and asked for as the other.
std::optional<refused> read_other_family(const resp::value&);

// An error reply of the server.
refused refused_by_server(std::string_view error);

// For an answer that the server should not have given. `asked` names the question, e.g. "acquire".
refused not_understood(std::string_view asked, const resp::value&);

// As above, for an answer that may contain an owner, which must not be shown: so it is not quoted.
refused unquoted_not_understood(std::string_view asked, const resp::value&);

// Error replies and everything else that has no meaning here.
refused refused_or_not_understood(std::string_view asked, const resp::value&);

}  // namespace holdfast::dialects
