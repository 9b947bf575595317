// The client behind a request id.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include <holdfast/holder.hpp>

#include "redis/locks/blocking_request.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// Adds what the client registry knows; an entry that is gone leaves the fields empty. `client`: see
// dialects::parse_owner. Throws failure when the server cannot be asked.
void look_up(runtime::client_core& core, const std::string& client, holder& owner,
             const redis_locks::bound& within = {});

// Entries of the client registry, each asked for once. In a cluster an entry may be at another node
// than the lock: if that node cannot be asked, the entry counts as gone, and the node is not asked
// again.
class known_clients {
 public:
  explicit known_clients(runtime::client_core& core, redis_locks::bound within = {})
      : core_(core), within_(std::move(within)) {}
  holder who(const std::string& client, std::string id);

 private:
  void look(const std::string& client, holder& owner);

  runtime::client_core& core_;
  const redis_locks::bound within_;  // of each round trip
  std::map<std::string, holder> known_;
  std::set<const redis_locks::master*> silent_;
};

}  // namespace holdfast::inspection
