// Taking locks of other libraries away, and finding those that a name may mean.
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <holdfast/inspector.hpp>

#include "api/audit.hpp"
#include "api/foreign_status.hpp"
#include "base/lock_key.hpp"
#include "calls/ask.hpp"
#include "calls/idempotent_call.hpp"
#include "dialects/recognition.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast {
namespace {

dialects::break_end take_away(runtime::client_core& core, const dialects::foreign_recipe& layout,
                              const lock_key& key, const std::string& owner) {
  const auto said = layout.read_break(
      calls::ask_in_time(core, key.slot(), [&](resp::writer& out, server_time not_after) {
        layout.write_break(key.name(), owner, not_after, out);
      }));
  return calls::accept(said);
}

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
    // Another node of a cluster has that key.
    if (!core.engine().is_cluster() || why.reason() == errc::forked) throw;
  }
  return std::nullopt;
}

}  // namespace

namespace api {

lock_status break_foreign(runtime::client_core& core, std::string_view name,
                          std::string_view reason, const dialect& how) {
  auto layout = detail::lock_access::recipe(how);
  if (layout->is_semaphore()) {
    throw failure{errc::unsupported, "permits of a semaphore cannot be taken away one by one"};
  }
  if (core.engine().is_cluster()) {
    if (auto other = layout->in_cluster()) layout = std::move(other);
  }
  // Between the look and the break another may have been granted it: that one is looked at then.
  for (int attempt = 0; attempt < 10; ++attempt) {
    auto status = foreign_status(core, name, how);
    if (status.what == lock_status::state::foreign) {
      throw failure{errc::foreign_key, status.detail};
    }
    if (status.what != lock_status::state::held) return status;
    const lock_key key(name, layout->key_of(name));
    const auto end = take_away(core, *layout, key, status.owner.foreign_text);
    if (end == dialects::break_end::changed) continue;
    if (end == dialects::break_end::broken) {
      record_break(core, "(" + std::string(how.name()) + ") " + std::string(reason), status);
      return status;
    }
  }
  throw failure{errc::busy, "the lock changes hands too fast to be taken away: try again"};
}

}  // namespace api

lock_status inspector::break_lock(std::string_view name, std::string_view reason,
                                  const dialect& how) const {
  if (!detail::lock_access::recipe(how)) return break_lock(name, reason);
  return api::break_foreign(*redis_.core_, name, reason, how);
}

std::vector<lock_status> inspector::find_foreign(std::string_view name) const {
  auto& core = *redis_.core_;
  std::vector<lock_status> found;
  if (!core.engine().space().tenant().empty()) return found;  // no other library knows of tenants
  for (const auto& key : dialects::keys_of(name)) {
    const std::vector<std::string> one{key};  // what is found there points to it
    const auto there = look_at(core, one);
    if (!there) continue;
    auto lock = dialects::recognise_for(name, *there);
    if (!lock) continue;
    found.push_back(
        api::show_foreign(core, *lock->layout, std::move(lock->name), std::move(lock->holders)));
    found.back().dialect = std::move(lock->dialect);
    found.back().detail = std::move(lock->remark);
  }
  return found;
}

}  // namespace holdfast
