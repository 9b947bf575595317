#include "dialects/redisson/redisson_recipe.hpp"

#include <algorithm>

#include "holdfast_scripts.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::size_t uuid_size = 36;
constexpr std::size_t uuid_digits = 32;

}  // namespace

std::string redisson_owner(const request_id& owner) {
  const request_text id = owner.text();
  std::string digits{std::string_view(id).substr(0, uuid_digits)};
  return with_hyphens(std::move(digits)) + ':' + std::to_string(owner.counter());
}

redisson_recipe::redisson_recipe() noexcept
    : foreign_recipe({.name = "redisson",
                      .lease = milliseconds{30'000},
                      .retry = milliseconds{50},
                      .surplus = {}}) {}

// Redisson's prefixName: no braces around a name that has some.
std::string redisson_recipe::channel_of(std::string_view name) const {
  constexpr std::string_view prefix = "redisson_lock__channel:";
  const bool is_tagged = name.find('{') != name.npos;
  std::string channel{prefix};
  if (!is_tagged) channel += '{';
  channel += name;
  if (!is_tagged) channel += '}';
  return channel;
}

std::string redisson_recipe::client_of(std::string_view owner) const {
  std::string digits{owner.substr(0, uuid_size)};
  std::erase(digits, '-');
  const bool is_one =
      digits.size() == uuid_digits && owner.size() > uuid_size && owner[uuid_size] == ':';
  return is_one ? digits : std::string{};
}

void redisson_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                    resp::writer& out) const {
  out.call(scripts::redisson_acquire, 1, 3);
  out.arg(key_of(wanted.key->name()));
  out.arg(redisson_owner(wanted.owner));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
}

void redisson_recipe::write_release(const claim& held, resp::writer& out) const {
  out.call(scripts::redisson_release, 1, 2);
  out.arg(key_of(held.key->name()));
  out.arg(redisson_owner(held.owner));
  out.arg(channel_of(held.key->name()));
}

const resp::script& redisson_recipe::inspection() const noexcept {
  return scripts::redisson_inspect;
}

const resp::script& redisson_recipe::renewal() const noexcept { return scripts::redisson_renew; }

}  // namespace holdfast::dialects
