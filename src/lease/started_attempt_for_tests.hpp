// For the unit tests of this room: an attempt whose first request has left.
#pragma once

#include <cstdint>

#include "lease/acquire_machine.hpp"
#include "lease/answers_for_tests.hpp"
#include "substrate/claim.hpp"

namespace holdfast::leasing {

inline constexpr patience once{};
inline constexpr patience for_ever{true, monotonic_time::max()};
constexpr patience until(monotonic_time end) { return {true, end}; }
inline constexpr milliseconds response_timeout{2000};
inline constexpr milliseconds lease{10'000};

inline constexpr monotonic_time start = local_start;

inline acquire_machine machine_of(patience how_long, std::uint64_t seed = 1,
                                  const substrate::claim& wanted = test_claim(lease)) {
  return {new_claim(wanted), how_long, {.response_timeout = response_timeout, .seed = seed}};
}

// Its first request left at the start.
inline acquire_machine started(patience how_long, std::uint64_t seed = 1,
                               const substrate::claim& wanted = test_claim(lease)) {
  acquire_machine machine = machine_of(how_long, seed, wanted);
  machine.start(start);
  return machine;
}

}  // namespace holdfast::leasing
