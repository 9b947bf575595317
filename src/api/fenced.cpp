#include <holdfast/fenced.hpp>

#include <holdfast/client.hpp>

#include "base/never_destroyed.hpp"
#include "redis/dialects/holdfast/fenced.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/client_core.hpp"
#include "values/fenced_write.hpp"

namespace holdfast {

fence_verdict client::fenced_set(std::string_view key, std::string_view value,
                                 fencing_token token) const {
  // Composed once: its hash would take longer than the call.
  static const never_destroyed script{
      dialects::fenced_script("redis.call('SET', KEYS[1], ARGV[1])")};
  return values::write_fenced(*core_, *script, {std::string{key}}, {std::string{value}}, token);
}

fence_verdict client::fenced_hset(std::string_view key,
                                  const std::vector<std::pair<std::string, std::string>>& fields,
                                  fencing_token token) const {
  static const never_destroyed script{
      dialects::fenced_script("redis.call('HSET', KEYS[1], unpack(ARGV))")};
  constexpr std::size_t most = 1000;  // Lua's unpack takes about 8,000
  if (fields.empty() || fields.size() > most) {
    throw failure{errc::invalid_argument, "fenced_hset takes 1 to 1,000 fields"};
  }
  std::vector<std::string> args;
  for (const auto& [field, value] : fields) {
    args.push_back(field);
    args.push_back(value);
  }
  return values::write_fenced(*core_, *script, {std::string{key}}, args, token);
}

fenced_reply client::fenced_eval(std::string_view script, const std::vector<std::string>& keys,
                                 const std::vector<std::string>& args, fencing_token token) const {
  return values::write_fenced(*core_, dialects::fenced_script(script), keys, args, token);
}

void client::raise_floor(std::string_view lock_name, fencing_token last) const {
  core_->check_process();
  const auto key = core_->engine().key_of(lock_name);
  const auto seen = last.value() / substrate::minors_per_major;
  redis_locks::engine_of(*core_).raise_floor(key.slot(), seen);
  core_->engine().local_locks().raise_floor(key.name(), seen);
}

}  // namespace holdfast
