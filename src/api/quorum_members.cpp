#include "api/quorum_members.hpp"

#include <algorithm>

#include <holdfast/errc.hpp>

#include "api/checks.hpp"
#include "base/printable.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast::api {
namespace {

using core_pointer = std::shared_ptr<runtime::client_core>;

}  // namespace

std::vector<core_pointer> members_of(const std::vector<client>& servers) {
  std::vector<core_pointer> members;
  for (const auto& each : servers) members.push_back(detail::lock_access::core(each));
  if (members.empty()) throw failure{errc::invalid_argument, "a quorum needs at least one member"};
  for (auto one = members.begin(); one != members.end(); ++one) {
    (*one)->check_process();
    refuse(
        redis_locks::engine_of(**one).is_cluster(),
        "a cluster cannot be a member of a quorum: its masters are no one server that votes, and "
        "each may be replaced by one that does not know its votes");
    refuse((*one)->engine().options().min_replicas > 0,
           "min_replicas is not for members of a quorum: a vote counts when it is given, and most "
           "members keep theirs");
    if ((*one)->engine().space().prefix() != members.front()->engine().space().prefix()) {
      throw failure{errc::invalid_argument,
                    "the members of a quorum must have the same client_options::tenant: else each "
                    "would vote for a lock of its own"};
    }
    const auto is_same = [&](const core_pointer& other) {
      // A private server is its client's alone.
      return other == *one || (other->url() == (*one)->url() && other->url() != "embedded:");
    };
    if (std::none_of(members.begin(), one, is_same)) continue;
    throw failure{errc::invalid_argument,
                  "two members of the quorum are the same server: " + printable((*one)->url())};
  }
  return members;
}

}  // namespace holdfast::api
