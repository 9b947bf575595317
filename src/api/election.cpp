#include <holdfast/client.hpp>
#include <holdfast/election.hpp>
#include <utility>

#include "api/native_locks.hpp"
#include "api/options_in_full.hpp"
#include "base/lock_key.hpp"
#include "inspection/registry.hpp"
#include "redis/calls/ask.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/locks/observed_keys.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/client_core.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast {
namespace {

using detail::lock_access;

// The holder that a lock's value names.
std::optional<leader> leader_in(runtime::client_core& core, const std::optional<std::string>& value,
                                const redis_locks::bound& within = {}) {
  if (!value) return std::nullopt;
  const auto parts = dialects::parse_lock_value(*value);
  if (!parts) return std::nullopt;
  const auto owner = dialects::parse_owner(parts->owner);
  leader found;
  found.who.id = owner.shortened;
  found.token = fencing_token{parts->major * substrate::minors_per_major};
  found.since = dialects::granted_at(parts->major, server_time::max(), {});
  try {
    inspection::look_up(core, owner.client, found.who, within);
  } catch (const failure&) {
    // The news of another leader matters more than its name.
  }
  return found;
}

}  // namespace

election client::election(std::string_view name, election_options options) const {
  auto candidacy = api::in_full(options);
  candidacy.fair = true;
  return holdfast::election{api::make_mutex(core_, name, candidacy, dialect{})};
}

std::optional<leader> election::leader() const {
  auto& core = *lock_access::core(inner());
  const auto key = core.engine().key_of(name());
  const auto answer = calls::answer_to(core, key.slot(), {"GET", key.value_key()});
  return leader_in(core, answer.is_text() ? std::optional{answer.text} : std::nullopt);
}

observation election::observe(
    std::function<void(const std::optional<holdfast::leader>&)> tell) const {
  const auto& core = lock_access::core(inner());
  core->check_process();
  // The observation keeps the core alive, and this is not called after its end.
  auto key = redis_locks::engine_of(*core).observed().observe(
      core->engine().key_of(name()).value_key(),
      [&core = *core, tell = std::move(tell)](const std::optional<std::string>& value) {
        tell(leader_in(core, value, redis_locks::unstoppable()));
      });
  return {core, std::move(key)};
}

observation::observation(std::shared_ptr<runtime::client_core> core,
                         std::shared_ptr<redis_locks::observed_key> key) noexcept
    : core_(std::move(core)), key_(std::move(key)) {}

observation::observation(observation&&) noexcept = default;

observation& observation::operator=(observation&& other) noexcept {
  if (this != &other) {
    end();
    key_ = std::move(other.key_);
    core_ = std::move(other.core_);
  }
  return *this;
}

observation::~observation() { end(); }

void observation::end() noexcept {
  if (key_ && core_->engine().is_in_its_process()) key_->stop();
  key_.reset();
}

}  // namespace holdfast
