// Keys of other libraries' locks that change when such a lock is given back.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "redis/locks/observed_keys.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

class redis_engine;
class redis_lock;

// Observes a key while somebody waits for it and for a little longer, since the next one may come
// soon; as `channels` does with channels. Thread safety: all members from any thread.
class key_watchers final : private timed {
 public:
  explicit key_watchers(redis_engine& owner) : engine_(owner) {}

  // Until he leaves, `who` is told when the key was read first (on_tuned_in), and of every change
  // (on_woken). True: he is new, and it was read already. May be called again.
  bool join(const std::string& key, const std::shared_ptr<redis_lock>& who)
      HOLDFAST_EXCLUDES(mutex_);
  void leave(const std::string& key, const redis_lock& who) HOLDFAST_EXCLUDES(mutex_);

  // The client is closed: nobody waits any more.
  void end() HOLDFAST_EXCLUDES(mutex_);

 private:
  struct told {
    std::vector<std::shared_ptr<redis_lock>> members{};
    monotonic_time unused_since{};
    bool is_read = false;
    std::shared_ptr<observed_key> seen{};
  };

  void on_change(const std::string& key) HOLDFAST_EXCLUDES(mutex_);
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return {std::shared_ptr<void>{}, this}; }

  redis_engine& engine_;
  mutex mutex_;
  std::unordered_map<std::string, told> keys_ HOLDFAST_GUARDED_BY(mutex_);
  bool timer_runs_ HOLDFAST_GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::redis_locks
