// The audit trail of a key space, the stream `trail`: who was granted a lock, and how that ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/errc.hpp>
#include <holdfast/lock_kind.hpp>

#include "base/key_space.hpp"
#include "redis/dialects/recipe.hpp"

namespace holdfast::dialects {

// Where a stream of a key space is: in a cluster at one of its nodes.
struct stream_place {
  stream_place(const key_space&, std::string_view name);
  std::string key;
  std::uint16_t slot;
};

// The trail keeps about so many entries, and never fewer.
inline constexpr std::int64_t trail_entries = 10'000;
// How many one command writes down.
inline constexpr std::size_t trail_batch = 100;

struct trail_author {
  std::string host;
  std::int64_t pid = 0;
  std::string program;
  std::string client;  // its id, all of it
  friend bool operator==(const trail_author&, const trail_author&) = default;
};

enum class trail_event : std::uint8_t { granted, released, lost, missed };

// An entry, before it is written.
struct trail_note {
  trail_event what = trail_event::granted;
  std::string name{};
  lock_kind kind = lock_kind::unknown;
  std::uint64_t token = 0;  // 0: none
  std::optional<errc> error{};
  monotonic_time granted_at{};  // tells grants of one client apart
  monotonic_time at{};          // when it happened
  std::uint64_t many = 0;       // missed: entries that were dropped
};
void write_trail(const stream_place&, const trail_author&, std::span<const trail_note>,
                 monotonic_time now, resp::writer&);
std::optional<refused> read_trail_written(const resp::value&);

// An entry, as it was read. Times are the server's, in ms.
struct trail_entry {
  trail_event what = trail_event::granted;
  std::string name;
  lock_kind kind = lock_kind::unknown;
  std::uint64_t token = 0;
  std::string error;       // the name of an errc, or empty
  std::string grant;       // with the client: which grant it is
  milliseconds granted{};  // about
  milliseconds at{};       // about when it happened
  trail_author by;
};

// A break, from the stream `audit`: see audit_entry.
struct break_entry {
  std::string name;
  std::string owner;
  std::uint64_t token = 0;
  std::string by;
  std::string reason;
  milliseconds at{};
};

// A page of a stream, from an id that is "-" at first.
inline constexpr std::size_t stream_page_size = 500;
template <typename Entry>
struct stream_page {
  milliseconds now{};       // the server's time
  std::int64_t length = 0;  // of the whole stream
  std::size_t read = 0;     // entries in the page, also those that are no Entry
  milliseconds first{};     // when the first of them was written
  std::string next;         // from where to go on
  std::vector<Entry> entries{};
};
void write_trail_query(std::string_view key, std::string_view from, resp::writer&);
std::variant<stream_page<trail_entry>, refused> read_trail(const resp::value&);
void write_breaks_query(std::string_view key, std::string_view from, resp::writer&);
std::variant<stream_page<break_entry>, refused> read_breaks(const resp::value&);

}  // namespace holdfast::dialects
