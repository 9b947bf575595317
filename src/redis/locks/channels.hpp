// Channels on which is said that a lock was given back: those of other libraries, and in a cluster
// our own that are within the hash slot of a lock.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "redis/connection/connection.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/slot_map.hpp"
#include "redis/locks/words.hpp"
#include "redis/resp/value.hpp"

namespace holdfast::redis_locks {

class redis_engine;
class redis_lock;

// Listens on a channel while somebody waits there and for a little longer, since the next one may
// come soon. Whoever waits is told when that begins and ends: only in between need he not ask
// often. Thread safety: all members from any thread.
class channels final : private timed {
 public:
  // Whose messages they are and how they come. `in_slot`: in a cluster they stay within the
  // channel's hash slot (SPUBLISH), where servers know such messages; otherwise they come to every
  // node. `ours`: the same, and beside the client's own channel, so nothing depends on it: they are
  // for the waiting room, and read by who stands in line.
  enum class kind : std::uint8_t { to_all_nodes, in_slot, ours };

  explicit channels(redis_engine& owner) : engine_(owner) {}

  // Until he leaves, `who` is told when somebody begins or ceases to listen (on_tuned_in), and of
  // every message (on_woken). True: he is new, and somebody listens already. May be called again.
  bool join(const std::string& name, kind what, const std::shared_ptr<redis_lock>& who)
      HOLDFAST_EXCLUDES(mutex_);
  void leave(const std::string& name, const redis_lock& who) HOLDFAST_EXCLUDES(mutex_);

  // True: it was for one who waits here, and concerns nobody else.
  bool on_push(const resp::value& message) HOLDFAST_EXCLUDES(mutex_);
  // Messages of these slots may have been lost, or are another server's now.
  void on_broken(const slot_set& of) HOLDFAST_EXCLUDES(mutex_);

 private:
  class subscription;
  class parting;
  enum class state : std::uint8_t { off, asking, on, refused };
  struct channel {
    std::uint16_t slot = 0;
    kind is_a = kind::to_all_nodes;
    std::vector<std::shared_ptr<redis_lock>> members{};
    monotonic_time unused_since{};
    state is = state::off;
    redis::connection* at = nullptr;  // while it is asked for or heard: who reads that
  };

  static bool is_sharded(const channel& one) noexcept { return one.is_a != kind::to_all_nodes; }
  void open(const std::string& name, channel& what) HOLDFAST_REQUIRES(mutex_);
  void close(channel& what, state now) HOLDFAST_REQUIRES(mutex_);
  void listen(channel& what, redis::connection* to) HOLDFAST_REQUIRES(mutex_);
  void on_answered(const std::string& name, const resp::value& reply) HOLDFAST_EXCLUDES(mutex_);
  void on_failed(const std::string& name) HOLDFAST_EXCLUDES(mutex_);
  bool on_message(const std::string& name) HOLDFAST_EXCLUDES(mutex_);
  bool on_ended(const std::string& name) HOLDFAST_EXCLUDES(mutex_);
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return {std::shared_ptr<void>{}, this}; }

  redis_engine& engine_;
  std::atomic<std::size_t> open_{0};  // while none is, no message is looked at
  mutex mutex_;
  std::unordered_map<std::string, channel> channels_ HOLDFAST_GUARDED_BY(mutex_);
  bool timer_runs_ HOLDFAST_GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::redis_locks
