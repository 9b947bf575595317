// The requests of a client to which others may have something to say: they stand in a queue, or
// they keep a lock that they may not need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/mutex.hpp"
#include "base/request_id.hpp"
#include "redis/connection/connection.hpp"
#include "redis/connection/slot_map.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "redis/locks/words.hpp"
#include "redis/resp/value.hpp"

namespace holdfast::redis_locks {

class redis_engine;
class redis_lock;
struct master;

// Wants to hear that a lock of a quorum is free at this server. With no lock held, on any thread.
class hint_listener {
 public:
  virtual void on_hint() = 0;

 protected:
  ~hint_listener() = default;
};

// A message of the server to a request that stands in a queue.
struct line_message {
  std::variant<dialects::handed_over, dialects::first_in_line> what;
  std::uint64_t position = 0;  // redis::request::position
};

// Thread safety: all members from any thread.
class waiting_room final : private timed {
 public:
  waiting_room(redis_engine& owner, const client_id& id);

  // From now on messages for this request are delivered to it. Returns the last that came already:
  // it may overtake the answer that says that the request waits, on another thread.
  std::optional<line_message> enter(std::uint64_t request, std::shared_ptr<redis_lock> who)
      HOLDFAST_EXCLUDES(mutex_);
  void leave(std::uint64_t request) HOLDFAST_EXCLUDES(mutex_);
  bool knows(std::uint64_t request) HOLDFAST_EXCLUDES(mutex_);

  // `held` is over: requests that were to change it ask again, and hear of that.
  void wake_changes_of(const lock_driver& held) HOLDFAST_EXCLUDES(mutex_);

  // The lock that this request was granted may be kept: its local lock is told when others want it.
  void keep(const request_id& request, const std::shared_ptr<local_lock>& by)
      HOLDFAST_EXCLUDES(mutex_);
  void keep_no_more(const request_id& request) HOLDFAST_EXCLUDES(mutex_);

  // Hints for this request are told.
  void hear(const request_id& request, std::weak_ptr<hint_listener> who) HOLDFAST_EXCLUDES(mutex_);
  void hear_no_more(const request_id& request) HOLDFAST_EXCLUDES(mutex_);

  // True: it was for this client. In a cluster a message may come from every node, and is heard
  // where the lock is.
  bool on_push(const master& from, const resp::value& message, std::uint64_t position)
      HOLDFAST_EXCLUDES(mutex_);

  // Messages may have been lost: each waiter for a lock of these hash slots asks again.
  void on_broken(const slot_set& of) HOLDFAST_EXCLUDES(mutex_);

 private:
  struct unclaimed {
    std::uint64_t request;
    line_message message;
    monotonic_time until;
  };

  struct kept_lock {
    std::weak_ptr<local_lock> local;
    redis::connection* listens = nullptr;
  };

  void deliver(const master& from, std::uint64_t request, line_message message)
      HOLDFAST_EXCLUDES(mutex_);
  void deliver(const dialects::wanted& what) HOLDFAST_EXCLUDES(mutex_);
  void deliver(const dialects::freed& what) HOLDFAST_EXCLUDES(mutex_);
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return {std::shared_ptr<void>{}, this}; }

  redis_engine& engine_;
  const client_id id_;
  mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<redis_lock>> waiting_
      HOLDFAST_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, std::weak_ptr<hint_listener>> hearing_
      HOLDFAST_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, kept_lock> kept_ HOLDFAST_GUARDED_BY(mutex_);
  std::vector<unclaimed> unclaimed_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::redis_locks
