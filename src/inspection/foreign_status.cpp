#include "inspection/foreign_status.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/lock_key.hpp"
#include "base/number.hpp"
#include "inspection/registry.hpp"
#include "redis/calls/ask.hpp"
#include "redis/dialects/holdfast/shared_holders.hpp"
#include "redis/locks/foreign_place.hpp"
#include "redis/resp/server_error.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast::inspection {
namespace {

constexpr std::size_t most_shown = 100;

std::chrono::milliseconds time_left(const dialects::foreign_holder& who) {
  return who.remaining.value_or(std::chrono::milliseconds::max());
}

lock_kind kind_of(const dialects::foreign_holder& who) {
  if (who.mode == 's') return lock_kind::semaphore;
  return who.mode == 0 ? lock_kind::mutex : lock_kind::mode_lock;
}

// Nobody has permits: there may be no semaphore either, but something else under its name.
void look_at_counter(runtime::client_core& core, const dialects::foreign_recipe& layout,
                     const lock_key& key, lock_status& status, const redis_locks::bound& within) {
  if (!layout.counts_free_permits()) return;
  const auto found = calls::ask(core, key.slot(), {"GET", key.name()}, within);
  const bool is_of_another_type =
      found.is(resp::type::error) && resp::classify(found.text).code == errc::foreign_key;
  const bool is_no_count = found.is_text() && !parse_number<std::int64_t>(found.text);
  if (!is_of_another_type && !is_no_count) return;
  status.state = lock_state::foreign;
  status.detail =
      is_no_count ? "a text that is no count of permits" : "a key of a type that no such lock has";
}

}  // namespace

std::vector<known_clients::wanted> clients_of(const dialects::foreign_recipe& layout,
                                              const dialects::foreign_holders& found) {
  std::vector<known_clients::wanted> all;
  for (const auto& one : found) all.push_back({std::string(layout.client_of(one.owner))});
  return all;
}

lock_status show_foreign(known_clients& known, const dialects::foreign_recipe& layout,
                         std::string name, dialects::foreign_holders found) {
  // The holder with the most time left comes first: until then the lock is not free.
  std::ranges::stable_sort(found, std::ranges::greater{}, time_left);
  known.learn(clients_of(layout, found));
  lock_status status;
  status.name = std::move(name);
  status.state = lock_state::held;
  status.kind = kind_of(found.front());
  status.holding = found.size();
  for (const auto& one : found) {
    if (status.holders.size() == most_shown) break;
    auto who = known.who(layout.client_of(one.owner), std::string(layout.shown(one.owner)));
    who.foreign_text = one.owner;
    lock_share has{.mode = std::string(dialects::name_of_mode(one.mode))};
    if (status.kind == lock_kind::semaphore) has.permits = 1;
    status.holders.push_back(
        {.who = std::move(who), .has = std::move(has), .remaining = one.remaining});
  }
  if (status.kind == lock_kind::semaphore) status.permits_in_use = found.size();
  status.owner = status.holders.front().who;
  status.remaining = status.holders.front().remaining;
  if (const auto holds = found.front().holds; holds != 1) {
    status.detail = "its owner holds it " + std::to_string(holds) + " times";
  }
  return status;
}

lock_status foreign_status(runtime::client_core& core, std::string_view name, const dialect& how,
                           const redis_locks::bound& within) {
  const auto& layout = detail::lock_access::recipe(how);
  const lock_key key(name, layout->key_of(name));
  redis_locks::check_place(core, *layout, key.name());
  const auto query = [&](resp::writer& out) { layout->write_inspect(name, out); };
  auto verdict = layout->read_inspect(calls::ask(core, key.slot(), query, within));
  lock_status status;
  status.name = key.name();
  if (const auto* why = std::get_if<substrate::refused>(&verdict)) {
    if (why->code != errc::foreign_key) throw failure{why->code, why->detail};
    status.state = lock_state::foreign;
    status.detail = why->detail;
  } else if (auto& found = std::get<dialects::foreign_holders>(verdict); !found.empty()) {
    known_clients known(core, within);
    status = show_foreign(known, *layout, key.name(), std::move(found));
  }
  if (status.state == lock_state::free) look_at_counter(core, *layout, key, status, within);
  status.dialect = how.name();
  return status;
}

}  // namespace holdfast::inspection
