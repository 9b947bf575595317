// The votes of a quorum's members for a lock: whose they are, and taking them away.
#pragma once

#include <string_view>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/dialect.hpp>
#include <holdfast/quorum_inspector.hpp>

namespace holdfast::inspection {

// quorum_inspector::status. `how`: a dialect that is another library's.
quorum_status count_votes(const std::vector<client>& members, std::string_view name);
quorum_status count_votes(const std::vector<client>& members, std::string_view name,
                          const dialect& how);

// quorum_inspector::break_lock. `how`: as above.
quorum_status break_votes(const std::vector<client>& members, std::string_view name,
                          std::string_view reason);
quorum_status break_votes(const std::vector<client>& members, std::string_view name,
                          std::string_view reason, const dialect& how);

}  // namespace holdfast::inspection
