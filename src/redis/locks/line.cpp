#include "redis/locks/line.hpp"

#include <utility>

#include "redis/dialects/foreign_recipe.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/redis_lock.hpp"

namespace holdfast::redis_locks {
namespace {

std::string channel_in_slot(const redis_lock& of) {
  return dialects::channel_of(of.owner().id(), of.spec().key);
}

}  // namespace

std::optional<line_message> line::enter(redis_lock& who, net::waiter* sleeper) {
  auto* const here = &who.owner().connection(who.spec().key.slot());
  if (server_ == here) return std::nullopt;
  if (server_ != nullptr) server_->unlisten(sleeper_);
  server_ = here;
  const bool drives_it = sleeper != nullptr && sleeper->home() == server_;
  sleeper_ = drives_it ? sleeper : nullptr;
  auto came_already = who.owner().waiting().enter(who.claim().owner.counter(), who.self());
  server_->listen(sleeper_);
  return came_already;
}

void line::leave(const redis_lock& who) {
  if (auto* const listened = std::exchange(server_, nullptr)) {
    listened->unlisten(sleeper_);
    is_known_ = true;
  }
  tune_out(who);
}

void line::expect_grant(redis_lock& who) {
  if (server_ != nullptr || std::exchange(is_known_, true)) return;
  (void)who.owner().waiting().enter(who.claim().owner.counter(), who.self());
}

void line::expect_no_grant(const redis_lock& who) {
  if (std::exchange(is_known_, false)) who.owner().waiting().leave(who.claim().owner.counter());
}

void line::listen_in_slot(redis_lock& who) {
  if (!who.owner().is_cluster() || !who.owner().hears()) return;
  is_tuned_in_ = true;
  who.owner().channels().join(channel_in_slot(who), channel_audience::kind::ours, who.self());
}

bool line::tune_in(redis_lock& who) {
  const auto& how = *who.spec().foreign;
  const auto place = how.told_at(who.claim());
  if (place.empty()) return false;
  is_tuned_in_ = true;
  const auto self = who.self();
  using enum channel_audience::kind;
  const auto messages = how.shards_messages() ? in_slot : to_all_nodes;
  return how.is_told_by_key() ? who.owner().key_watchers().join(place, self)
                              : who.owner().channels().join(place, messages, self);
}

void line::tune_out(const redis_lock& who) {
  if (!std::exchange(is_tuned_in_, false)) return;
  if (!who.spec().foreign) return who.owner().channels().leave(channel_in_slot(who), who);
  const auto& how = *who.spec().foreign;
  if (how.is_told_by_key()) {
    who.owner().key_watchers().leave(how.told_at(who.claim()), who);
  } else {
    who.owner().channels().leave(how.told_at(who.claim()), who);
  }
}

}  // namespace holdfast::redis_locks
