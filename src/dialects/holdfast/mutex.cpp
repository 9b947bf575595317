#include "dialects/holdfast/mutex.hpp"

#include <cassert>
#include <utility>

#include "dialects/holdfast/answers.hpp"
#include "dialects/holdfast/layout.hpp"
#include "dialects/holdfast/waiting.hpp"
#include "holdfast_scripts.hpp"

namespace holdfast::dialects {
namespace {

std::int64_t micros(server_time t) noexcept { return t.time_since_epoch().count(); }

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
  out.arg(place_suffix{wanted}.text());
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

void mutex_recipe::write_withdraw(const claim& wanted, resp::writer& out) const {
  out.call(scripts::holdfast_withdraw, 4, 2);
  write_keys(*wanted.key, out);
  out.arg(wanted.owner.text());
  out.arg(place_suffix{wanted}.text());
}

void write_acquire_all(std::span<const claim* const> wanted, server_time not_after,
                       resp::writer& out) {
  out.call(scripts::holdfast_acquire_all, 3 * wanted.size(), 1 + 3 * wanted.size());
  for (const claim* one : wanted) {
    write_key(*one->key, "", out);
    write_key(*one->key, ":w", out);
    out.arg(one->key->fence_key());
  }
  out.arg(micros(not_after));
  for (const claim* one : wanted) {
    out.arg(one->owner.text());
    out.arg(kept_time(*one).count());
    out.arg(static_cast<std::int64_t>(one->floor));
  }
}

void write_release_all(std::span<const claim* const> held, resp::writer& out) {
  out.call(scripts::holdfast_release_all, 2 * held.size(), held.size());
  for (const claim* one : held) {
    write_key(*one->key, "", out);
    write_key(*one->key, ":w", out);
  }
  for (const claim* one : held) out.arg(lock_value{one->granted, one->owner}.text());
}

}  // namespace holdfast::dialects
