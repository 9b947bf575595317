// When the user's callback is asked for the next login.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace holdfast::redis {

// A login is replaced when 70 to 80 % of its time have passed: clients that were started together
// do not all ask at the same moment. Failures, and refusals by servers, lead to growing pauses.
// Thread safety: none.
class login_schedule {
 public:
  // `draw`: any bits; they choose the moment.
  explicit login_schedule(std::uint32_t draw) noexcept : per_mille_(700 + draw % 101) {}

  monotonic_time ask_at() const noexcept { return ask_at_; }

  // Somebody needs a login that is good now.
  void want(monotonic_time now) noexcept {
    ask_at_ = std::min(ask_at_, std::max(now, failed_at_ + shortest_pause));
  }

  // It was asked at `asked_at`, and gave a login that is good for so long; zero: for ever.
  void on_given(monotonic_time asked_at, monotonic_time now, milliseconds valid_for) noexcept {
    ask_at_ = monotonic_time::max();
    if (valid_for == milliseconds{0} || valid_for > longest) return;
    ask_at_ = std::max(asked_at + valid_for * per_mille_ / 1000, now + shortest_pause);
  }

  // It gave none, or a server has refused it.
  void on_failed(monotonic_time now) noexcept {
    failed_at_ = now;
    pause_ = std::clamp(pause_ * 2, shortest_pause, longest_pause);
    ask_at_ = now + pause_;
  }

  // A server has let us in by it.
  void on_accepted() noexcept { pause_ = milliseconds{0}; }

 private:
  static constexpr milliseconds shortest_pause{100};
  static constexpr milliseconds longest_pause{5000};
  static constexpr milliseconds longest = std::chrono::hours{24 * 365};

  const int per_mille_;
  monotonic_time ask_at_ = monotonic_time::max();
  monotonic_time failed_at_{};
  milliseconds pause_{0};
};

}  // namespace holdfast::redis
