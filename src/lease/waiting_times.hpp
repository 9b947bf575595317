// How long a request that waits in the queue may stay silent.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "dialects/recipe.hpp"

namespace holdfast::leasing {

// A waiter asks at least so often whether its place, its connection and its wake-ups are still
// there. Those further back need it less, so that a thousand waiters stay a small load. The scripts
// drop who was silent for twice the longest time (pass_on.lua).
constexpr milliseconds ask_bound(std::uint64_t place) noexcept {
  constexpr milliseconds first{15'000};
  constexpr milliseconds longest{60'000};
  constexpr milliseconds each{100};
  if (place >= 450) return longest;
  return first + each * static_cast<milliseconds::rep>(place);
}

// When the first in the queue asks: the owner's lease has run out by then. Each further one gives
// everybody before him time for a claim.
constexpr milliseconds until_turn(const dialects::queued& where) noexcept {
  const milliseconds bound = ask_bound(where.place);
  if (where.place >= 60) return bound;
  const auto before = static_cast<milliseconds::rep>(where.place);
  return std::min(bound, where.remaining + dialects::longest_claim * before);
}

}  // namespace holdfast::leasing
