// SipHash-2-4 of one number: a keyed hash from which nobody can tell the key or the next value.
#pragma once

#include <array>
#include <cstdint>

namespace holdfast {

using siphash_key = std::array<std::uint64_t, 2>;

std::uint64_t siphash(const siphash_key& key, std::uint64_t number) noexcept;

}  // namespace holdfast
