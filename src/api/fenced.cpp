#include <algorithm>

#include <holdfast/client.hpp>

#include "base/lock_key.hpp"
#include "base/never_destroyed.hpp"
#include "calls/idempotent_call.hpp"
#include "dialects/holdfast/fenced.hpp"
#include "runtime/client_core.hpp"

namespace holdfast {
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

fenced_reply evaluate(runtime::client_core& core, const dialects::composed_script& script,
                      const std::vector<std::string>& keys, const std::vector<std::string>& args,
                      fencing_token token) {
  (void)token.value();  // throws when there is none
  check_keys(keys);
  const auto asked = dialects::fenced_write(core.engine().space(), script, keys, args, token);
  auto verdict = dialects::read_fenced(calls::ask_once(core, asked));
  if (const auto* why = std::get_if<dialects::refused>(&verdict)) {
    throw failure{why->code, why->detail};
  }
  if (const auto* stale = std::get_if<dialects::fence_stale>(&verdict)) {
    return {{false, stale->last}, std::nullopt};
  }
  return {{true, token}, std::get<dialects::fence_passed>(std::move(verdict)).value};
}

}  // namespace

fence_verdict client::fenced_set(std::string_view key, std::string_view value,
                                 fencing_token token) const {
  // Composed once: its hash would take longer than the call.
  static const never_destroyed script{
      dialects::fenced_script("redis.call('SET', KEYS[1], ARGV[1])")};
  return evaluate(*core_, *script, {std::string{key}}, {std::string{value}}, token);
}

fence_verdict client::fenced_hset(std::string_view key,
                                  const std::vector<std::pair<std::string, std::string>>& fields,
                                  fencing_token token) const {
  static const never_destroyed script{
      dialects::fenced_script("redis.call('HSET', KEYS[1], unpack(ARGV))")};
  constexpr std::size_t most = 1000;  // what Lua's unpack takes is about 8,000
  if (fields.empty() || fields.size() > most) {
    throw failure{errc::invalid_argument, "fenced_hset takes 1 to 1,000 fields"};
  }
  std::vector<std::string> args;
  for (const auto& [field, value] : fields) {
    args.push_back(field);
    args.push_back(value);
  }
  return evaluate(*core_, *script, {std::string{key}}, args, token);
}

fenced_reply client::fenced_eval(std::string_view script, const std::vector<std::string>& keys,
                                 const std::vector<std::string>& args, fencing_token token) const {
  return evaluate(*core_, dialects::fenced_script(script), keys, args, token);
}

void client::raise_floor(std::string_view lock_name, fencing_token last) const {
  core_->check_process();
  const auto key = core_->engine().key_of(lock_name);
  const auto seen = last.value() / dialects::minors_per_major;
  core_->engine().raise_floor(key.slot(), seen);
  core_->engine().sites().raise_floor(key.name(), seen);
}

}  // namespace holdfast
