// Who is behind a request id.
#pragma once

#include <map>
#include <string>

#include <holdfast/holder.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::api {

// Adds what the client registry knows; an entry that is gone leaves the fields empty. `client`: see
// dialects::parse_owner. Throws failure when the server cannot be asked.
void look_up(runtime::client_core& core, const std::string& client, holder& owner);

// What the registry knows of clients, each asked for once.
class known_clients {
 public:
  explicit known_clients(runtime::client_core& core) : core_(core) {}
  holder who(const std::string& client, std::string id);

 private:
  runtime::client_core& core_;
  std::map<std::string, holder> known_;
};

}  // namespace holdfast::api
