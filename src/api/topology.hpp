// What stands around the server: its replicas, and the sentinels that watch over it.
#pragma once

#include <cstdint>
#include <vector>

#include <holdfast/inspector.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::api {

// Adds what was found around whoever has the hash slot. Throws nothing that a server causes.
void examine_topology(runtime::client_core& core, std::uint16_t slot, std::vector<finding>& into);

}  // namespace holdfast::api
