// Keys of other libraries' locks that change when such a lock is given back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "redis/locks/audiences.hpp"
#include "redis/locks/observed_keys.hpp"

namespace holdfast::redis_locks {

class redis_engine;

struct key_audience : audience {
  bool is_read = false;
  std::shared_ptr<observed_key> seen{};
};

// Observes a key while somebody waits for it and for a little longer. Thread safety: all members
// from any thread.
class key_watchers final : public audiences<key_audience> {
 public:
  explicit key_watchers(redis_engine& owner);

  // Until it leaves, `who` is told when the key was read first (on_tuned_in), and of every change
  // (on_woken). True: `who` is new, and the key was read already. May be called again.
  bool join(const std::string& key, const std::shared_ptr<redis_lock>& who)
      HOLDFAST_EXCLUDES(mutex_);

  // The client is closed: nobody waits any more.
  void end() HOLDFAST_EXCLUDES(mutex_);

 private:
  void on_change(const std::string& key) HOLDFAST_EXCLUDES(mutex_);
  bool end(const std::string& key, key_audience& unused) override HOLDFAST_REQUIRES(mutex_);
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void stop_ended() HOLDFAST_EXCLUDES(mutex_);

  redis_engine& engine_;
  std::vector<std::shared_ptr<observed_key>> ended_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::redis_locks
