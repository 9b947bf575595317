// The replicas of a master: each may be the next one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "doctor/clock_reading.hpp"
#include "doctor/deployment.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::doctor {

// As others than its master know it: the sentinels, or the nodes of a cluster.
struct known_replica {
  std::string where;
  std::string flags;  // "slave,s_down,disconnected"
};

// The arguments of a look at the replicas.
struct replica_search {
  std::uint16_t slot = 0;              // of whose master
  finding::severity without{};         // how bad it is to have none
  standing as{};                       // the part that they would play as the master
  std::vector<known_replica> known{};  // also those that are not connected to the master
};

// Adds what was found, and the clocks of those that can be asked. Throws failure when the master
// does not answer.
void examine_replicas(runtime::client_core&, const replica_search&, std::vector<finding>& into,
                      std::vector<clock_reading>& clocks);

}  // namespace holdfast::doctor
