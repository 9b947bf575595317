#include "redis/locks/foreign_place.hpp"

#include <algorithm>
#include <string>

#include <holdfast/errc.hpp>

#include "base/printable.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

void refuse_for_tenant(client_core& core) {
  const auto& space = core.engine().space();
  if (!space.is_of_tenant()) return;
  throw failure{errc::unsupported,
                "locks of other libraries are not for a client of a tenant ('" +
                    std::string{space.tenant()} +
                    "'): their names are the same for all tenants; use a client without one"};
}

void check_place(client_core& core, const dialects::foreign_recipe& layout, std::string_view name) {
  refuse_for_tenant(core);
  if (!engine_of(core).is_cluster() || layout.keeps_one_slot(name)) return;
  throw failure{errc::unsupported, "the keys of '" + printable(name) + "' in the layout " +
                                       std::string(layout.usual().name) +
                                       " have several hash slots, which no node of a cluster has "
                                       "together: use a single server, or another layout"};
}

runtime::usage usage_of(const dialects::foreign_recipe& layout) noexcept {
  const auto& usual = layout.usual();
  // Half to all of it is what a pause lasts.
  const leasing::pauses pauses{2 * usual.retry, std::max(2 * usual.retry, usual.longest_retry)};
  return {.has_queue = layout.has_queue(),
          .is_counted = usual.is_counted,
          .draws_tokens = true,
          .is_seen = usual.at_least > milliseconds{0} || usual.has_tokens,
          .pauses = pauses};
}

}  // namespace holdfast::redis_locks
