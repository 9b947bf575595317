#include "api/foreign_status.hpp"

#include <utility>

#include "api/ask.hpp"
#include "api/lock_access.hpp"
#include "api/native_locks.hpp"
#include "api/registry.hpp"
#include "base/lock_key.hpp"
#include "base/printable.hpp"

namespace holdfast {
namespace api {

lock_status show_foreign(runtime::client_core& core, const dialects::foreign_recipe& layout,
                         std::string name, const dialects::foreign_holder& found) {
  lock_holding grant;
  look_up(core, layout.client_of(found.owner), grant.who);
  grant.who.id = printable(layout.shown(found.owner));
  grant.remaining = found.remaining;
  lock_status status;
  status.name = std::move(name);
  status.what = lock_status::state::held;
  status.of = lock_status::kind::mutex;
  status.owner = grant.who;
  status.remaining = grant.remaining;
  status.holding = 1;
  if (found.holds != 1) {
    status.detail = "its owner holds it " + std::to_string(found.holds) + " times";
  }
  status.holders.push_back(std::move(grant));
  return status;
}

}  // namespace api

lock_status inspector::status(std::string_view name, const dialect& how) const {
  const auto& layout = detail::lock_access::recipe(how);
  if (!layout) return status(name);
  auto& core = *redis_.core_;
  api::refuse_foreign_in_cluster(core);
  const lock_key key(name);
  const auto verdict = layout->read_inspect(
      api::ask(core, 0, [&](resp::writer& out) { layout->write_inspect(name, out); }));
  lock_status status;
  status.name = key.name();
  if (const auto* why = std::get_if<dialects::refused>(&verdict)) {
    if (why->code != errc::foreign_key) throw failure{why->code, why->detail};
    status.what = lock_status::state::foreign;
    status.detail = why->detail;
  } else if (const auto& found = std::get<std::optional<dialects::foreign_holder>>(verdict)) {
    status = api::show_foreign(core, *layout, key.name(), *found);
  }
  status.dialect = how.name();
  return status;
}

}  // namespace holdfast
