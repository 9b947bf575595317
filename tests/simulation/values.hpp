// Seeded runs of clients that change a value: each change counts once. The real machine and
// scripts, one simulated server, and the faults of gates.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "simulation/gates.hpp"

namespace holdfast::simulation {

//   counter        (counter_watch.cpp)  each change makes of it what it should, in 64 bits
//   fenced-write   (fence_watch.cpp)    none is taken whose token is below one that was
//   rate-limiter   (rate_watch.cpp)     in any time t no more than burst + rate t are given out,
//                                       and no client is refused that could have had its own
//   value-block    (block_watch.cpp)    only a holder for writing writes it
//
// and of all: change_watch.hpp.
inline constexpr std::array<std::string_view, 4> value_names = {"counter", "fenced-write",
                                                                "rate-limiter", "value-block"};

// Of the value that is so many-th among these.
gate_outcome simulate_value(std::size_t which, std::uint64_t seed);

}  // namespace holdfast::simulation
