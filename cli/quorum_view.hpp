// Locks of a quorum, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include <holdfast/quorum_inspector.hpp>

#include "cli/command.hpp"

namespace holdfast::cli {

std::string quorum_table(const std::vector<quorum_status>& locks);
// The vote of each member.
std::string votes_table(const quorum_status& lock);
nlohmann::ordered_json to_json(const quorum_status& lock);

// Says at how many members another library has a vote of this name, where Holdfast has no majority.
void tell_of_foreign_votes(const std::vector<client>& members, const std::string& name,
                           const context& shared);

}  // namespace holdfast::cli
