// Somebody copies the queue of one lock to another name, as by restoring a dump: a waiter for the
// one is told some day that it has the other, over the same channel and with the right proof.
#pragma once

#include <string>
#include <vector>

#include "base/lock_key.hpp"
#include "simulation/server/simulated_server.hpp"

namespace holdfast::simulation {

// The entries of the queue, as they are written there.
std::vector<std::string> copy_queue(simulated_server&, const lock_key& from, const lock_key& to);

}  // namespace holdfast::simulation
