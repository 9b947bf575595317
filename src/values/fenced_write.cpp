#include "values/fenced_write.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <holdfast/errc.hpp>

#include "base/lock_key.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::values {
namespace {

void check_keys(const std::vector<std::string>& keys) {
  if (keys.empty()) throw failure{errc::invalid_argument, "a fenced write needs a key"};
  const auto slot = hash_slot(keys.front());
  const bool together =
      std::ranges::all_of(keys, [&](const auto& key) { return hash_slot(key) == slot; });
  if (!together) {
    throw failure{errc::invalid_argument,
                  "all keys of a fenced write must be of one hash slot: give them a common {tag}"};
  }
}

}  // namespace

fenced_reply write_fenced(runtime::client_core& core, const dialects::composed_script& script,
                          const std::vector<std::string>& keys,
                          const std::vector<std::string>& args, fencing_token token) {
  (void)token.value();  // throws when there is none
  check_keys(keys);
  const auto asked =
      dialects::fenced_write(redis_locks::engine_of(core).space(), script, keys, args, token);
  auto verdict = dialects::read_fenced(calls::ask_once(core, asked));
  if (const auto* why = std::get_if<substrate::refused>(&verdict)) {
    throw failure{why->code, why->detail};
  }
  if (const auto* stale = std::get_if<dialects::fence_stale>(&verdict)) {
    return {{false, stale->last}, std::nullopt};
  }
  return {{true, token}, std::get<dialects::fence_passed>(std::move(verdict)).value};
}

}  // namespace holdfast::values
