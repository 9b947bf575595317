#include "inspection/foreign_break.hpp"

#include <string>
#include <utility>

#include <holdfast/errc.hpp>

#include "base/lock_key.hpp"
#include "inspection/audit.hpp"
#include "inspection/foreign_status.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast::inspection {
namespace {

dialects::break_end take_away(runtime::client_core& core, const dialects::foreign_recipe& layout,
                              const lock_key& key, const std::string& owner,
                              const redis_locks::bound& within) {
  const auto write = [&](resp::writer& out, server_time not_after) {
    layout.write_break(key.name(), owner, not_after, out);
  };
  return calls::accept(layout.read_break(calls::ask_in_time(core, key.slot(), write, within)));
}

}  // namespace

lock_status break_foreign(runtime::client_core& core, std::string_view name,
                          std::string_view reason, const dialect& how,
                          const redis_locks::bound& within) {
  auto layout = detail::lock_access::recipe(how);
  if (layout->is_semaphore()) {
    throw failure{errc::unsupported, "permits of a semaphore cannot be taken away one by one"};
  }
  if (redis_locks::engine_of(core).is_cluster()) {
    if (auto other = layout->in_cluster()) layout = std::move(other);
  }
  // Between the look and the break another may have been granted it: that one is looked at then.
  for (int attempt = 0; attempt < 10; ++attempt) {
    auto status = foreign_status(core, name, how, within);
    if (status.state == lock_state::foreign) {
      throw failure{errc::foreign_key, status.detail};
    }
    if (status.state != lock_state::held) return status;
    const lock_key key(name, layout->key_of(name));
    const auto end = take_away(core, *layout, key, status.owner.foreign_text, within);
    if (end == dialects::break_end::changed) continue;
    if (end == dialects::break_end::broken) {
      record_break(core, "(" + std::string(how.name()) + ") " + std::string(reason), status);
      return status;
    }
  }
  throw failure{errc::busy, "the lock changes hands too fast to be taken away: try again"};
}

}  // namespace holdfast::inspection
