#include "net/background_thread.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "net/quiet_thread.hpp"

namespace holdfast::net {
namespace {

// poll() does not count the time for which the machine is suspended; an alarm does.
constexpr milliseconds long_sleep{100};

}  // namespace

void background_thread::start(std::vector<attendant*> attended) {
  attended_ = std::move(attended);
  events_.assign(attended_.size(), 0);
  thread_ = quiet_thread("holdfast-io", [this] { run(); });
}

void background_thread::stop() noexcept {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_relaxed);
  wake();
  thread_.join();
}

void background_thread::add(attendant& newcomer) {
  {
    const scoped_mutex lock(newcomers_guard_);
    newcomers_.push_back(&newcomer);
    has_newcomers_.store(true, std::memory_order_relaxed);
  }
  wake();
}

void background_thread::wake_at(monotonic_time when) noexcept {
  const scoped_mutex lock(alarm_guard_);
  if (when >= alarm_at_) return;
  alarm_at_ = when;
  alarm_.set(when);
}

// Beside the time-out of poll(). Mostly an earlier alarm is set, and then no lock is taken either.
void background_thread::set_own_alarm(monotonic_time when) noexcept {
  if (when >= own_alarm_at_) return;
  own_alarm_at_ = when;
  wake_at(when);
}

void background_thread::end_alarm() noexcept {
  own_alarm_at_ = monotonic_time::max();
  const scoped_mutex lock(alarm_guard_);
  alarm_at_ = monotonic_time::max();
  alarm_.clear();
}

void background_thread::admit_newcomers() {
  const scoped_mutex lock(newcomers_guard_);
  attended_.insert(attended_.end(), newcomers_.begin(), newcomers_.end());
  newcomers_.clear();
  has_newcomers_.store(false, std::memory_order_relaxed);
  events_.resize(attended_.size());
}

void background_thread::run() {
  std::vector<attendant::interest> interests;
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (has_newcomers_.load(std::memory_order_relaxed)) admit_newcomers();
    interests.resize(attended_.size());
    const auto before = now();
    for (std::size_t i = 0; i < attended_.size(); ++i) interests[i] = attended_[i]->wants(before);
    sleep(interests);
    const auto after = now();
    for (std::size_t i = 0; i < attended_.size(); ++i) {
      if (events_[i] != 0 || after >= interests[i].at) attended_[i]->attend(events_[i], after);
    }
  }
}

void background_thread::sleep(const std::vector<attendant::interest>& interests) {
  auto& polled = polled_;
  polled.assign({{wake_up_.fd(), POLLIN, 0}, {alarm_.fd(), POLLIN, 0}});
  auto until = monotonic_time::max();
  for (const auto& wanted : interests) {
    polled.push_back({wanted.fd, wanted.events, 0});  // poll() passes over a negative fd
    until = std::min(until, wanted.at);
  }
  asleep_.store(true, std::memory_order_seq_cst);
  // A wake() before this point set the flag and may not have seen us asleep.
  const bool at_once = signalled_.exchange(false, std::memory_order_seq_cst);
  timespec timeout{};
  const bool for_ever = !at_once && until == monotonic_time::max();
  if (!at_once && !for_ever) {
    const auto left = std::max(nanoseconds{0}, until - now());
    if (left > long_sleep) set_own_alarm(until);
    timeout = {left.count() / 1'000'000'000, left.count() % 1'000'000'000};
  }
  ::ppoll(polled.data(), polled.size(), for_ever ? nullptr : &timeout, nullptr);
  asleep_.store(false, std::memory_order_relaxed);
  if (polled[0].revents != 0) wake_up_.clear();
  if (polled[1].revents != 0) end_alarm();
  signalled_.exchange(false, std::memory_order_seq_cst);  // pairs with wake()
  for (std::size_t i = 0; i < interests.size(); ++i) events_[i] = polled[i + 2].revents;
}

}  // namespace holdfast::net
