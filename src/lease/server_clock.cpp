#include "lease/server_clock.hpp"

#include <chrono>

namespace holdfast::leasing {

void server_clock::sample(monotonic_time sent_at, monotonic_time received_at,
                          server_time said) noexcept {
  // Answers of several connections may be handed in out of order.
  if (sent_at < sent_at_) return;
  sent_at_ = sent_at;
  received_at_ = received_at;
  said_ = said;
}

server_time server_clock::estimate(monotonic_time now) const noexcept {
  if (!known()) return far_future;
  // Negative when another thread took its sample after `now` was read.
  const nanoseconds elapsed = now - received_at_;
  return said_ + std::chrono::floor<microseconds>(elapsed - std::chrono::abs(elapsed) / 100);
}

std::optional<monotonic_time> server_clock::earliest(server_time then) const noexcept {
  if (!known()) return std::nullopt;
  const nanoseconds elapsed = then - said_;
  return sent_at_ + elapsed - std::chrono::abs(elapsed) / 100;
}

}  // namespace holdfast::leasing
