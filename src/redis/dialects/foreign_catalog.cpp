#include "redis/dialects/foreign_catalog.hpp"

#include <array>

#include "base/never_destroyed.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/capability_rows.hpp"
#include "redis/dialects/foreign_latch.hpp"
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

namespace holdfast::dialects {
namespace {

constexpr std::array token_scripts = {
    &scripts::token_acquire, &scripts::token_acquire_counted, &scripts::holdfast_renew,
    &scripts::token_release, &scripts::token_inspect,
};

constexpr std::array redisson_scripts = {
    &scripts::redisson_acquire,
    &scripts::redisson_renew,
    &scripts::redisson_release,
    &scripts::redisson_inspect,
};

constexpr std::array fenced_redisson_scripts = {
    &scripts::redisson_acquire_fenced,
    &scripts::redisson_renew,
    &scripts::redisson_release,
    &scripts::redisson_inspect,
};

constexpr std::array fair_redisson_scripts = {
    &scripts::redisson_acquire_fair,
    &scripts::redisson_renew,
    &scripts::redisson_leave_fair,
    &scripts::redisson_inspect,
};

constexpr std::array read_write_redisson_scripts = {
    &scripts::redisson_acquire_read,     &scripts::redisson_acquire_write,
    &scripts::redisson_release_read,     &scripts::redisson_release_write,
    &scripts::redisson_renew_read_write, &scripts::redisson_inspect,
};

constexpr std::array semaphore_redisson_scripts = {
    &scripts::redisson_acquire_permits, &scripts::redisson_renew_permits,
    &scripts::redisson_release_permits, &scripts::redisson_inspect_permits,
    &scripts::redisson_set_permits,
};

constexpr std::array latch_redisson_scripts = {&scripts::redisson_change_latch};

constexpr std::array told_registry_scripts = {
    &scripts::token_acquire,  &scripts::token_acquire_counted,
    &scripts::holdfast_renew, &scripts::spring_integration_release,
    &scripts::token_inspect,
};

constexpr std::array python_redis_lock_scripts = {
    &scripts::token_acquire,  &scripts::token_acquire_counted,
    &scripts::holdfast_renew, &scripts::python_redis_lock_release,
    &scripts::token_inspect,
};

constexpr std::array shedlock_scripts = {
    &scripts::shedlock_acquire,
    &scripts::shedlock_renew,
    &scripts::shedlock_release,
    &scripts::token_inspect,
};

constexpr std::array redlock_scripts = {
    &scripts::redlock_acquire,
    &scripts::redlock_renew,
    &scripts::redlock_release,
    &scripts::token_inspect,
};

constexpr std::array rueidislock_scripts = {
    &scripts::rueidislock_acquire,
    &scripts::redlock_renew,
    &scripts::redlock_release,
    &scripts::token_inspect,
};

constexpr std::array symfony_scripts = {
    &scripts::symfony_acquire,
    &scripts::symfony_renew,
    &scripts::symfony_release,
    &scripts::symfony_inspect,
};

constexpr std::array redis_semaphore_scripts = {
    &scripts::redis_semaphore_acquire,
    &scripts::redis_semaphore_renew,
    &scripts::redis_semaphore_release,
    &scripts::redis_semaphore_inspect,
};

// One of each layout; which names and keys it was given, no row depends on.
struct foreign_recipes {
  const token_recipe token{{.name = "token"}, {}};
  const redisson_recipe redisson{};
  const redisson_recipe spin{redisson_lock::spin};
  const redisson_recipe fenced{redisson_lock::fenced};
  const semaphore_recipe expirable{permit_leases::theirs};
  const told_registry_recipe registry{{.name = "spring_integration"}, "registry"};
  const python_redis_lock_recipe python{{.name = "python_redis_lock"}};
  const redlock_recipe redlock{{.name = "redlock"}, redlock_library::redsync};
  const rueidislock_recipe rueidis{{.name = "rueidislock"}, "rueidislock", 2};
  const shedlock_recipe job{{.name = "shedlock"}, "job-lock:default:", "host"};
  const symfony_recipe symfony{{.name = "symfony"}, {}};
  const redis_semaphore_recipe permits{
      {.name = "redis_semaphore", .longest_lease = milliseconds{10'000}}};
};

const foreign_recipes& foreign() {
  static const never_destroyed<foreign_recipes> all;
  return *all;
}

std::vector<catalog_entry> plain_entries() {
  const auto& other = foreign();
  return {
      {foreign_lock("token", "plain lock, as redis-py's",
                    "client.mutex(name, {}, dialect::redis_py())", false),
       &other.token, token_scripts},
      {foreign_lock("go_zero", "go-zero's RedisLock", "client.mutex(name, {}, dialect::go_zero())",
                    false),
       &other.token, token_scripts},
  };
}

std::vector<catalog_entry> redisson_entries() {
  const auto& other = foreign();
  return {
      {foreign_lock("redisson", "Redisson's RLock", "client.mutex(name, {}, dialect::redisson())",
                    true),
       &other.redisson, redisson_scripts},
      {never_passed_on(
           fair(foreign_lock("redisson", "Redisson's RFairLock",
                             "client.mutex(name, {.fair = true}, dialect::redisson())", true))),
       other.redisson.fair().get(), fair_redisson_scripts},
      {foreign_lock("redisson", "Redisson's RSpinLock",
                    "client.mutex(name, {}, dialect::redisson(redisson_lock::spin))", false),
       &other.spin, redisson_scripts},
      {with_token_for_each_grant(
           foreign_lock("redisson", "Redisson's RFencedLock",
                        "client.mutex(name, {}, dialect::redisson(redisson_lock::fenced))", true)),
       &other.fenced, fenced_redisson_scripts},
      {never_passed_on(
           foreign_lock("redisson", "Redisson's RReadWriteLock, reader",
                        "client.read_write_lock(name, {}, dialect::redisson()).shared()", true)),
       other.redisson.read_write().get(), read_write_redisson_scripts},
      {foreign_lock("redisson", "Redisson's RReadWriteLock, writer",
                    "client.read_write_lock(name, {}, dialect::redisson()).exclusive()", true),
       other.redisson.read_write().get(), read_write_redisson_scripts},
      {never_passed_on(foreign_lock("redisson", "Redisson's RSemaphore",
                                    "client.semaphore(name, {.permits = n}, dialect::redisson())",
                                    true)),
       other.redisson.semaphore().get(), semaphore_redisson_scripts},
      {never_passed_on(foreign_lock("redisson", "Redisson's RPermitExpirableSemaphore",
                                    "client.semaphore(name, {.permits = n}, "
                                    "dialect::redisson(redisson_lock::expirable))",
                                    true)),
       &other.expirable, semaphore_redisson_scripts},
      {foreign_gate("redisson", "Redisson's RCountDownLatch",
                    "client.latch(name, dialect::redisson())"),
       other.redisson.latch().get(), latch_redisson_scripts},
  };
}

std::vector<catalog_entry> other_entries() {
  const auto& other = foreign();
  return {
      {foreign_lock("spring_integration", "Spring's registry, SPIN_LOCK",
                    R"(client.mutex(name, {}, dialect::spring_integration({"key"})))", false),
       &other.token, token_scripts},
      {foreign_lock("spring_integration", "Spring's registry, PUB_SUB_LOCK",
                    "client.mutex(name, {}, dialect::spring_integration({\"key\", "
                    "registry_mode::pub_sub}))",
                    true),
       &other.registry, told_registry_scripts},
      {foreign_lock("python_redis_lock", "python-redis-lock's Lock",
                    "client.mutex(name, {}, dialect::python_redis_lock())", false),
       &other.python, python_redis_lock_scripts},
      {foreign_lock("shedlock", "ShedLock's lock of a job",
                    "client.mutex(name, {}, dialect::shedlock())", false),
       &other.job, shedlock_scripts},
      {foreign_lock("redlock", "redsync's Mutex", "client.mutex(name, {}, dialect::redlock())",
                    false),
       &other.redlock, redlock_scripts},
      {foreign_lock("redlock", "node-redlock's Lock",
                    "client.mutex(name, {}, dialect::redlock({redlock_library::node_redlock}))",
                    false),
       &other.redlock, redlock_scripts},
      {never_passed_on(foreign_lock("redlock", "Redlock over a quorum",
                                    "quorum{{a, b, c}}.mutex(name, {}, dialect::redlock())",
                                    false)),
       &other.redlock, redlock_scripts},
      {foreign_lock("rueidislock", "rueidislock's lock",
                    "client.mutex(name, {}, dialect::rueidislock())", true),
       &other.rueidis, rueidislock_scripts},
  };
}

// Locks that are kept in sorted sets.
std::vector<catalog_entry> set_entries() {
  const auto& other = foreign();
  return {
      {foreign_lock("symfony", "Symfony's lock", "client.mutex(name, {}, dialect::symfony())",
                    false),
       &other.symfony, symfony_scripts},
      {never_passed_on(foreign_lock("symfony", "Symfony's lock, reader",
                                    "client.read_write_lock(name, {}, dialect::symfony()).shared()",
                                    false)),
       &other.symfony, symfony_scripts},
      {foreign_lock("symfony", "Symfony's lock, writer",
                    "client.read_write_lock(name, {}, dialect::symfony()).exclusive()", false),
       &other.symfony, symfony_scripts},
      {never_passed_on(foreign_lock("redis_semaphore", "redis-semaphore's Semaphore",
                                    "client.semaphore(name, {.permits = n}, "
                                    "dialect::redis_semaphore())",
                                    false)),
       &other.permits, redis_semaphore_scripts},
  };
}

}  // namespace

std::vector<catalog_entry> foreign_entries() {
  auto all = plain_entries();
  for (const auto& more : {redisson_entries(), other_entries(), set_entries()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace holdfast::dialects
