// Many timers, each armed and disarmed in constant time.
#pragma once

#include <array>
#include <cstdint>

namespace holdfast::runtime {

// A hierarchical timing wheel (G. Varghese, T. Lauck, "Hashed and hierarchical timing wheels",
// 1987): five levels of 64 slots, one tick to 12 days; later timers are looked at again every 12
// days. It links the timers themselves, allocates nothing and knows no clock: ticks are arguments.
// Thread safety: none; see timers.hpp.
class timer_wheel {
 public:
  using tick = std::uint64_t;
  static constexpr tick never = ~tick{0};

  // The part of a timed object that the wheel links.
  class node {
   public:
    bool is_armed() const noexcept { return previous_ != nullptr; }

   private:
    friend class timer_wheel;
    node* previous_ = nullptr;
    node* next_ = nullptr;
    tick at_ = 0;
  };

  explicit timer_wheel(tick start) noexcept;
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;

  // Arms it for `at`, or for the next tick if that has passed. Armed before: moves it.
  void arm(node& n, tick at) noexcept;
  void disarm(node& n) noexcept;

  // The next timer that is due at `now` or earlier, disarmed; null when there is none (left).
  node* pop_due(tick now) noexcept;

  // Any armed timer, disarmed; null when there is none.
  node* pop_any() noexcept;

  bool is_empty() const noexcept;

  // Calls `visit` with every armed timer. It must not arm or disarm any.
  template <typename Visitor>
  void for_each(Visitor&& visit) const {
    for (const auto& l : levels_) {
      for (const auto& head : l.heads) {
        for (node* n = head.next_; n != &head; n = n->next_) visit(*n);
      }
    }
  }

  // No timer is due before this tick; `never` when none is armed.
  tick next_due() const noexcept;

 private:
  static constexpr int bits = 6;
  static constexpr std::uint64_t slots = 1U << bits;
  static constexpr int levels = 5;

  struct level {
    std::array<node, slots> heads;  // circular lists
    std::uint64_t occupied = 0;
  };

  void link(node& n) noexcept;
  void cascade(int from) noexcept;

  std::array<level, levels> levels_;
  tick current_;  // every earlier tick is done
};

}  // namespace holdfast::runtime
