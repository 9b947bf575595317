// How the thread that reads waits for the socket: it looks again and again, then sleeps.
#pragma once

#include <atomic>

#include "base/time.hpp"
#include "net/waiter.hpp"
#include "net/wake_up.hpp"
#include "redis/connection/connection_tuning.hpp"
#include "redis/connection/link.hpp"

namespace holdfast::redis {

// Thread safety: expect_push() from any thread, the rest by the thread that reads.
class socket_wait {
 public:
  struct limits {
    bool alone = false;      // the thread waits for the last answer, and nobody for another one
    bool same_core = false;  // the server has the core that we have: spinning would keep it waiting
    monotonic_time until{};
  };

  socket_wait(link& over, const connection_tuning& tuning) : over_(over), tuning_(tuning) {}

  // A push will come very soon: looking for it is worth it for a while.
  void expect_push() noexcept;
  // Until when.
  monotonic_time push_due() const noexcept;

  // Until something came, the thread is done, or the time is over.
  link::outcome receive(net::waiter& w, reply_batch& batch, const limits& within);

 private:
  void poll(net::waiter& w, monotonic_time until);

  link& over_;
  const connection_tuning& tuning_;
  net::wake_up interrupt_;  // ends the poll
  std::atomic<monotonic_time::rep> push_due_{0};
};

}  // namespace holdfast::redis
