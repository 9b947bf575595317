// The planned events in virtual time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace holdfast::simulation {

// Earliest first; events due at the same time happen in the order in which they were planned.
class event_queue {
 public:
  struct event {
    monotonic_time when;
    std::uint64_t order;
    std::function<void()> what;
  };

  bool empty() const noexcept { return heap_.empty(); }
  monotonic_time next_due() const noexcept { return heap_.front().when; }

  void push(monotonic_time when, std::function<void()> what) {
    heap_.push_back({when, ++planned_, std::move(what)});
    std::ranges::push_heap(heap_, is_later);
  }

  event pop() {
    std::ranges::pop_heap(heap_, is_later);
    event next = std::move(heap_.back());
    heap_.pop_back();
    return next;
  }

 private:
  static bool is_later(const event& a, const event& b) noexcept {
    return a.when != b.when ? a.when > b.when : a.order > b.order;
  }

  std::vector<event> heap_;
  std::uint64_t planned_ = 0;
};

}  // namespace holdfast::simulation
