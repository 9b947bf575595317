#include "redis/connection/socket_wait.hpp"

#include <poll.h>
#include <sched.h>

#include <algorithm>

#include "net/clock.hpp"

namespace holdfast::redis {

void socket_wait::expect_push() noexcept {
  if (tuning_.spin == microseconds{0}) return;
  const auto due = net::now() + tuning_.push_spin;
  push_due_.store(due.time_since_epoch().count(), std::memory_order_relaxed);
}

monotonic_time socket_wait::push_due() const noexcept {
  return monotonic_time{nanoseconds{push_due_.load(std::memory_order_relaxed)}};
}

link::outcome socket_wait::receive(net::waiter& w, reply_batch& batch, const limits& within) {
  const bool spins = within.alone && !within.same_core && tuning_.spin > microseconds{0};
  auto end = push_due();
  if (spins) end = std::max(net::now() + tuning_.spin + w.longer(), end);
  while (end > monotonic_time{} && net::now() < end) {
    const auto outcome = over_.receive(batch);
    if (outcome != link::outcome::would_block || w.is_finished()) return outcome;
    sched_yield();  // the server may want this processor
  }
  if (!w.is_finished()) w.tell_companion();
  // Its answer will be here before anybody wants to interrupt it.
  if (within.alone && !w.is_executor() && !w.is_finished()) {
    const auto outcome = over_.receive_soon(batch);
    if (outcome != link::outcome::would_block || w.is_finished()) return outcome;
  }
  poll(w, within.until);
  return over_.receive(batch);
}

void socket_wait::poll(net::waiter& w, monotonic_time until) {
  if (w.start_reading(interrupt_)) {
    pollfd polled[2] = {{over_.fd(), POLLIN, 0}, {interrupt_.fd(), POLLIN, 0}};
    nanoseconds left = until - net::now();
    if (const auto own = w.time_left()) left = std::min(left, *own);
    const auto wait = std::max(nanoseconds{0}, left).count();
    const timespec timeout{wait / 1'000'000'000, wait % 1'000'000'000};
    ::ppoll(polled, 2, &timeout, nullptr);
    if (polled[1].revents != 0) interrupt_.clear();
  }
  w.stop_reading();
}

}  // namespace holdfast::redis
