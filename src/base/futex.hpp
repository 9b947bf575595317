// Sleeping on a 32-bit word until it changes: a wake-up costs nothing when nobody sleeps.
#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast {

// Returns when the word no longer has this value, after a wake-up, or spuriously.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
void futex_wake_one(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace holdfast
