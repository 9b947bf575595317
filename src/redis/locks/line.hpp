// Where a request that waits for its lock listens.
#pragma once

#include <optional>

#include "redis/connection/connection.hpp"
#include "redis/locks/waiting_room.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

class redis_lock;

// In the server's queue it hears what comes on its client's channel, which the waiting room hands
// out. Another library's lock has a channel, or a key, of its own. Every call is for the same
// request, and under its mutex.
class line {
 public:
  // The server has answered that somebody else holds the lock: now its messages concern the
  // request. In a cluster it may be another server than the one whose messages did so far. Returns
  // the last message that came already.
  std::optional<line_message> enter(redis_lock& who, net::waiter* sleeper);
  bool is_entered() const noexcept { return server_ != nullptr; }
  // It listens no more; a message that it has the lock is still its own.
  void leave(const redis_lock& who);

  // An earlier copy of the request may stand in the queue, unheard. A message that it was granted
  // must find the request. Otherwise the grant would be passed on while the answer to the next copy
  // says that the lock is ours.
  void expect_grant(redis_lock& who);
  // From now on such a message is for a request that has left. Not before: the message may come
  // after the answer that said the same, and the lock is ours.
  void expect_no_grant(const redis_lock& who);

  // In a cluster the messages about the lock need not come through every node, once the server
  // knows that we listen within its hash slot. Until then they do.
  void listen_in_slot(redis_lock& who);

  // Another library's lock is held by somebody, of whom we may hear when it is given back. True: it
  // may have been given back before this began to listen.
  bool tune_in(redis_lock& who);

  // Something of the above is to be undone.
  bool is_used() const noexcept { return server_ != nullptr || is_known_ || is_tuned_in_; }

 private:
  void tune_out(const redis_lock& who);

  redis::connection* server_ = nullptr;  // null: not in the waiting room, or it listens no more
  net::waiter* sleeper_ = nullptr;       // the thread that does
  bool is_known_ = false;                // in the waiting room, but listens no more
  bool is_tuned_in_ = false;             // among those of a channel or key
};

}  // namespace holdfast::redis_locks
