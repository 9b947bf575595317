#include "redis/connection/reconnect_pauses.hpp"

#include <algorithm>

namespace holdfast::redis {
namespace {

constexpr milliseconds shortest_delay{10};
constexpr milliseconds longest_delay{500};
constexpr milliseconds longest_delay_in_cluster{100};
constexpr milliseconds delay_after_refusal{1000};

}  // namespace

reconnect_pauses::reconnect_pauses(bool in_cluster) noexcept
    : longest_(in_cluster ? longest_delay_in_cluster : longest_delay) {}

void reconnect_pauses::on_broken(monotonic_time now) noexcept {
  if (now - up_since_ > longest_) pause_ = milliseconds{0};
  on_not_connected(now, false);
}

void reconnect_pauses::on_not_connected(monotonic_time now, bool for_good) noexcept {
  attempt_at_ = now + (for_good ? delay_after_refusal : pause_);
  pause_ = std::clamp(pause_ * 2, shortest_delay, longest_);
}

}  // namespace holdfast::redis
