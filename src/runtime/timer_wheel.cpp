#include "runtime/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace holdfast::runtime {

timer_wheel::timer_wheel(tick start) noexcept : current_(start) {
  for (auto& l : levels_) {
    for (auto& head : l.heads) head.previous_ = head.next_ = &head;
  }
}

void timer_wheel::arm(node& n, tick at) noexcept {
  disarm(n);
  n.at_ = std::max(at, current_);
  link(n);
}

void timer_wheel::disarm(node& n) noexcept {
  if (!n.is_armed()) return;
  n.previous_->next_ = n.next_;
  n.next_->previous_ = n.previous_;
  n.previous_ = n.next_ = nullptr;
}

// The level is that of the highest digit (base 64) in which the time differs from the present.
void timer_wheel::link(node& n) noexcept {
  const auto differing = n.at_ ^ current_;
  const int digit = differing == 0 ? 0 : (std::bit_width(differing) - 1) / bits;
  const int l = std::min(digit, levels - 1);
  // Beyond the last level: as far as that reaches, to be looked at again when it comes.
  const auto where = std::min(n.at_ >> (bits * l), (current_ >> (bits * l)) + slots - 1);
  const auto slot = where & (slots - 1);
  auto& head = levels_[static_cast<std::size_t>(l)].heads[slot];
  n.previous_ = head.previous_;
  n.next_ = &head;
  head.previous_->next_ = &n;
  head.previous_ = &n;
  levels_[static_cast<std::size_t>(l)].occupied |= std::uint64_t{1} << slot;
}

// Distributes the slot of level `from` that has just begun over the levels below it.
void timer_wheel::cascade(int from) noexcept {
  auto& l = levels_[static_cast<std::size_t>(from)];
  const auto slot = (current_ >> (bits * from)) & (slots - 1);
  l.occupied &= ~(std::uint64_t{1} << slot);
  auto& head = l.heads[slot];
  node* n = head.next_;
  head.previous_ = head.next_ = &head;
  while (n != &head) {
    node* const following = n->next_;
    link(*n);
    n = following;
  }
}

timer_wheel::node* timer_wheel::pop_due(tick now) noexcept {
  for (tick next = next_due(); next <= now; next = next_due()) {
    if (next > current_) {
      current_ = next;
      // Higher levels first, so that what they hand down is handed on.
      for (int l = levels - 1; l > 0; --l) {
        const bool begins = (current_ & ((tick{1} << (bits * l)) - 1)) == 0;
        if (begins) cascade(l);
      }
    }
    const auto slot = current_ & (slots - 1);
    auto& head = levels_[0].heads[slot];
    if (head.next_ != &head) {
      node* const due = head.next_;
      disarm(*due);
      return due;
    }
    levels_[0].occupied &= ~(std::uint64_t{1} << slot);  // all of them were disarmed
  }
  current_ = std::max(current_, now);
  return nullptr;
}

bool timer_wheel::is_empty() const noexcept {
  return std::ranges::all_of(levels_, [](const level& l) {
    return std::ranges::all_of(l.heads, [](const node& head) { return head.next_ == &head; });
  });
}

timer_wheel::node* timer_wheel::pop_any() noexcept {
  for (auto& l : levels_) {
    for (auto& head : l.heads) {
      if (head.next_ == &head) continue;
      node* const found = head.next_;
      disarm(*found);
      return found;
    }
  }
  return nullptr;
}

// The timers of a level come before all timers on the levels above it.
timer_wheel::tick timer_wheel::next_due() const noexcept {
  for (int l = 0; l < levels; ++l) {
    const auto position = current_ >> (bits * l);
    const auto slot = static_cast<int>(position & (slots - 1));
    const auto occupied = levels_[static_cast<std::size_t>(l)].occupied;
    // Only the last level wraps around: elsewhere the slots behind belong to a turn that is over.
    auto ahead = l < levels - 1 ? occupied >> slot : std::rotr(occupied, slot);
    // The present slot of a higher level has been handed down when it began.
    if (l > 0) ahead &= ~std::uint64_t{1};
    if (ahead != 0) return (position + static_cast<tick>(std::countr_zero(ahead))) << (bits * l);
  }
  return never;
}

}  // namespace holdfast::runtime
