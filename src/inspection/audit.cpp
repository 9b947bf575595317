#include "inspection/audit.hpp"

#include <unistd.h>

#include <string>

#include "net/host_name.hpp"
#include "redis/calls/ask.hpp"
#include "redis/dialects/holdfast/inspect.hpp"
#include "redis/dialects/recipe.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/resp/server_error.hpp"

namespace holdfast::inspection {
namespace {

std::string who_am_i() {
  const char* const user = ::getlogin();
  return std::string(user != nullptr ? user : std::to_string(::getuid())) + "@" + net::host_name() +
         ":" + std::to_string(::getpid());
}

}  // namespace

void record_break(runtime::client_core& core, std::string_view reason, lock_status& broken) {
  const auto by = who_am_i();
  const auto& space = redis_locks::engine_of(core).space();
  for (const auto& grant : broken.holders) {
    const auto major = grant.token ? grant.token.value() / substrate::minors_per_major : 0;
    try {
      const auto kept = calls::ask(
          core, dialects::audit_slot(space),
          [&](resp::writer& out) {
            dialects::write_audit(space, {broken.name, grant.who.id, major, by, reason}, out);
          },
          redis_locks::unstoppable());
      if (!kept.is(resp::type::error)) continue;
      broken.detail =
          "broken, but the audit entry was refused: " + resp::classify(kept.text).detail;
    } catch (const failure& unwritten) {
      // The node of a cluster that keeps them, which may be another than the lock's.
      broken.detail =
          std::string("broken, but the audit entry may be missing: ") + unwritten.what();
      return;
    }
  }
}

}  // namespace holdfast::inspection
