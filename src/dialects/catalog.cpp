#include "dialects/catalog.hpp"

#include <array>
#include <vector>

#include "dialects/foreign_latch.hpp"
#include "dialects/holdfast/barrier.hpp"
#include "dialects/holdfast/latch.hpp"
#include "dialects/holdfast/mutex.hpp"
#include "dialects/holdfast/shared_lock.hpp"
#include "dialects/python_redis_lock/python_redis_lock_recipe.hpp"
#include "dialects/redisson/redisson_recipe.hpp"
#include "dialects/redisson/semaphore_recipe.hpp"
#include "dialects/redlock/redlock_recipe.hpp"
#include "dialects/shedlock/shedlock_recipe.hpp"
#include "dialects/spring_integration/told_registry_recipe.hpp"
#include "dialects/token/token_recipe.hpp"
#include "holdfast_scripts.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::array mutex_scripts = {
    &scripts::holdfast_acquire,  &scripts::holdfast_renew,           &scripts::holdfast_release,
    &scripts::holdfast_withdraw, &scripts::holdfast_register_client,
};

constexpr std::array several_scripts = {
    &scripts::holdfast_acquire_all,
    &scripts::holdfast_release_all,
};

constexpr std::array quorum_scripts = {
    &scripts::holdfast_quorum_acquire,
    &scripts::holdfast_quorum_keep,
    &scripts::holdfast_quorum_release,
};

constexpr std::array shared_scripts = {
    &scripts::holdfast_shared_acquire,     &scripts::holdfast_shared_renew,
    &scripts::holdfast_shared_release,     &scripts::holdfast_shared_withdraw,
    &scripts::holdfast_shared_set_permits, &scripts::holdfast_value_block,
};

constexpr std::array latch_scripts = {
    &scripts::holdfast_latch_change,
    &scripts::holdfast_latch_wait,
    &scripts::holdfast_latch_leave,
};

constexpr std::array barrier_scripts = {
    &scripts::holdfast_barrier_arrive,
    &scripts::holdfast_barrier_leave,
};

constexpr std::array token_scripts = {
    &scripts::token_acquire,
    &scripts::holdfast_renew,
    &scripts::token_release,
    &scripts::token_inspect,
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
    &scripts::token_acquire,
    &scripts::holdfast_renew,
    &scripts::spring_integration_release,
    &scripts::token_inspect,
};

