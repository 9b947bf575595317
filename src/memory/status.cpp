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
  if (one.kind == lock_kind::semaphore) return {.mode = {}, .permits = one.how.weight};
  if (one.kind == lock_kind::mutex) return {};
  return {.mode = std::string{substrate::name_of_mode(one.how.mode)}};
}

lock_status look_at(lock_record& lock, std::string_view name) {
  const auto now = net::now();
  lock_status status;
  status.name = name;
  for (const auto& one : lock.requests(now)) {
    status.kind = one.kind;
    holder who;
    who.id = one.owner.shortened();
    if (one.waits()) {
      ++status.waiting;
      status.queue.push_back({.who = who, .since = {}, .wants = share_of(one)});
      continue;
    }
    ++status.holding;
    status.permits_in_use += share_of(one).permits;
    status.holders.push_back({.who = who,
                              .has = share_of(one),
                              .token = fencing_token{one.token * substrate::minors_per_major},
                              .remaining = std::chrono::floor<milliseconds>(one.until - now)});
  }
  if (status.holding == 0) return status;
  const auto& first = status.holders.front();
  status.state = lock_state::held;
  status.owner = first.who;
  status.token = first.token;
  status.remaining = first.remaining;
  return status;
}

}  // namespace

lock_status status_of(memory_engine& of, std::string_view name) {
  lock_status seen;
  of.table().with(of.key_of(name), [&](lock_record& lock) { seen = look_at(lock, name); });
  return seen;
}

lock_status break_lock(memory_engine& of, std::string_view name) {
  lock_status seen;
  of.table().with(of.key_of(name), [&](lock_record& lock) {
    seen = look_at(lock, name);
    lock.free(net::now());
  });
  return seen;
}

}  // namespace holdfast::memory
