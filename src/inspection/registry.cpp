#include "inspection/registry.hpp"

#include <utility>

#include "redis/calls/ask.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/dialects/holdfast/client_registry.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::inspection {

void look_up(runtime::client_core& core, const std::string& client, holder& owner,
             const redis_locks::bound& within) {
  if (client.empty()) return;
  const dialects::client_place place{redis_locks::engine_of(core).space(), client};
  const auto query = [&](resp::writer& out) { dialects::write_client_query(place, out); };
  const auto answer = calls::ask(core, place.slot, query, within);
  const auto entry = calls::accept(dialects::read_client(answer));
  if (!entry) return;
  owner.host = entry->host;
  owner.pid = entry->pid;
  owner.program = entry->program;
  owner.version = entry->version;
}

void known_clients::look(const std::string& client, holder& owner) {
  auto& engine = redis_locks::engine_of(core_);
  if (!engine.is_cluster() || client.empty()) return look_up(core_, client, owner, within_);
  auto& at = engine.at(dialects::client_place{engine.space(), client}.slot);
  if (silent_.contains(&at)) return;
  try {
    look_up(core_, client, owner, within_);
  } catch (const failure& why) {
    if (why.reason() != errc::unavailable && why.reason() != errc::loading) throw;
    if (!at.connection.is_up()) silent_.insert(&at);
  }
}

holder known_clients::who(const std::string& client, std::string id) {
  auto [entry, is_new] = known_.try_emplace(client);
  if (is_new) look(client, entry->second);
  holder found = entry->second;
  found.id = std::move(id);
  return found;
}

}  // namespace holdfast::inspection
