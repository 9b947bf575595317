#include "redis/dialects/holdfast/shared_lock.hpp"

#include <cassert>
#include <string>

#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/holdfast/waiting.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::size_t keys = 5;

void write_shared_keys(const lock_key& key, resp::writer& out) {
  write_keys(key, out);
  write_key(key, ":n", out);
}

// The text behind the request id in the queue: all that letting the waiter in needs.
std::string place_of(const claim& waiting) {
  const demand& wants = *waiting.wants;
  std::string text{':'};
  text += wants.mode;
  text += std::to_string(wants.weight) + '/' + std::to_string(wants.limit) + ':';
  if (wants.replaced) text += wants.replaced->text();
  return text.append(place_suffix{family::several, waiting}.text());
}

}  // namespace

void shared_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                  resp::writer& out) const {
  const demand& wants = *wanted.wants;
  out.call(scripts::holdfast_shared_acquire, keys, wanted.waits ? 11 : 8);
  write_shared_keys(*wanted.key, out);
  out.arg(wanted.owner.text());
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
  out.arg(static_cast<std::int64_t>(wanted.floor));
  out.arg(std::string_view{&wants.mode, 1});
  out.arg(static_cast<std::int64_t>(wants.weight));
  out.arg(static_cast<std::int64_t>(wants.limit));
  out.arg(wants.replaced ? std::string{wants.replaced->text()} : std::string{});
  if (!wanted.waits) return;
  out.arg(place_of(wanted));
  out.arg(static_cast<std::int64_t>(wanted.ticket));
  out.arg(static_cast<std::int64_t>(wanted.queue_limit));
}

void shared_recipe::write_renew(std::span<const claim* const> held, server_time not_after,
                                resp::writer& out) const {
  assert(!held.empty() && held.size() <= renew_batch);
  out.call(scripts::holdfast_shared_renew, held.size(), 1 + 2 * held.size());
  for (const claim* one : held) write_key(*one->key, "", out);
  out.arg(micros(not_after));
  for (const claim* one : held) {
    out.arg({one->owner.text(), ":", std::to_string(one->granted)});
    out.arg(kept_time(*one).count());
  }
}

void shared_recipe::write_release(const claim& held, resp::writer& out) const {
  out.call(scripts::holdfast_shared_release, keys, 2);
  write_shared_keys(*held.key, out);
  out.arg(held.owner.text());
  out.arg(held.granted);
}

void shared_recipe::write_lone_release(const claim& held, resp::writer& out) const {
  out.call(scripts::holdfast_shared_lone_release, 1, 2);
  write_key(*held.key, "", out);
  out.arg(held.owner.text());
  out.arg(held.granted);
}

void shared_recipe::write_withdraw(const claim& wanted, resp::writer& out) const {
  const std::size_t args = wanted.forsakes ? 4 : wanted.granted != 0 ? 3 : 2;
  out.call(scripts::holdfast_shared_withdraw, keys, args);
  write_shared_keys(*wanted.key, out);
  out.arg(wanted.owner.text());
  out.arg(wanted.wants != nullptr ? place_of(wanted) : std::string{});
  if (args == 2) return;
  out.arg(wanted.granted == 0 ? std::string{} : std::to_string(wanted.granted));
  if (args == 4) out.arg("forsaken");
}

release_verdict shared_recipe::read_release(const resp::value& v) const {
  if (v.is(resp::type::integer) && v.number == 3) return not_undone{};
  return native_recipe::read_release(v);
}

void write_set_permits(const lock_key& key, std::uint32_t permits, server_time not_after,
                       resp::writer& out) {
  out.call(scripts::holdfast_shared_set_permits, keys, 2);
  write_shared_keys(key, out);
  out.arg(permits == 0 ? std::string{} : std::to_string(permits));
  out.arg(micros(not_after));
}

std::variant<bool, refused> read_permits_set(const lock_key& key, const resp::value& v) {
  if (v.is(resp::type::integer) && v.number >= 0 && v.number <= 2) return v.number != 2;
  if (auto why = read_other_family(v)) return *std::move(why);
  if (auto why = read_not_ours(v, key.value_key())) return *std::move(why);
  return refused_or_not_understood("set permits", v);
}

}  // namespace holdfast::dialects
