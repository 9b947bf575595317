// How long a request that waits in the queue may stay silent.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

// A waiter asks at least so often whether its place, its connection and its wake-ups are still
// there. Those in front ask more often: nobody tells them that the one before them got the lock and
// died of it. Those further back need it less, so that 200 waiters ask 15 times a second and a
// thousand no more than that. The scripts drop a waiter that was silent for twice the longest time
// (pass_on.lua).
constexpr milliseconds ask_bound(std::uint64_t place) noexcept {
  constexpr milliseconds longest{60'000};
  constexpr std::uint64_t front = 14;
  if (place < 1) return milliseconds{2000};
  if (place < front) return milliseconds{1000} * static_cast<milliseconds::rep>(place + 1);
  if (place >= 464) return longest;
  return milliseconds{15'000} + milliseconds{100} * static_cast<milliseconds::rep>(place - front);
}

// When a waiter asks by itself. The holder's lease has run out by then, should the holder die. Each
// waiter leaves those before it time to ask first, but asks even so: all of them may have died with
// the holder. Only a few waiters ask that soon, or a crowd would ask whenever a client has the lock
// for a moment. Behind these few, each leaves those before it time for a provisional grant.
constexpr milliseconds time_to_ask{20};
constexpr std::uint64_t most_that_ask_soon = 16;

constexpr milliseconds until_turn(const substrate::queued& where) noexcept {
  const milliseconds bound = ask_bound(where.place);
  if (where.place >= 60) return bound;
  const auto soon = static_cast<milliseconds::rep>(std::min(where.place, most_that_ask_soon));
  const auto later = static_cast<milliseconds::rep>(where.place) - soon;
  return std::min(bound, where.remaining + time_to_ask * soon + substrate::longest_claim * later);
}

}  // namespace holdfast::leasing
