#include "redis/dialects/catalog.hpp"

#include <array>
#include <vector>

#include "base/never_destroyed.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/capability_rows.hpp"
#include "redis/dialects/foreign_catalog.hpp"
#include "redis/dialects/holdfast/barrier.hpp"
#include "redis/dialects/holdfast/latch.hpp"
#include "redis/dialects/holdfast/mutex.hpp"
#include "redis/dialects/holdfast/shared_lock.hpp"

namespace holdfast::dialects {
namespace {

// All but the last are loaded when logging in. Few programs write notes, and token_release, which
// only slots of a cluster that move need, is not here.
constexpr std::array mutex_scripts = {
    &scripts::holdfast_acquire,         &scripts::holdfast_renew,
    &scripts::holdfast_release,         &scripts::holdfast_withdraw,
    &scripts::holdfast_register_client, &scripts::holdfast_note_held,
    &scripts::holdfast_note_grants,
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
    &scripts::holdfast_shared_acquire,      &scripts::holdfast_shared_renew,
    &scripts::holdfast_shared_release,      &scripts::holdfast_shared_withdraw,
    &scripts::holdfast_shared_set_permits,  &scripts::holdfast_value_block,
    &scripts::holdfast_shared_lone_release, &scripts::holdfast_note_held,
    &scripts::holdfast_note_grants,
};

constexpr std::array latch_scripts = {
    &scripts::holdfast_latch_change,
    &scripts::holdfast_latch_wait,
    &scripts::holdfast_latch_leave,
    &scripts::holdfast_note_held,
};

constexpr std::array barrier_scripts = {
    &scripts::holdfast_barrier_arrive,
    &scripts::holdfast_barrier_leave,
    &scripts::holdfast_note_held,
};

constexpr std::array counter_scripts = {&scripts::holdfast_counter};
constexpr std::array rate_scripts = {&scripts::holdfast_rate};
constexpr std::array run_scripts = {&scripts::holdfast_run_record};

constexpr std::array looking_scripts = {
    &scripts::holdfast_inspect,
    &scripts::holdfast_read_client,
    &scripts::holdfast_read_stream,
    &scripts::holdfast_quorum_inspect,
};

constexpr std::array breaking_scripts = {
    &scripts::holdfast_break_lock,
    &scripts::holdfast_shared_break_lock,
    &scripts::holdfast_quorum_break_lock,
};

constexpr std::array cycle_scripts = {
    &scripts::holdfast_deadlock_note,
    &scripts::holdfast_deadlock_confirm,
};

constexpr std::array trail_scripts = {&scripts::holdfast_append_trail};

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
      {fair(native_lock("election", "client.election(name)")), fenced, mutex_scripts},
      {passed_on(native_lock("reader", "client.read_write_lock(name).shared()")), shared,
       shared_scripts},
      {fair(native_lock("upgradeable reader", "client.read_write_lock(name).upgradeable()")),
       shared, shared_scripts},
      {passed_on(native_lock("writer", "client.read_write_lock(name).exclusive()")), shared,
       shared_scripts},
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
      {recorded_run("once per interval", "client.once_per(name, {.interval = 1h})"), nullptr,
       run_scripts},
      {native_value("block of ids", "client.id_generator(name)"), nullptr, counter_scripts},
  };
}

std::vector<catalog_entry> all_entries() {
  auto all = native_entries();
  const auto more = foreign_entries();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

const recipe& native_mutex(fencing how) noexcept {
  static const never_destroyed<mutex_recipe> fenced{fencing::on}, unfenced{fencing::off};
  return how == fencing::on ? *fenced : *unfenced;
}

const recipe& native_shared_lock() noexcept {
  static const never_destroyed<shared_recipe> only;
  return *only;
}

const recipe& native_latch() noexcept {
  static const never_destroyed<latch_recipe> only;
  return *only;
}

const recipe& native_barrier() noexcept {
  static const never_destroyed<barrier_recipe> only;
  return *only;
}

std::span<const resp::script* const> login_scripts() noexcept {
  return std::span(mutex_scripts).first(mutex_scripts.size() - 1);
}

std::span<const resp::script* const> viewer_scripts() noexcept { return looking_scripts; }

std::span<const resp::script* const> operator_scripts() noexcept { return breaking_scripts; }

std::span<const resp::script* const> deadlock_scripts() noexcept { return cycle_scripts; }

std::span<const resp::script* const> audit_scripts() noexcept { return trail_scripts; }

std::span<const catalog_entry> catalog() {
  static const never_destroyed entries{all_entries()};
  return *entries;
}

}  // namespace holdfast::dialects
