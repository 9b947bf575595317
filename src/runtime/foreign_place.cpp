#include "runtime/foreign_place.hpp"

#include <string>

#include <holdfast/errc.hpp>

#include "base/printable.hpp"

namespace holdfast::runtime {

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
  if (!core.engine().is_cluster() || layout.keeps_one_slot(name)) return;
  throw failure{errc::unsupported, "the keys of '" + printable(name) + "' in the layout " +
                                       std::string(layout.usual().name) +
                                       " have several hash slots, which no node of a cluster has "
                                       "together: use a single server, or another layout"};
}

}  // namespace holdfast::runtime
