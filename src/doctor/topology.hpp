// The servers around a master: its replicas, and the sentinels that watch over it.
#pragma once

#include <cstdint>
#include <vector>

#include <holdfast/inspector.hpp>

#include "doctor/clock_reading.hpp"
#include "doctor/deployment.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::doctor {

// Adds findings about the surroundings of the master that has the hash slot, and the clocks of its
// replicas. `ask` asks that master. Throws nothing that a server causes.
void examine_topology(runtime::client_core& core, std::uint16_t slot, standing as,
                      const asking& ask, std::vector<finding>& into,
                      std::vector<clock_reading>& clocks);

// Where no master answers: the findings of its sentinels, if there are any.
void examine_those_who_know(runtime::client_core& core, std::vector<finding>& into);

}  // namespace holdfast::doctor
