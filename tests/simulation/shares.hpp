// Which holders may have a lock together: docs/kinds.md once more, not taken from the scripts.
#pragma once

#include <cstdint>
#include <span>

#include "redis/dialects/holdfast/shared_holders.hpp"
#include "redis/dialects/recipe.hpp"

namespace holdfast::simulation {

using dialects::share;

// A lock that one at a time can have is wanted in the mode x.
share share_of(const substrate::demand* wanted);

// How many permits there are, of a semaphore.
bool go_together(std::span<const share> all, std::uint32_t limit);

}  // namespace holdfast::simulation
