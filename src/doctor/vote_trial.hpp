// Whether a server can vote as a member of a quorum does.
#pragma once

#include <string>

#include <holdfast/client.hpp>

namespace holdfast::doctor {

// Runs the scripts of a vote with a counter of its own, which goes with it. A member that votes in
// a hash slot for the first time founds it, and is asked no more whether it has forgotten something
// there: so that must be left to all members together. Throws failure when one of them does not
// run.
void try_a_vote(const client& redis, const std::string& name);

}  // namespace holdfast::doctor
