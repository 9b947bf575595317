#include "api/registry.hpp"

#include <utility>

#include "api/ask.hpp"
#include "api/once.hpp"
#include "dialects/holdfast/client_registry.hpp"

namespace holdfast::api {

void look_up(runtime::client_core& core, const std::string& client, holder& owner) {
  if (client.empty()) return;
  const dialects::client_place place{core.engine().space(), client};
  const auto answer =
      ask(core, place.slot, [&](resp::writer& out) { dialects::write_client_query(place, out); });
  const auto entry = accept(dialects::read_client(answer));
  if (!entry) return;
  owner.host = entry->host;
  owner.pid = entry->pid;
  owner.program = entry->program;
  owner.version = entry->version;
}

holder known_clients::who(const std::string& client, std::string id) {
  auto [entry, is_new] = known_.try_emplace(client);
  if (is_new) look_up(core_, client, entry->second);
  holder found = entry->second;
  found.id = std::move(id);
  return found;
}

}  // namespace holdfast::api
