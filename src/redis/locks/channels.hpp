// Channels on which is said that a lock was given back: those of other libraries, and in a cluster
// our own that are within the hash slot of a lock.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "redis/connection/connection.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/slot_map.hpp"
#include "redis/locks/audiences.hpp"
#include "redis/resp/value.hpp"

namespace holdfast::redis_locks {

class redis_engine;

struct channel_audience : audience {
  // The sender of the messages and how they come. `in_slot`: in a cluster they stay within the
  // channel's hash slot (SPUBLISH), where servers know such messages; otherwise they come to every
  // node. `ours`: the same, and beside the client's own channel, so nothing depends on it: they are
  // for the waiting room, and read by requests that stand in line.
  enum class kind : std::uint8_t { to_all_nodes, in_slot, ours };
  enum class state : std::uint8_t { off, asking, on, refused };

  std::uint16_t slot = 0;
  kind is_a = kind::to_all_nodes;
  state is = state::off;
  redis::connection* at = nullptr;  // while it is asked for or heard: the connection
};

// Listens on a channel while a lock waits there and for a little longer. Waiters are told when that
// begins and ends: only in between need they not ask often. Thread safety: all members from any
// thread.
class channels final : public audiences<channel_audience> {
 public:
  using kind = channel_audience::kind;

  explicit channels(redis_engine& owner);

  // Until it leaves, `who` is told when the client begins or ceases to listen (on_tuned_in), and of
  // every message (on_woken). True: `who` is new, and the client listens already. May be called
  // again.
  bool join(const std::string& name, kind what, const std::shared_ptr<redis_lock>& who)
      HOLDFAST_EXCLUDES(mutex_);

  // True: it was for a channel of these, and concerns nobody else.
  bool on_push(const resp::value& message) HOLDFAST_EXCLUDES(mutex_);
  // Messages of these slots may have been lost, or are another server's now.
  void on_broken(const slot_set& of) HOLDFAST_EXCLUDES(mutex_);

 private:
  class subscription;
  class parting;
  using state = channel_audience::state;

  static bool is_sharded(const channel_audience& one) noexcept {
    return one.is_a != kind::to_all_nodes;
  }
  void open(const std::string& name, channel_audience& what) HOLDFAST_REQUIRES(mutex_);
  void close(channel_audience& what, state now) HOLDFAST_REQUIRES(mutex_);
  void listen(channel_audience& what, redis::connection* to) HOLDFAST_REQUIRES(mutex_);
  void on_answered(const std::string& name, const resp::value& reply) HOLDFAST_EXCLUDES(mutex_);
  void on_failed(const std::string& name) HOLDFAST_EXCLUDES(mutex_);
  bool on_message(const std::string& name) HOLDFAST_EXCLUDES(mutex_);
  bool on_ended(const std::string& name) HOLDFAST_EXCLUDES(mutex_);
  bool end(const std::string& name, channel_audience& unused) override HOLDFAST_REQUIRES(mutex_);

  redis_engine& engine_;
  std::atomic<std::size_t> open_{0};  // while none is, no message is looked at
};

}  // namespace holdfast::redis_locks
