// The text in a lock's key: `<layout version>:<major>:<request id>`, e.g. "1:1795240014867674:
// 0f...-2a". Token and owner in one text, so that after a grant one comparison proves both.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/request_id.hpp"
#include "redis/dialects/recipe.hpp"

namespace holdfast::dialects {

// The scripts compute with doubles: exact up to here, which in microseconds is the year 2112, and
// times minors_per_major it still fits a fencing token.
inline constexpr token_major largest_major = std::uint64_t{1} << 52;

// A floor is believed when it is less than this ahead of the server's clock, and a counter that was
// lost begins so far ahead of it (decision 18). So majors are further ahead only when the clock was
// set back. The scripts have the same number (parts/count_on).
inline constexpr microseconds longest_lead = std::chrono::seconds(10);

// The last grant of a hash slot, when its major is ahead of the server's clock: then the counter
// also says when it was drawn.
struct counted_grant {
  token_major major = 0;  // 0: the counter says no time
  server_time at{};
  friend bool operator==(const counted_grant&, const counted_grant&) = default;
};
counted_grant parse_counter(std::string_view text) noexcept;

// About when a grant with this major was made, by the server's clock, from which majors are drawn.
// A major may be ahead of the clock: when the counter does not say its time, the grant was made not
// later than `now`.
constexpr std::chrono::system_clock::time_point granted_at(token_major major, server_time now,
                                                           counted_grant last) noexcept {
  const server_time drawn =
      major == last.major ? last.at : server_time{microseconds{static_cast<std::int64_t>(major)}};
  return std::chrono::system_clock::time_point{std::min(drawn, now).time_since_epoch()};
}

// The value of a lock that `owner` was granted with `major` (0: without a token). No allocation.
class lock_value {
 public:
  lock_value(token_major major, const request_id& owner) noexcept;
  std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 2 + 20 + 1 + 50> text_;
  std::uint8_t size_;
};

// The parts of such a text, or nothing when it is none. `owner` points into it.
struct lock_value_parts {
  token_major major;
  std::string_view owner;
};
std::optional<lock_value_parts> parse_lock_value(std::string_view text) noexcept;

// The version, when the text looks like a lock of another layout version.
std::optional<std::string_view> other_layout_version(std::string_view text) noexcept;

// Whether this is the id of a client of ours.
bool is_client(std::string_view text) noexcept;

// A request id, taken apart. Owners need not have this form: other programs may write the layout.
struct owner_parts {
  std::string client;     // 32 hexadecimal digits: the key of its registry entry. Never shown
  std::string shortened;  // the part that people may see, as request_id::shortened()
};
owner_parts parse_owner(std::string_view owner);

}  // namespace holdfast::dialects
