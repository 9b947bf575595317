// Locks that wait for news: a message on a channel, or the change of a key.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "net/clock.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

class redis_lock;

struct audience {
  std::vector<std::shared_ptr<redis_lock>> members{};
  monotonic_time unused_since{};

  // False: it is there already.
  bool admit(const std::shared_ptr<redis_lock>& who) {
    const bool is_new = std::ranges::find(members, who) == members.end();
    if (is_new) members.push_back(who);
    return is_new;
  }
};

// Each by the name of what it listens to. It stays for a little longer than its members, since the
// next one may come soon. Thread safety: all public members from any thread.
template <typename Audience>
class audiences : protected timed {
 public:
  void leave(const std::string& name, const redis_lock& who) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    const auto found = all_.find(name);
    if (found == all_.end()) return;
    auto& left = found->second;
    std::erase_if(left.members, [&](const auto& one) { return one.get() == &who; });
    if (!left.members.empty()) return;
    left.unused_since = net::now();
    if (!std::exchange(timer_runs_, true)) timers_.arm(*this, left.unused_since + linger);
  }

 protected:
  explicit audiences(runtime::timers& timers) : timers_(timers) {}
  ~audiences() = default;

  // It has stayed long enough. False: it cannot go yet.
  virtual bool end(const std::string& name, Audience& unused) HOLDFAST_REQUIRES(mutex_) = 0;

  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_) {
    auto next = monotonic_time::max();
    const scoped_mutex lock(mutex_);
    for (auto it = all_.begin(); it != all_.end();) {
      auto& [name, one] = *it;
      const bool is_due = one.members.empty() && now >= one.unused_since + linger;
      if (is_due && end(name, one)) {
        it = all_.erase(it);
        continue;
      }
      if (one.members.empty()) next = std::min(next, (is_due ? now : one.unused_since) + linger);
      ++it;
    }
    timer_runs_ = next != monotonic_time::max();
    if (timer_runs_) timers_.arm(*this, next);
  }

  mutex mutex_;
  std::unordered_map<std::string, Audience> all_ HOLDFAST_GUARDED_BY(mutex_);

 private:
  static constexpr milliseconds linger{1000};

  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return {std::shared_ptr<void>{}, this}; }

  runtime::timers& timers_;
  bool timer_runs_ HOLDFAST_GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::redis_locks
