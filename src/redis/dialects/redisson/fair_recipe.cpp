#include "redis/dialects/redisson/fair_recipe.hpp"

#include "base/never_destroyed.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/redisson/redisson_recipe.hpp"

namespace holdfast::dialects {
namespace {

// Redisson's fairLockWaitTimeout. Ours is the same: a waiter that leaves takes its own wait time
// from those behind it.
constexpr milliseconds thread_wait_time{300'000};

void write_keys(std::string_view name, resp::writer& out) {
  out.arg(name);
  out.arg(fair_recipe::queue_of(name));
  out.arg(fair_recipe::timeouts_of(name));
}

}  // namespace

fair_recipe::fair_recipe(messages how) noexcept
    : foreign_recipe(
          {.name = "redisson", .lease = milliseconds{30'000}, .retry = milliseconds{50}}),
      how_(how) {}

std::string fair_recipe::queue_of(std::string_view name) {
  return redisson_prefixed("redisson_lock_queue:", name);
}

std::string fair_recipe::timeouts_of(std::string_view name) {
  return redisson_prefixed("redisson_lock_timeout:", name);
}

std::string fair_recipe::channel_of(std::string_view name) const {
  return redisson_prefixed("redisson_lock__channel:", name);
}

std::shared_ptr<const foreign_recipe> fair_recipe::in_cluster() const {
  static const never_destroyed sharded{std::make_shared<const fair_recipe>(messages::sharded)};
  return *sharded;
}

std::string fair_recipe::told_at(const claim& waiting) const {
  return channel_of(waiting.key->name()) + ':' + owner_of(waiting);
}

std::string fair_recipe::owner_of(const claim& c) const { return redisson_owner(c.owner); }

void fair_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                resp::writer& out) const {
  out.call(scripts::redisson_acquire_fair, 3, 5);
  write_keys(wanted.key->name(), out);
  out.arg(owner_of(wanted));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
  out.arg(thread_wait_time.count());
  out.arg(wanted.waits ? 1 : 0);
}

void fair_recipe::write_release(const claim& left, resp::writer& out) const {
  out.call(scripts::redisson_leave_fair, 3, 3 + words_of(how_));
  write_keys(left.key->name(), out);
  out.arg(owner_of(left));
  out.arg(channel_of(left.key->name()));
  out.arg(thread_wait_time.count());
  write_words(how_, out);
}

const resp::script& fair_recipe::inspection() const noexcept { return scripts::redisson_inspect; }

const resp::script& fair_recipe::renewal() const noexcept { return scripts::redisson_renew; }

}  // namespace holdfast::dialects
