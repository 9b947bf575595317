// Virtual time, and what happens in it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/time.hpp"
#include "simulation/event_queue.hpp"

namespace holdfast::simulation {

// The common base of worlds. A run is the same for the same seed, which its trace shows.
class timeline {
 public:
  static constexpr monotonic_time begin{std::chrono::hours{1}};

  monotonic_time now() const noexcept { return now_; }

  // An event that is overdue happens next.
  void at(monotonic_time when, std::function<void()> what) {
    events_.push(std::max(when, now_), std::move(what));
  }

  // A promise was broken; the first one is told.
  void violated(const std::string& what) {
    if (!violation_.empty()) return;
    const auto ms = std::chrono::floor<milliseconds>(now_ - begin).count();
    violation_ = what + ", at " + std::to_string(ms) + " ms";
  }

 protected:
  const std::string& violation() const noexcept { return violation_; }
  std::uint64_t trace() const noexcept { return trace_; }

  // Until everybody rests after the faults, `end` has come or a promise is broken; `check` looks
  // for that after each event.
  template <typename Everybody, typename Check>
  void run(const Everybody& all, monotonic_time faults_end, monotonic_time end, Check check) {
    const auto all_rest = [&] {
      return now_ >= faults_end &&
             std::ranges::all_of(all, [](const auto& one) { return one->rests(); });
    };
    while (violation_.empty() && !all_rest() && !events_.empty() && events_.next_due() <= end) {
      step();
      check();
    }
    if (violation_.empty() && !all_rest()) violated("L: somebody was never served");
  }
  // Nobody wants anything any more, and requests under way go on for so long.
  void run_on(nanoseconds time) {
    const auto end = now_ + time;
    while (!events_.empty() && events_.next_due() <= end) step();
    now_ = end;
  }
  // Nothing happens any more.
  void pass(nanoseconds time) noexcept { now_ += time; }

 private:
  void step() {
    const auto next = events_.pop();
    now_ = next.when;
    const auto when = static_cast<std::uint64_t>(now_.time_since_epoch().count());
    trace_ = (trace_ ^ when) * 0x100000001b3;
    next.what();
  }

  monotonic_time now_ = begin;
  event_queue events_;
  std::string violation_;
  std::uint64_t trace_ = 0;
};

}  // namespace holdfast::simulation
