// The value block of a lock with modes: `hf:{N}:v`, a writer leaves it for later holders.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "redis/dialects/holdfast/once.hpp"

namespace holdfast::dialects {

inline constexpr std::size_t longest_value_block = 64;

once_call value_block_write(const claim& held, std::string_view bytes);

// True: written. False: the lock is not held for writing any more.
std::variant<bool, refused> read_value_block_written(const once_answer&);

void write_value_block_query(const lock_key&, resp::writer&);

// The bytes; none where there is no block.
std::variant<std::string, refused> read_value_block(const lock_key&, const resp::value&);

}  // namespace holdfast::dialects
