#include "inspection/foreign_search.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <holdfast/errc.hpp>

#include "base/lock_key.hpp"
#include "inspection/foreign_status.hpp"
#include "redis/calls/ask.hpp"
#include "redis/dialects/recognition.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::inspection {
namespace {

// Nothing where no lock can be, or where we may not look.
std::optional<dialects::kept> look_at(runtime::client_core& core,
                                      const std::vector<std::string>& key) {
  try {
    auto seen = dialects::read_look(
        key, calls::ask(core, hash_slot(key[0]),
                        [&](resp::writer& out) { dialects::write_look(key, out); }));
    auto* const there = std::get_if<std::vector<dialects::kept>>(&seen);
    if (there != nullptr && !there->empty()) return std::move(there->front());
  } catch (const failure& why) {
    if (why.reason() == errc::forked || why.reason() == errc::cancelled) throw;
    // Another node of a cluster has that key.
    if (!redis_locks::engine_of(core).is_cluster()) throw;
  }
  return std::nullopt;
}

}  // namespace

std::vector<lock_status> find_foreign(runtime::client_core& core, std::string_view name) {
  std::vector<lock_status> found;
  if (!redis_locks::engine_of(core).space().tenant().empty())
    return found;  // no other library knows of tenants
  known_clients known(core);
  for (const auto& key : dialects::keys_of(name)) {
    const std::vector<std::string> one{key};  // the locks found there point to it
    const auto there = look_at(core, one);
    if (!there) continue;
    auto lock = dialects::recognise_for(name, *there);
    if (!lock) continue;
    found.push_back(
        show_foreign(known, *lock->layout, std::move(lock->name), std::move(lock->holders)));
    found.back().dialect = std::move(lock->dialect);
    found.back().detail = std::move(lock->remark);
  }
  return found;
}

}  // namespace holdfast::inspection
