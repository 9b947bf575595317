#include <holdfast/quorum_inspector.hpp>

#include <utility>

#include "api/quorum_diagnosis.hpp"
#include "api/quorum_members.hpp"

namespace holdfast {

quorum_inspector::quorum_inspector(std::vector<client> members) : members_(std::move(members)) {
  (void)api::members_of(members_);
}

std::vector<finding> quorum_inspector::diagnose() const { return api::diagnose_quorum(members_); }

}  // namespace holdfast
