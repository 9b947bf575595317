#include <holdfast/quorum_inspector.hpp>

#include <utility>

#include "api/quorum_members.hpp"
#include "doctor/quorum_diagnosis.hpp"
#include "inspection/votes.hpp"

namespace holdfast {

quorum_inspector::quorum_inspector(std::vector<client> members) : members_(std::move(members)) {
  (void)api::members_of(members_);
}

quorum_status quorum_inspector::status(std::string_view name) const {
  return inspection::count_votes(members_, name);
}

quorum_status quorum_inspector::status(std::string_view name, const dialect& how) const {
  if (how == dialect{}) return status(name);
  return inspection::count_votes(members_, name, how);
}

quorum_status quorum_inspector::break_lock(std::string_view name, std::string_view reason) const {
  return inspection::break_votes(members_, name, reason);
}

quorum_status quorum_inspector::break_lock(std::string_view name, std::string_view reason,
                                           const dialect& how) const {
  if (how == dialect{}) return break_lock(name, reason);
  return inspection::break_votes(members_, name, reason, how);
}

std::vector<finding> quorum_inspector::diagnose() const {
  return doctor::diagnose_quorum(members_);
}

}  // namespace holdfast
