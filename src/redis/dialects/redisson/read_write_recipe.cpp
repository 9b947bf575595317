#include "redis/dialects/redisson/read_write_recipe.hpp"

#include "base/never_destroyed.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/redisson/redisson_recipe.hpp"

namespace holdfast::dialects {
namespace {

bool reads(const claim& c) { return c.wants != nullptr && c.wants->mode == 'r'; }

}  // namespace

read_write_recipe::read_write_recipe(messages how) noexcept
    : foreign_recipe(
          {.name = "redisson", .lease = milliseconds{30'000}, .retry = milliseconds{50}}),
      how_(how) {}

std::string read_write_recipe::channel_of(std::string_view name) const {
  return redisson_prefixed("redisson_rwlock:", name);
}

std::shared_ptr<const foreign_recipe> read_write_recipe::in_cluster() const {
  static const never_destroyed sharded{
      std::make_shared<const read_write_recipe>(messages::sharded)};
  return *sharded;
}

std::string read_write_recipe::owner_of(const claim& c) const {
  auto owner = redisson_owner(c.owner);
  if (!reads(c)) owner += redisson_writer;
  return owner;
}

void read_write_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                      resp::writer& out) const {
  out.call(reads(wanted) ? scripts::redisson_acquire_read : scripts::redisson_acquire_write, 1, 3);
  out.arg(key_of(wanted.key->name()));
  out.arg(owner_of(wanted));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
}

void read_write_recipe::write_release(const claim& held, resp::writer& out) const {
  out.call(reads(held) ? scripts::redisson_release_read : scripts::redisson_release_write, 1,
           2 + words_of(how_));
  out.arg(key_of(held.key->name()));
  out.arg(owner_of(held));
  out.arg(channel_of(held.key->name()));
  write_words(how_, out);
}

const resp::script& read_write_recipe::inspection() const noexcept {
  return scripts::redisson_inspect;
}

const resp::script& read_write_recipe::renewal() const noexcept {
  return scripts::redisson_renew_read_write;
}

}  // namespace holdfast::dialects
