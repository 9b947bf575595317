// How new it is what a sentinel, or a node of a cluster, says of who is the master.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace holdfast::redis {

// The newest configuration that anybody has told of: each failover gives it a higher epoch. Who
// tells of an older one is cut off from the others, or has not heard yet.
//
// Thread safety: all members from any thread.
class newest_epoch {
 public:
  // Nothing said: our user may not look there. It is taken for new.
  bool is_after(std::optional<std::uint64_t> said) const noexcept {
    return said && *said < known_.load(std::memory_order_relaxed);
  }
  void learn(std::optional<std::uint64_t> said) noexcept {
    if (!said) return;
    auto known = known_.load(std::memory_order_relaxed);
    while (known < *said && !known_.compare_exchange_weak(known, *said)) {
    }
  }
  // They were set up anew, and count from zero.
  void begin_again_at(std::uint64_t said) noexcept {
    known_.store(said, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> known_{0};
};

}  // namespace holdfast::redis
