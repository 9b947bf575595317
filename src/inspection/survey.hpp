// Looking at all locks of a server, or of the masters of a cluster, as far as they can be seen.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/errc.hpp>
#include <holdfast/inspector.hpp>

#include "redis/locks/blocking_request.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// One that cannot be looked at hides no other: it is noted, and the survey goes on. Thread safety:
// one thread.
class survey {
 public:
  // Asks a node of a cluster for the masters, where they are not known yet.
  explicit survey(runtime::client_core& core, const redis_locks::bound& within = {});

  // Walks over each server that has keys, but for one that was of no use before. Throws failure if
  // none could be asked.
  void each_server(const std::function<void(redis::connection&)>& walk);

  // False: the server of this lock was of no use before, and the lock is noted as not seen.
  bool may_look(const std::string& name, std::uint16_t slot);

  // Looks at the lock of this name. False: it cannot be seen.
  bool look(const std::string& name, std::uint16_t slot, const std::function<void()>& at);

  // As above, for keys that have no lock's name. Throws a failure that asking again would not mend.
  void look_at_keys(std::size_t count, std::uint16_t slot, const std::function<void()>& at);

  // The locks that were noted. Throws the first failure if nothing at all was seen of the only
  // server.
  std::vector<unseen_locks> unseen();

 private:
  bool is_cluster() const { return redis_locks::engine_of(core_).is_cluster(); }
  // Asked again it would keep us waiting for as long.
  const std::string* why_unseen(const redis_locks::master& server) const;
  void note(unseen_locks which, const failure& why);

  struct silent_server {
    const redis_locks::master* server;
    std::string why;
  };

  runtime::client_core& core_;
  std::vector<silent_server> silent_;
  std::vector<unseen_locks> unseen_;
  std::optional<failure> first_;
  bool saw_something_ = false;
};

}  // namespace holdfast::inspection
