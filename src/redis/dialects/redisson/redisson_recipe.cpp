#include "redis/dialects/redisson/redisson_recipe.hpp"

#include <algorithm>
#include <utility>

#include "base/never_destroyed.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/redisson/count_down_latch_recipe.hpp"
#include "redis/dialects/redisson/fair_recipe.hpp"
#include "redis/dialects/redisson/read_write_recipe.hpp"
#include "redis/dialects/redisson/semaphore_recipe.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::size_t uuid_size = 36;
constexpr std::size_t uuid_digits = 32;

// RSpinLock's pauses grow to 128 ms: half to all of that is what ours last.
constexpr milliseconds longest_spin{64};

}  // namespace

std::string redisson_prefixed(std::string prefix, std::string_view name) {
  const bool is_tagged = name.find('{') != name.npos;
  if (!is_tagged) prefix += '{';
  prefix += name;
  if (!is_tagged) prefix += '}';
  return prefix;
}

std::string redisson_owner(const request_id& owner) {
  const request_text id = owner.text();
  std::string digits{std::string_view(id).substr(0, uuid_digits)};
  return with_hyphens(std::move(digits)) + ':' + std::to_string(owner.counter());
}

redisson_recipe::redisson_recipe(redisson_lock which, messages how) noexcept
    : foreign_recipe({.name = "redisson",
                      .lease = milliseconds{30'000},
                      .retry = which == redisson_lock::spin ? longest_spin : milliseconds{50},
                      .has_tokens = which == redisson_lock::fenced}),
      which_(which),
      how_(how),
      read_write_(which == redisson_lock::plain ? std::make_shared<const read_write_recipe>()
                                                : nullptr),
      fair_(which == redisson_lock::plain ? std::make_shared<const fair_recipe>() : nullptr),
      semaphore_(which == redisson_lock::plain
                     ? std::make_shared<const semaphore_recipe>(permit_leases::ours)
                     : nullptr),
      latch_(which == redisson_lock::plain ? std::make_shared<const count_down_latch_recipe>()
                                           : nullptr) {}

std::string redisson_recipe::channel_of(std::string_view name) const {
  return which_ == redisson_lock::spin ? std::string{}
                                       : redisson_prefixed("redisson_lock__channel:", name);
}

// A spin lock says nothing.
std::shared_ptr<const foreign_recipe> redisson_recipe::in_cluster() const {
  using enum redisson_lock;
  static const never_destroyed of_plain{
      std::make_shared<const redisson_recipe>(plain, messages::sharded)};
  static const never_destroyed of_fenced{
      std::make_shared<const redisson_recipe>(fenced, messages::sharded)};
  if (which_ == spin) return nullptr;
  return which_ == fenced ? *of_fenced : *of_plain;
}

std::string redisson_recipe::token_key_of(std::string_view name) {
  return redisson_prefixed("redisson_lock_token:", name);
}

std::string redisson_recipe::client_of(std::string_view owner) const {
  std::string digits{owner.substr(0, uuid_size)};
  std::erase(digits, '-');
  const bool is_one =
      digits.size() == uuid_digits && owner.size() > uuid_size && owner[uuid_size] == ':';
  return is_one ? digits : std::string{};
}

std::string_view redisson_recipe::shown(std::string_view owner) const {
  if (owner.ends_with(redisson_writer)) owner.remove_suffix(redisson_writer.size());
  return owner;
}

void redisson_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                    resp::writer& out) const {
  const std::string& name = wanted.key->name();
  if (which_ == redisson_lock::fenced) {
    out.call(scripts::redisson_acquire_fenced, 2, 3);
    out.arg(key_of(name));
    out.arg(token_key_of(name));
  } else {
    out.call(scripts::redisson_acquire, 1, 3);
    out.arg(key_of(name));
  }
  out.arg(redisson_owner(wanted.owner));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
}

void redisson_recipe::write_release(const claim& held, resp::writer& out) const {
  const auto channel = channel_of(held.key->name());
  out.call(scripts::redisson_release, 1, (channel.empty() ? 1 : 2) + words_of(how_));
  out.arg(key_of(held.key->name()));
  out.arg(redisson_owner(held.owner));
  if (!channel.empty()) out.arg(channel);
  write_words(how_, out);
}

announcement redisson_recipe::told_when_free(std::string_view name) const {
  auto channel = channel_of(name);
  if (channel.empty()) return {};
  return {how_ == messages::sharded ? sharded_command : "PUBLISH", std::move(channel), "0"};
}

const resp::script& redisson_recipe::inspection() const noexcept {
  return scripts::redisson_inspect;
}

const resp::script& redisson_recipe::renewal() const noexcept { return scripts::redisson_renew; }

}  // namespace holdfast::dialects
