// What stands around the server: its replicas, and the sentinels that watch over it.
#pragma once

#include <cstdint>
#include <vector>

#include <holdfast/inspector.hpp>

#include "doctor/clock_reading.hpp"
#include "doctor/deployment.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::doctor {

// Adds what was found around whoever has the hash slot, who is asked by `ask`, and the clocks of
// its replicas. Throws nothing that a server causes.
void examine_topology(runtime::client_core& core, std::uint16_t slot, standing as,
                      const asking& ask, std::vector<finding>& into,
                      std::vector<clock_reading>& clocks);

// Where no master answers: what its sentinels say, should there be some.
void examine_those_who_know(runtime::client_core& core, std::vector<finding>& into);

}  // namespace holdfast::doctor
