#include "redis/locks/key_watchers.hpp"

#include <utility>

#include "redis/locks/redis_engine.hpp"
#include "redis/locks/redis_lock.hpp"

namespace holdfast::redis_locks {

key_watchers::key_watchers(redis_engine& owner) : audiences(owner.timers()), engine_(owner) {}

bool key_watchers::join(const std::string& key, const std::shared_ptr<redis_lock>& who) {
  const scoped_mutex lock(mutex_);
  auto& wanted = all_[key];
  if (wanted.seen == nullptr) {
    wanted.seen = engine_.observed().observe(
        key, [this, key](const observed_key::value&) { on_change(key); });
  }
  return wanted.admit(who) && wanted.is_read;
}

void key_watchers::on_change(const std::string& key) {
  std::vector<std::shared_ptr<redis_lock>> members;
  bool is_first = false;
  {
    const scoped_mutex lock(mutex_);
    const auto found = all_.find(key);
    if (found == all_.end()) return;
    is_first = !std::exchange(found->second.is_read, true);
    members = found->second.members;
  }
  for (const auto& one : members) {
    if (is_first) {
      one->on_tuned_in(true);
    } else {
      one->on_woken();
    }
  }
}

bool key_watchers::end(const std::string&, key_audience& unused) {
  ended_.push_back(std::move(unused.seen));
  return true;
}

void key_watchers::on_timer(monotonic_time now) {
  audiences::on_timer(now);
  stop_ended();
}

void key_watchers::end() {
  {
    const scoped_mutex lock(mutex_);
    for (auto& [key, one] : all_) end(key, one);
    all_.clear();
  }
  stop_ended();
}

// With no lock held: that waits for a call of on_change to end.
void key_watchers::stop_ended() {
  std::vector<std::shared_ptr<observed_key>> ended;
  {
    const scoped_mutex lock(mutex_);
    ended.swap(ended_);
  }
  for (const auto& one : ended) one->stop();
}

}  // namespace holdfast::redis_locks
