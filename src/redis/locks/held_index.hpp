// Which locks this client holds, written down at the server for people who list locks.
#pragma once

#include <atomic>
#include <deque>
#include <string_view>
#include <vector>

#include "base/lock_key.hpp"
#include "base/mutex.hpp"
#include "net/background_thread.hpp"
#include "redis/connection/request.hpp"
#include "redis/dialects/holdfast/held_index.hpp"

namespace holdfast::redis_locks {

class redis_engine;

// Nothing waits for it and nothing depends on it. A lock is written down when it has been held for
// `noted_after`, and then every `noted_every`, many of them in one command: a lock that is released
// sooner costs nothing. For locks that are always held so shortly, the name of one grant is written
// down every `sampled_every`. Names that could not be written are written the next time.
// (docs/decisions/0021-index-of-held-locks.md)
inline constexpr milliseconds noted_after{250};
inline constexpr milliseconds noted_every{60'000};
inline constexpr milliseconds sampled_every{5'000};

// Thread safety: note() and sample() from any thread; the rest as its bases say.
class held_index final : public net::attendant, private redis::request {
 public:
  held_index(redis_engine& owner, net::background_thread& helper);

  // The lock may be held for `at_most` from now on.
  void note(const lock_key& lock, milliseconds at_most) noexcept HOLDFAST_EXCLUDES(mutex_) {
    add(lock, at_most, false);
  }
  // It has been given back. It stays there for as long as another holder takes to write it down.
  void note_released(const lock_key& lock) noexcept HOLDFAST_EXCLUDES(mutex_) {
    add(lock, 2 * noted_every, true);
  }

  // The lock has been granted. Cheap but for one in `sampled_every`.
  void sample(const lock_key& lock, monotonic_time now) {
    if (now.time_since_epoch().count() < sampled_at_.load(std::memory_order_relaxed)) return;
    take_sample(lock, now);
  }

  interest wants(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void attend(short events, monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);

 private:
  void write(resp::writer& out, monotonic_time sent_at) override;
  void on_reply(resp::value& reply) override HOLDFAST_EXCLUDES(mutex_);
  void on_failed(no_answer what, const redis::breakdown& why) override HOLDFAST_EXCLUDES(mutex_);
  void add(const lock_key& lock, milliseconds at_most, bool is_released) noexcept
      HOLDFAST_EXCLUDES(mutex_);
  void take_sample(const lock_key& lock, monotonic_time now) HOLDFAST_EXCLUDES(mutex_);
  void end(monotonic_time quiet_until) HOLDFAST_EXCLUDES(mutex_);

  redis_engine& engine_;
  net::background_thread& helper_;
  const dialects::held_index_place place_;
  std::atomic<monotonic_time::rep> sampled_at_;  // the next time, in nanoseconds of boot_clock
  std::vector<dialects::held_name> sent_;        // changes only while no command is under way
  mutex mutex_;
  std::deque<dialects::held_name> noted_ HOLDFAST_GUARDED_BY(mutex_);
  monotonic_time quiet_until_ HOLDFAST_GUARDED_BY(mutex_){};
  bool is_under_way_ HOLDFAST_GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::redis_locks
