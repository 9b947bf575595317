// Sleeping on a 32-bit word until it changes: a wake-up costs nothing when nobody sleeps.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.hpp"

namespace holdfast {

// Returns when the word no longer has this value, after a wake-up, or spuriously. The second one
// also when this time has passed, if it is above zero; at once if it is not.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                nanoseconds at_most) noexcept;
void futex_wake_one(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace holdfast
