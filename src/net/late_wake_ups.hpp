// Waking threads when nothing is locked any more.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/thread_scratch.hpp"

namespace holdfast::net {

// While one exists, the wake-ups of its thread are put off until send(). A thread that is woken
// under a mutex often runs at once, in the place of the one that woke it. It runs into the mutex
// and goes back to sleep. With 64 threads on a connection that was half of all switches.
//
// A thread that is woken late may have seen the change already, and be gone. Then the call wakes
// nobody, or another thread without need, which every futex must bear.
class late_wake_ups {
 public:
  using word = std::atomic<std::uint32_t>;

  late_wake_ups() : first_(put_off().size) { ++scopes; }
  ~late_wake_ups();
  late_wake_ups(const late_wake_ups&) = delete;
  late_wake_ups& operator=(const late_wake_ups&) = delete;

  // Sends the wake-ups that were put off since this began.
  void send() noexcept;

  // How many of this thread are put off.
  static std::size_t count() { return put_off().size; }

  // Wakes one thread that sleeps on `on`, now or late: now, where too many are put off already.
  static void wake(word& on) noexcept;

  // Takes the memory for all of this thread.
  static void prepare() { (void)put_off(); }

 private:
  // Of a fixed size: nobody is left asleep for want of memory.
  struct words {
    std::size_t size = 0;
    std::array<word*, 256> all;
  };
  static words& put_off() { return thread_scratch<words>(); }

  static thread_local int scopes;
  const std::size_t first_;
};

}  // namespace holdfast::net
