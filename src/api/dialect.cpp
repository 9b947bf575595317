#include <holdfast/dialect.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <holdfast/errc.hpp>

#include "api/checks.hpp"
#include "base/lock_key.hpp"
#include "base/never_destroyed.hpp"
#include "net/host_name.hpp"
#include "redis/dialects/python_redis_lock/python_redis_lock_recipe.hpp"
#include "redis/dialects/redis_semaphore/redis_semaphore_recipe.hpp"
#include "redis/dialects/redisson/redisson_recipe.hpp"
#include "redis/dialects/redisson/semaphore_recipe.hpp"
#include "redis/dialects/redlock/redlock_recipe.hpp"
#include "redis/dialects/rueidislock/rueidislock_recipe.hpp"
#include "redis/dialects/shedlock/shedlock_recipe.hpp"
#include "redis/dialects/spring_integration/told_registry_recipe.hpp"
#include "redis/dialects/symfony/symfony_recipe.hpp"
#include "redis/dialects/token/token_recipe.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

using habits = dialects::foreign_recipe::habits;

void check_retry(std::chrono::milliseconds interval, const char* what) {
  if (interval >= 1ms && interval <= 1h) return;
  throw failure{errc::invalid_argument, std::string(what) + " must be 1 ms to 1 h"};
}

std::shared_ptr<const dialects::foreign_recipe> plain_lock(habits usual,
                                                           const token_layout& layout) {
  if (layout.lease) api::check_lease(*layout.lease, "lease");
  check_retry(layout.retry_interval, "retry_interval");
  usual.lease = layout.lease;
  usual.retry = layout.retry_interval;
  if (!layout.fixed_value.empty() && !layout.value_prefix.empty()) {
    throw failure{errc::invalid_argument, "fixed_value is the whole value: it has no value_prefix"};
  }
  return std::make_shared<const dialects::token_recipe>(
      usual, dialects::token_texts{.key_prefix = std::string(layout.key_prefix),
                                   .key_suffix = std::string(layout.key_suffix),
                                   .form = layout.value,
                                   .value_prefix = std::string(layout.value_prefix),
                                   .fixed_value = std::string(layout.fixed_value)});
}

std::string_view not_empty(std::string_view value, const char* what) {
  if (value.empty()) throw failure{errc::invalid_argument, std::string(what) + " is empty"};
  return value;
}

// As the libraries do that users have not told otherwise.
habits usual_of(redlock_library library) {
  if (library == redlock_library::node_redlock) {
    return {.name = "redlock", .retry = 100ms, .longest_retry = 300ms, .votes = true};
  }
  return {.name = "redlock", .lease = 8s, .retry = 50ms, .longest_retry = 250ms, .votes = true};
}

void check_resources(std::vector<std::string> names) {
  for (const auto& one : names) lock_key{key_space{}, one};
  std::ranges::sort(names);
  const bool is_twice = std::ranges::adjacent_find(names) != names.end();
  if (!is_twice && names.size() < 100) return;
  throw failure{errc::invalid_argument,
                "further_resources must be less than 100, and none of them twice"};
}

}  // namespace

dialect dialect::redisson(redisson_lock which) {
  const auto make = [](redisson_lock one) {
    return dialect{std::make_shared<const dialects::redisson_recipe>(one)};
  };
  static const never_destroyed plain{make(redisson_lock::plain)};
  static const never_destroyed spin{make(redisson_lock::spin)};
  static const never_destroyed fenced{make(redisson_lock::fenced)};
  static const never_destroyed expirable{
      dialect{std::make_shared<const dialects::semaphore_recipe>(dialects::permit_leases::theirs)}};
  switch (which) {
    case redisson_lock::plain:
      break;
    case redisson_lock::spin:
      return *spin;
    case redisson_lock::fenced:
      return *fenced;
    case redisson_lock::expirable:
      return *expirable;
  }
  return *plain;
}

dialect dialect::go_zero() {
  static const never_destroyed only{dialect{plain_lock(
      {.name = "go_zero", .surplus = dialects::go_zero_surplus}, {.value = token_form::letters})}};
  return *only;
}

dialect dialect::redis_py() {
  static const never_destroyed only{token({})};
  return *only;
}

dialect dialect::jedis(std::string_view id) {
  return token({.fixed_value = not_empty(id, "the id"), .lease = 30s});
}

dialect dialect::spring_template(std::string_view code) {
  return token({.fixed_value = not_empty(code, "the code"), .lease = 30s, .retry_interval = 50ms});
}

