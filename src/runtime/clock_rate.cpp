#include "runtime/clock_rate.hpp"

#include <atomic>

#include "lease/clock_rate.hpp"
#include "net/clock.hpp"

namespace holdfast::runtime {

monotonic_time follow_clock_rate(monotonic_time now) noexcept {
  static constinit std::atomic<std::int64_t> looks_again_at{0};
  const auto at = now.time_since_epoch().count();
  auto due = looks_again_at.load(std::memory_order_relaxed);
  if (at < due) return now;
  const auto next = at + nanoseconds{std::chrono::seconds{1}}.count();
  if (looks_again_at.compare_exchange_strong(due, next, std::memory_order_relaxed)) {
    leasing::rate_allowance().store(leasing::rate_allowance_for(net::clock_correction()),
                                    std::memory_order_relaxed);
  }
  return now;
}

}  // namespace holdfast::runtime
