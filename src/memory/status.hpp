// Locks in memory as an inspector shows them.
#pragma once

#include <string_view>

#include <holdfast/inspector.hpp>

#include "memory/memory_engine.hpp"

namespace holdfast::memory {

lock_status status_of(memory_engine& of, std::string_view name);

// Takes the lock from all who have it: their state.
lock_status break_lock(memory_engine& of, std::string_view name);

}  // namespace holdfast::memory