dialect dialect::reentrant_thread_local() {
  static const never_destroyed only{token(
      {.key_prefix = "LOCK_", .value = token_form::uuid, .lease = 15s, .retry_interval = 500ms})};
  return *only;
}

dialect dialect::spring_integration(const spring_registry& registry) {
  check_retry(registry.idle_between_tries, "idle_between_tries");
  const std::string key{not_empty(registry.registry_key, "the registry's key")};
  const habits usual{
      .name = "spring_integration", .lease = 60s, .retry = registry.idle_between_tries};
  if (registry.mode == registry_mode::pub_sub) {
    return dialect{std::make_shared<const dialects::told_registry_recipe>(usual, key)};
  }
  return dialect{std::make_shared<const dialects::token_recipe>(
      usual, dialects::token_texts{.key_prefix = key + ':', .form = token_form::uuid})};
}

dialect dialect::python_redis_lock() {
  static const never_destroyed only{
      dialect{std::make_shared<const dialects::python_redis_lock_recipe>(
          habits{.name = "python_redis_lock", .retry = 100ms})}};
  return *only;
}

dialect dialect::shedlock(const shedlock_provider& provider) {
  check_retry(provider.retry_interval, "retry_interval");
  if (provider.at_least_for < 0ms || provider.at_least_for > 24h) {
    throw failure{errc::invalid_argument, "at_least_for must be 0 to 24 h"};
  }
  const habits usual{
      .name = "shedlock", .retry = provider.retry_interval, .at_least = provider.at_least_for};
  const auto prefix =
      std::string(provider.key_prefix) + ':' + std::string(provider.environment) + ':';
  return dialect{
      std::make_shared<const dialects::shedlock_recipe>(usual, prefix, net::host_name())};
}

dialect dialect::redlock(const redlock_layout& layout) {
  auto usual = usual_of(layout.library);
  if (layout.retry_interval) {
    check_retry(*layout.retry_interval, "retry_interval");
    usual.retry = *layout.retry_interval;
    usual.longest_retry = {};
  }
  std::vector<std::string> further{layout.further_resources.begin(),
                                   layout.further_resources.end()};
  check_resources(further);
  return dialect{
      std::make_shared<const dialects::redlock_recipe>(usual, layout.library, std::move(further))};
}

dialect dialect::rueidislock(const rueidis_locker& locker) {
  if (locker.key_majority < 1 || locker.key_majority > 50) {
    throw failure{errc::invalid_argument, "key_majority must be 1 to 50"};
  }
  const habits usual{.name = "rueidislock", .lease = 5s, .retry = 20ms, .longest_retry = 250ms};
  return dialect{std::make_shared<const dialects::rueidislock_recipe>(
      usual, std::string(not_empty(locker.key_prefix, "key_prefix")), locker.key_majority)};
}

dialect dialect::symfony(const symfony_store& store) {
  check_retry(store.retry_interval, "retry_interval");
  const habits usual{.name = "symfony", .lease = 300s, .retry = store.retry_interval};
  return dialect{
      std::make_shared<const dialects::symfony_recipe>(usual, std::string(store.key_prefix))};
}

dialect dialect::redis_semaphore(const redis_semaphore_layout& layout) {
  check_retry(layout.retry_interval, "retry_interval");
  api::check_lease(layout.lock_timeout, "lock_timeout");
  const habits usual{.name = "redis_semaphore",
                     .lease = layout.lock_timeout,
                     .retry = layout.retry_interval,
                     .longest_lease = layout.lock_timeout};
  return dialect{std::make_shared<const dialects::redis_semaphore_recipe>(usual)};
}

dialect dialect::token(const token_layout& layout) {
  return dialect{plain_lock({.name = "token"}, layout)};
}

dialect dialect::with_fence_counter() const {
  if (auto counted = recipe_ ? recipe_->with_fence_counter() : nullptr) {
    return dialect{std::move(counted)};
  }
  throw failure{errc::unsupported, "there is no fence counter beside a lock of the dialect " +
                                       std::string(name()) +
                                       ": use its own tokens where it has them"};
}

std::optional<std::chrono::milliseconds> dialect::longest_lease() const noexcept {
  if (!recipe_ || recipe_->usual().longest_lease == 0ms) return std::nullopt;
  return recipe_->usual().longest_lease;
}

std::string_view dialect::name() const noexcept {
  return recipe_ ? recipe_->usual().name : "holdfast";
}

}  // namespace holdfast
