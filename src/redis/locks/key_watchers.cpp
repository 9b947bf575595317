#include "redis/locks/key_watchers.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/redis_lock.hpp"

namespace holdfast::redis_locks {
namespace {

constexpr milliseconds linger{1000};

}  // namespace

bool key_watchers::join(const std::string& key, const std::shared_ptr<redis_lock>& who) {
  const scoped_mutex lock(mutex_);
  auto& wanted = keys_[key];
  if (wanted.seen == nullptr) {
    wanted.seen = engine_.observed().observe(
        key, [this, key](const observed_key::value&) { on_change(key); });
  }
  if (std::ranges::find(wanted.members, who) != wanted.members.end()) return false;
  wanted.members.push_back(who);
  return wanted.is_read;
}

void key_watchers::leave(const std::string& key, const redis_lock& who) {
  const scoped_mutex lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end()) return;
  auto& left = found->second;
  std::erase_if(left.members, [&](const auto& one) { return one.get() == &who; });
  if (!left.members.empty()) return;
  left.unused_since = net::now();
  if (!std::exchange(timer_runs_, true)) {
    engine_.timers().arm(*this, left.unused_since + linger);
  }
}

void key_watchers::on_change(const std::string& key) {
  std::vector<std::shared_ptr<redis_lock>> members;
  bool is_first = false;
  {
    const scoped_mutex lock(mutex_);
    const auto found = keys_.find(key);
    if (found == keys_.end()) return;
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

// What ends is stopped with no lock held: that waits for a call of on_change to end.
void key_watchers::on_timer(monotonic_time now) {
  std::vector<std::shared_ptr<observed_key>> ended;
  {
    auto next = monotonic_time::max();
    const scoped_mutex lock(mutex_);
    std::erase_if(keys_, [&](auto& entry) {
      auto& one = entry.second;
      if (!one.members.empty()) return false;
      const auto until = one.unused_since + linger;
      if (now >= until) {
        ended.push_back(std::move(one.seen));
        return true;
      }
      next = std::min(next, until);
      return false;
    });
    timer_runs_ = next != monotonic_time::max();
    if (timer_runs_) engine_.timers().arm(*this, next);
  }
  for (const auto& one : ended) one->stop();
}

void key_watchers::end() {
  std::unordered_map<std::string, told> ended;
  {
    const scoped_mutex lock(mutex_);
    ended.swap(keys_);
  }
  for (const auto& [key, one] : ended) one.seen->stop();
}

}  // namespace holdfast::redis_locks
