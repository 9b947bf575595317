#include "runtime/timers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "net/clock.hpp"

namespace holdfast::runtime {
namespace {

// Since the client was made: longer than any lives, and short enough for the arithmetic.
constexpr auto horizon = std::chrono::hours{24 * 365 * 100};

}  // namespace

timers::timers(net::background_thread& helper) : helper_(helper), start_(net::now()), wheel_(0) {}

// Rounded up: a timer never fires early.
timer_wheel::tick timers::tick_of(monotonic_time t) const noexcept {
  const auto since = std::clamp<nanoseconds>(t - start_, nanoseconds{0}, horizon);
  return static_cast<timer_wheel::tick>(std::chrono::ceil<milliseconds>(since).count());
}

void timers::arm(timed& t, monotonic_time at) {
  const scoped_mutex lock(mutex_);
  const auto tick = tick_of(std::min(at, start_ + horizon));
  wheel_.arm(t, tick);
  if (tick >= planned_) return;
  planned_ = tick;
  helper_.wake_at(start_ + milliseconds{tick});
}

void timers::disarm(timed& t) {
  const scoped_mutex lock(mutex_);
  wheel_.disarm(t);
}

bool timers::is_any_armed() const {
  const scoped_mutex lock(mutex_);
  return firing_ != nullptr || !wheel_.is_empty();
}

void timers::tell_of_doubt(const slot_set& of) {
  std::vector<std::pair<timed*, std::shared_ptr<void>>> told;
  {
    const scoped_mutex lock(mutex_);
    wheel_.for_each([&told](timer_wheel::node& n) {
      auto* const one = static_cast<timed*>(&n);
      told.emplace_back(one, one->pin());
    });
    if (firing_ != nullptr && !firing_->is_armed()) told.emplace_back(firing_, firing_->pin());
  }
  for (const auto& [one, alive] : told) {
    if (alive) one->on_doubt(of);
  }
}

void timers::shut_down() noexcept {
  for (;;) {
    timed* armed = nullptr;
    std::shared_ptr<void> alive;
    {
      const scoped_mutex lock(mutex_);
      armed = static_cast<timed*>(wheel_.pop_any());
      if (armed == nullptr) return;
      alive = armed->pin();
    }
    if (alive) armed->on_shut_down();
  }
}

net::attendant::interest timers::wants(monotonic_time) {
  const scoped_mutex lock(mutex_);
  planned_ = wheel_.next_due();
  interest wanted;
  if (planned_ != timer_wheel::never) wanted.at = start_ + milliseconds{planned_};
  return wanted;
}

void timers::attend(short, monotonic_time now) {
  const auto tick = static_cast<timer_wheel::tick>(
      std::max<std::int64_t>(0, std::chrono::floor<milliseconds>(now - start_).count()));
  for (;;) {
    timed* due = nullptr;
    std::shared_ptr<void> alive;
    {
      const scoped_mutex lock(mutex_);
      due = static_cast<timed*>(wheel_.pop_due(tick));
      if (due == nullptr) return;
      alive = due->pin();
      if (alive) firing_ = due;
    }
    if (!alive) continue;
    due->on_timer(now);
    const scoped_mutex lock(mutex_);
    firing_ = nullptr;
  }
}

}  // namespace holdfast::runtime
