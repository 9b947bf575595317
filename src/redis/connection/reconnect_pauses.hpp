// When a connection is made again: at once after a break, then after growing pauses.
#pragma once

#include "base/time.hpp"

namespace holdfast::redis {

// A connection that has answered something, or was good for a while, ends the row of failures.
// Thread safety: none.
class reconnect_pauses {
 public:
  // In a cluster, after each failure the client asks other nodes which master has the locks now:
  // pauses stay short there.
  explicit reconnect_pauses(bool in_cluster) noexcept;

  monotonic_time next_attempt() const noexcept { return attempt_at_; }

  void on_connected(monotonic_time now) noexcept { up_since_ = now; }
  void on_answer() noexcept { pause_ = milliseconds{0}; }
  void on_broken(monotonic_time now) noexcept;
  // `for_good`: the server refuses, and is likely to do so again.
  void on_not_connected(monotonic_time now, bool for_good) noexcept;

  // Whether the connection has lasted so long.
  bool has_lasted(milliseconds time, monotonic_time now) const noexcept {
    return now >= up_since_ + time;
  }

 private:
  const milliseconds longest_;
  monotonic_time up_since_{};
  monotonic_time attempt_at_{};
  milliseconds pause_{0};
};

}  // namespace holdfast::redis
