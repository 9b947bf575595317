// For the unit tests of this room: the states of a session, by the names of the table.
#pragma once

#include <cstddef>
#include <string_view>

#include "lease/lock_session.hpp"

namespace holdfast::leasing {

inline constexpr std::string_view all_states[] = {
    "idle", "stopped",  "asking",    "confirming", "leaving",    "held",
    "lost", "replaced", "returning", "returned",   "taken_back", "over"};

constexpr std::string_view name_of(lock_session::state what) noexcept {
  return all_states[static_cast<std::size_t>(what)];
}

}  // namespace holdfast::leasing
