// The clients behind request ids.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/errc.hpp>
#include <holdfast/holder.hpp>

#include "redis/calls/inquiry.hpp"
#include "redis/dialects/holdfast/client_registry.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// Adds what the client registry knows; an entry that is gone leaves the fields empty. `client`: see
// dialects::parse_owner. Throws failure when the server cannot be asked.
void look_up(runtime::client_core& core, const std::string& client, holder& owner,
             const redis_locks::bound& within = {});

// Entries of the client registry, each asked for once. One that cannot be read counts as gone: it
// must not hide the lock that names it. In a cluster it may be at another node than the lock: if
// that node does not answer, it is not asked again. Thread safety: one thread.
class known_clients {
 public:
  using entry = std::optional<dialects::client_entry>;

  explicit known_clients(runtime::client_core& core, redis_locks::bound within = {})
      : core_(core), asked_(core, std::move(within)) {}

  // A client, and fields of its entry with notes that are to be learnt with it.
  struct wanted {
    std::string client;
    std::vector<std::string> notes{};
  };

  // Asks for those that are not known yet, many at a time. Throws failure when it is to stop.
  void learn(std::span<const wanted> clients);

  // Empty if it was not learnt.
  std::string note_of(const std::string& client, const std::string& field) const;

  // Why its entry could not be read; none: it was read, or is gone.
  std::optional<failure> why_unknown(const std::string& client) const;

  // Asks for it if it was not learnt.
  holder who(const std::string& client, std::string id);
  const entry& entry_of(const std::string& client);

 private:
  struct learnt {
    std::vector<std::string> notes{};  // their fields
    entry found{};
    std::optional<failure> why_unknown{};
  };

  void read(calls::question& asked, learnt& into);

  runtime::client_core& core_;
  calls::inquiry asked_;
  std::map<std::string, learnt> known_;
  std::map<const redis_locks::master*, failure> silent_;
};

}  // namespace holdfast::inspection
