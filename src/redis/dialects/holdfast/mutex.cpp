#include "redis/dialects/holdfast/mutex.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <map>
#include <utility>

#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/dialects/holdfast/waiting.hpp"

namespace holdfast::dialects {
namespace {

void write_values_and_queues(std::span<const claim* const> of, resp::writer& out) {
  for (const claim* one : of) write_key(*one->key, "", out);
  for (const claim* one : of) write_key(*one->key, ":w", out);
}

}  // namespace

void mutex_recipe::write_acquire(const claim& wanted, bool resend, server_time not_after,
                                 resp::writer& out) const {
  if (!fenced_ && !resend) {
    out.command(6);
    out.arg("SET");
    write_key(*wanted.key, "", out);
    out.arg(lock_value{0, wanted.owner}.text());
    out.arg("NX");
    out.arg("PX");
    out.arg(kept_time(wanted).count());
    return;
  }
  out.call(scripts::holdfast_acquire, 4, wanted.waits ? 7 : 4);
  write_keys(*wanted.key, out);
  out.arg(wanted.owner.text());
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
  out.arg(static_cast<std::int64_t>(wanted.floor));
  if (!wanted.waits) return;
  out.arg(place_suffix{queue_family(), wanted}.text());
  out.arg(static_cast<std::int64_t>(wanted.ticket));
  out.arg(static_cast<std::int64_t>(wanted.queue_limit));
}

acquire_verdict mutex_recipe::read_acquire(const claim& wanted, const resp::value& v) const {
  if (!fenced_) {
    if (v.is(resp::type::simple) && v.text == "OK") return granted{0, wanted.lease};
    if (v.is(resp::type::null)) return busy{};
  }
  const auto verdict = native_recipe::read_acquire(wanted, v);
  const auto* grant = std::get_if<granted>(&verdict);
  if (fenced_ && grant != nullptr && grant->major == 0) return not_understood("acquire", v);
  return verdict;
}

void mutex_recipe::write_renew(std::span<const claim* const> held, server_time not_after,
                               resp::writer& out) const {
  assert(!held.empty() && held.size() <= renew_batch);
  out.call(scripts::holdfast_renew, held.size(), 1 + 2 * held.size());
  for (const claim* one : held) write_key(*one->key, "", out);
  out.arg(micros(not_after));
  for (const claim* one : held) {
    out.arg(lock_value{one->granted, one->owner}.text());
    out.arg(kept_time(*one).count());
  }
}

void mutex_recipe::write_release(const claim& held, resp::writer& out) const {
  out.call(scripts::holdfast_release, 4, 1);
  write_keys(*held.key, out);
  out.arg(lock_value{held.granted, held.owner}.text());
}

void mutex_recipe::write_lone_release(const claim& held, resp::writer& out) const {
  out.call(scripts::token_release, 1, 1);
  write_key(*held.key, "", out);
  out.arg(lock_value{held.granted, held.owner}.text());
}

void mutex_recipe::write_withdraw(const claim& wanted, resp::writer& out) const {
  out.call(scripts::holdfast_withdraw, 4, wanted.granted == 0 ? 2 : 3);
  write_keys(*wanted.key, out);
  out.arg(wanted.owner.text());
  out.arg(place_suffix{queue_family(), wanted}.text());
  if (wanted.granted != 0) out.arg(wanted.granted);
}

void write_acquire_all(std::span<const claim* const> wanted, server_time not_after,
                       resp::writer& out) {
  std::map<std::uint16_t, const lock_key*> of_each_slot;
  token_major floor = 0;
  for (const claim* one : wanted) {
    of_each_slot.emplace(one->key->slot(), one->key);
    floor = std::max(floor, one->floor);
  }
  out.call(scripts::holdfast_acquire_all, 2 * wanted.size() + of_each_slot.size(),
           2 + 2 * wanted.size());
  write_values_and_queues(wanted, out);
  for (const auto& [slot, key] : of_each_slot) out.arg(key->fence_key());
  out.arg(micros(not_after));
  out.arg(static_cast<std::int64_t>(floor));
  for (const claim* one : wanted) {
    out.arg(one->owner.text());
    out.arg(kept_time(*one).count());
  }
}

void write_release_all(std::span<const claim* const> held, resp::writer& out) {
  out.call(scripts::holdfast_release_all, 2 * held.size(), held.size());
  write_values_and_queues(held, out);
  for (const claim* one : held) out.arg(lock_value{one->granted, one->owner}.text());
}

}  // namespace holdfast::dialects
