// The index of held locks: the sorted set `held` of a key space, from which people who list locks
// learn their names without looking at every key of a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/key_space.hpp"
#include "redis/dialects/recipe.hpp"

namespace holdfast::dialects {

// Where the index of a key space is: in a cluster at one of its nodes.
struct held_index_place {
  explicit held_index_place(const key_space&);
  std::string key;
  std::uint16_t slot;
};

struct held_name {
  std::string lock;
  milliseconds at_most{};    // for which it may be held from now on
  bool is_released = false;  // at most so long, whatever was written down before
};

// How many one command writes down.
inline constexpr std::size_t held_batch = 100;

// Writes down 1 to held_batch names. The answer is 1 or an error.
void write_held(const held_index_place&, std::span<const held_name>, resp::writer&);
std::optional<refused> read_held_written(const resp::value&);

// Reads one page of the index, from a cursor that is "0" at first and "0" again at the end, without
// the names whose time is over. A name may come twice; its lock may be free by now.
struct held_page {
  std::string cursor;
  std::vector<std::string> locks;
};
void write_held_query(const held_index_place&, std::string_view cursor, resp::writer&);
std::variant<held_page, refused> read_held(resp::value&&, server_time now);

}  // namespace holdfast::dialects
