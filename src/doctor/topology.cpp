#include "doctor/topology.hpp"

#include <utility>

#include "doctor/cluster_check.hpp"
#include "doctor/replica_check.hpp"
#include "doctor/sentinel_check.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::doctor {
namespace {

using severity = finding::severity;

milliseconds patience(const redis::session_settings& session) {
  return session.connect_timeout / 4;
}

}  // namespace

void examine_topology(runtime::client_core& core, std::uint16_t slot, standing as,
                      const asking& ask, std::vector<finding>& into,
                      std::vector<clock_reading>& clocks) {
  const auto& session = redis_locks::engine_of(core).connection(slot).settings();
  // The replica of a member would be no member.
  const auto replica_as = as == standing::member ? standing::alone : as;
  replica_search search{.slot = slot, .without = severity::ok, .as = replica_as};
  if (session.sentinels) {
    search.without = severity::problem;
    const auto sentinel = examine_sentinels(*session.sentinels, patience(session), into);
    if (sentinel) {
      search.known = replicas_known_to(*sentinel, *session.sentinels, patience(session), into);
    }
  } else if (session.asks_slots) {
    search.without = severity::warning;
    auto seen = look_from_node(ask);
    examine_moves(seen, into);
    examine_coverage(ask, redis_locks::engine_of(core).masters().size(), into);
    search.known = std::move(seen.replicas);
  }
  try {
    examine_replicas(core, search, into, clocks);
  } catch (const failure& broken) {
    into.push_back({severity::warning, "replica", broken.what(), "ask again"});
  }
}

void examine_those_who_know(runtime::client_core& core, std::vector<finding>& into) {
  const auto& session = redis_locks::engine_of(core).connection(0).settings();
  if (session.sentinels) (void)examine_sentinels(*session.sentinels, patience(session), into);
}

}  // namespace holdfast::doctor