constexpr std::array python_redis_lock_scripts = {
    &scripts::token_acquire,
    &scripts::holdfast_renew,
    &scripts::python_redis_lock_release,
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

constexpr std::array counter_scripts = {&scripts::holdfast_counter};
constexpr std::array rate_scripts = {&scripts::holdfast_rate};

constexpr std::array looking_scripts = {
    &scripts::holdfast_inspect,
    &scripts::holdfast_break_lock,
    &scripts::holdfast_shared_break_lock,
};

constexpr capability native_value(std::string_view kind, std::string_view made_by) {
  return {.dialect = "holdfast",
          .kind = kind,
          .made_by = made_by,
          .token = false,
          .renewed = false,
          .fair = false,
          .reentrant = false,
          .told = false,
          .handed_over = false,
          .passed_on = false,
          .to_acquire = 1,
          .to_release = 0};
}

// Nobody holds it, but some wait for others.
constexpr capability meeting(std::string_view kind, std::string_view made_by) {
  auto what = native_value(kind, made_by);
  what.told = what.handed_over = true;
  return what;
}

constexpr capability native_lock(std::string_view kind, std::string_view made_by) {
  auto what = meeting(kind, made_by);
  what.token = what.renewed = true;
  what.to_release = 1;
  return what;
}

// Of several servers, so that no one of them can hand it over. Figures are those of each member.
constexpr capability vote(std::string_view kind, std::string_view made_by) {
  auto what = native_value(kind, made_by);
  what.token = what.renewed = what.told = true;
  what.to_release = 1;
  return what;
}

constexpr capability fair(capability what) {
  what.fair = true;
  return what;
}

constexpr capability passed_on(capability what) {
  what.passed_on = true;
  return what;
}

constexpr capability reentrant(capability what) {
  what.reentrant = true;
  return what;
}

constexpr capability with_token_for_each_grant(capability what) {
  what.token = true;
  what.passed_on = false;
  return what;
}

constexpr capability never_passed_on(capability what) {
  what.passed_on = false;
  return what;
}

constexpr capability without_token(capability what) {
  what.token = false;
  return what;
}

// A lock of another library, whose threads here pass it on among themselves.
constexpr capability foreign_lock(std::string_view dialect, std::string_view kind,
                                  std::string_view made_by, bool told) {
  auto what = native_value(kind, made_by);
  what.dialect = dialect;
  what.renewed = what.passed_on = true;
  what.told = told;
  what.to_release = 1;
  return what;
}

// Nobody holds it, and who waits is only told.
constexpr capability foreign_gate(std::string_view dialect, std::string_view kind,
                                  std::string_view made_by) {
  auto what = native_value(kind, made_by);
  what.dialect = dialect;
  what.told = true;
  return what;
}

// One of each layout; which names and keys it was given, no row depends on.
struct foreign_recipes {
  const token_recipe token{{.name = "token"}, "", token_form::hex, ""};
  const redisson_recipe redisson{};
  const redisson_recipe spin{redisson_lock::spin};
  const redisson_recipe fenced{redisson_lock::fenced};
  const semaphore_recipe expirable{permit_leases::theirs};
  const told_registry_recipe registry{{.name = "spring_integration"}, "registry"};
  const python_redis_lock_recipe python{{.name = "python_redis_lock"}};
  const redlock_recipe redlock{{.name = "redlock"}, redlock_library::redsync};
  const shedlock_recipe job{{.name = "shedlock"}, "job-lock:default:", "host"};
};

std::vector<catalog_entry> native_entries() {
  const recipe* const fenced = &native_mutex(fencing::on);
  const recipe* const unfenced = &native_mutex(fencing::off);
  const recipe* const shared = &native_shared_lock();
  return {
      {passed_on(native_lock("mutex", "client.mutex(name)")), fenced, mutex_scripts},
      {passed_on(without_token(
           native_lock("mutex without tokens", "client.mutex(name, {.fencing = fencing::off})"))),
       unfenced, mutex_scripts},
      {fair(native_lock("fair mutex", "client.mutex(name, {.fair = true})")), fenced,
       mutex_scripts},
      {passed_on(reentrant(native_lock("recursive mutex", "client.recursive_mutex(name)"))), fenced,
       mutex_scripts},
      {passed_on(native_lock("several mutexes", "all_of({a, b, c})")), fenced, several_scripts},
      {vote("mutex of a quorum", "quorum{{a, b, c}}.mutex(name)"), nullptr, quorum_scripts},
      {fair(native_lock("election", "client.elect(name)")), fenced, mutex_scripts},
      {passed_on(native_lock("reader", "client.rw(name).shared()")), shared, shared_scripts},
      {fair(native_lock("upgradeable reader", "client.rw(name).upgradeable()")), shared,
       shared_scripts},
      {passed_on(native_lock("writer", "client.rw(name).exclusive()")), shared, shared_scripts},
      {fair(native_lock("semaphore", "client.semaphore(name, {.permits = n})")), shared,
       shared_scripts},
      {fair(native_lock("mode lock, NL to PW", "client.mode_lock(name).in(mode)")), shared,
       shared_scripts},
      {passed_on(native_lock("mode lock, EX", "client.mode_lock(name).in(lock_mode::exclusive)")),
       shared, shared_scripts},
      {meeting("latch", "client.latch(name)"), &native_latch(), latch_scripts},
      {meeting("barrier", "client.barrier(name, parties)"), &native_barrier(), barrier_scripts},
      {native_value("counter", "client.counter(name)"), nullptr, counter_scripts},
      {native_value("fenced write", "client.fenced_set(key, value, token)"), nullptr, {}},
      {native_value("rate limiter", "client.rate_limiter(name, limit)"), nullptr, rate_scripts},
      {native_value("block of ids", "client.id_generator(name)"), nullptr, counter_scripts},
  };
}

const foreign_recipes& foreign() {
  static const foreign_recipes& all = *new foreign_recipes;
  return all;
}

std::vector<catalog_entry> plain_entries() {
  const auto& other = foreign();
  return {
      {foreign_lock("token", "plain lock, as redis-py's",
                    "client.mutex(name, {.dialect = dialect::redis_py()})", false),
       &other.token, token_scripts},
      {foreign_lock("go_zero", "go-zero's RedisLock",
                    "client.mutex(name, {.dialect = dialect::go_zero()})", false),
       &other.token, token_scripts},
  };
}

std::vector<catalog_entry> redisson_entries() {
  const auto& other = foreign();
  return {
      {foreign_lock("redisson", "Redisson's RLock",
                    "client.mutex(name, {.dialect = dialect::redisson()})", true),
       &other.redisson, redisson_scripts},
      {never_passed_on(fair(foreign_lock(
           "redisson", "Redisson's RFairLock",
           "client.mutex(name, {.fair = true, .dialect = dialect::redisson()})", true))),
       other.redisson.fair().get(), fair_redisson_scripts},
      {foreign_lock("redisson", "Redisson's RSpinLock",
                    "client.mutex(name, {.dialect = dialect::redisson(redisson_lock::spin)})",
                    false),
       &other.spin, redisson_scripts},
      {with_token_for_each_grant(foreign_lock(
           "redisson", "Redisson's RFencedLock",
           "client.mutex(name, {.dialect = dialect::redisson(redisson_lock::fenced)})", true)),
       &other.fenced, fenced_redisson_scripts},
      {never_passed_on(foreign_lock("redisson", "Redisson's RReadWriteLock, reader",
                                    "client.rw(name, {.dialect = dialect::redisson()}).shared()",
                                    true)),
       other.redisson.read_write().get(), read_write_redisson_scripts},
      {foreign_lock("redisson", "Redisson's RReadWriteLock, writer",
                    "client.rw(name, {.dialect = dialect::redisson()}).exclusive()", true),
       other.redisson.read_write().get(), read_write_redisson_scripts},
      {never_passed_on(foreign_lock(
           "redisson", "Redisson's RSemaphore",
           "client.semaphore(name, {.permits = n, .dialect = dialect::redisson()})", true)),
       other.redisson.semaphore().get(), semaphore_redisson_scripts},
      {never_passed_on(foreign_lock("redisson", "Redisson's RPermitExpirableSemaphore",
                                    "client.semaphore(name, {.permits = n, .dialect = "
                                    "dialect::redisson(redisson_lock::expirable)})",
                                    true)),
       &other.expirable, semaphore_redisson_scripts},
      {foreign_gate("redisson", "Redisson's RCountDownLatch",
                    "client.latch(name, {.dialect = dialect::redisson()})"),
       other.redisson.latch().get(), latch_redisson_scripts},
  };
}

std::vector<catalog_entry> other_entries() {
  const auto& other = foreign();
  return {
      {foreign_lock("spring_integration", "Spring's registry, SPIN_LOCK",
                    R"(client.mutex(name, {.dialect = dialect::spring_integration({"key"})}))",
                    false),
       &other.token, token_scripts},
      {foreign_lock("spring_integration", "Spring's registry, PUB_SUB_LOCK",
                    "client.mutex(name, {.dialect = dialect::spring_integration({\"key\", "
                    "registry_mode::pub_sub})})",
                    true),
       &other.registry, told_registry_scripts},
      {foreign_lock("python_redis_lock", "python-redis-lock's Lock",
                    "client.mutex(name, {.dialect = dialect::python_redis_lock()})", false),
       &other.python, python_redis_lock_scripts},
      {foreign_lock("shedlock", "ShedLock's lock of a job",
                    "client.mutex(name, {.dialect = dialect::shedlock()})", false),
       &other.job, shedlock_scripts},
      {foreign_lock("redlock", "redsync's Mutex",
                    "client.mutex(name, {.dialect = dialect::redlock()})", false),
       &other.redlock, redlock_scripts},
      {foreign_lock(
           "redlock", "node-redlock's Lock",
           "client.mutex(name, {.dialect = dialect::redlock({redlock_library::node_redlock})})",
           false),
       &other.redlock, redlock_scripts},
      {never_passed_on(
           foreign_lock("redlock", "Redlock over a quorum",
                        "quorum{{a, b, c}}.mutex(name, {.dialect = dialect::redlock()})", false)),
       &other.redlock, redlock_scripts},
  };
}

std::vector<catalog_entry> all_entries() {
  auto all = native_entries();
  for (const auto& more : {plain_entries(), redisson_entries(), other_entries()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

const recipe& native_mutex(fencing how) noexcept {
  // Never destroyed: another thread may still release a lock while the process exits.
  static const recipe& fenced = *new mutex_recipe{fencing::on};
  static const recipe& unfenced = *new mutex_recipe{fencing::off};
  return how == fencing::on ? fenced : unfenced;
}

const recipe& native_shared_lock() noexcept {
  static const recipe& only = *new shared_recipe;
  return only;
}

const recipe& native_latch() noexcept {
  static const recipe& only = *new latch_recipe;
  return only;
}

const recipe& native_barrier() noexcept {
  static const recipe& only = *new barrier_recipe;
  return only;
}

std::span<const resp::script* const> operator_scripts() noexcept { return looking_scripts; }

std::span<const catalog_entry> catalog() noexcept {
  static const std::vector<catalog_entry>& entries = *new std::vector<catalog_entry>(all_entries());
  return entries;
}

}  // namespace holdfast::dialects
