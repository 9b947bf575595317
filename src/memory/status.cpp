#include "memory/status.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "base/printable.hpp"
#include "net/clock.hpp"
#include "substrate/common_mode.hpp"

namespace holdfast::memory {
namespace {

lock_share share_of(const lock_record::request& one) {
  if (one.is_alone) return {};
  if (one.how.mode == 's') return {.mode = {}, .permits = one.how.weight};
  return {.mode = std::string{substrate::name_of_mode(one.how.mode)}};
}

lock_kind kind_of(const lock_record::request& one) noexcept {
  if (one.is_alone) return lock_kind::mutex;
  return one.how.mode == 's' ? lock_kind::semaphore : lock_kind::mode_lock;
}

holder known(const request_id& request) {
  holder who;
  who.id = request.shortened();
  return who;
}

lock_holding show(const lock_record::holder& one, monotonic_time now) {
  return {.who = known(one.owner),
          .has = share_of(one),
          .token = fencing_token{one.token * substrate::minors_per_major},
          .remaining = std::chrono::floor<milliseconds>(one.until - now)};
}

lock_status status_of(lock_record& lock, lock_status status) {
  const auto now = net::now();
  for (const auto& one : lock.holders(now)) {
    status.holders.push_back(show(one, now));
    status.kind = kind_of(one);
    status.permits_in_use += status.holders.back().has.permits;
  }
  status.holding = status.holders.size();
  for (const auto& one : lock.queue()) {
    status.queue.push_back({.who = known(one.owner), .since = {}, .wants = share_of(one)});
    status.kind = kind_of(one);
  }
  status.waiting = status.queue.size();
  if (status.holding == 0) return status;
  const auto& first = status.holders.front();
  status.state = lock_state::held;
  status.owner = first.who;
  status.token = first.token;
  status.remaining = first.remaining;
  return status;
}

lock_status status_in(memory_engine& of, std::string_view name, bool breaks) {
  lock_status free;
  free.name = name;
  auto& table = of.table();
  const scoped_mutex lock(table.guard);
  const auto known = table.locks.find(of.key_of(name).value_key());
  if (known == table.locks.end()) return free;
  auto status = status_of(known->second, std::move(free));
  if (breaks) known->second.free(net::now());
  return status;
}

}  // namespace

lock_status status_of(memory_engine& of, std::string_view name) {
  return status_in(of, name, false);
}

lock_status break_lock(memory_engine& of, std::string_view name) {
  return status_in(of, name, true);
}

}  // namespace holdfast::memory
