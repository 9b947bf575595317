// One thread that waits for its operation, and that may be asked to read for everybody meanwhile.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "base/futex.hpp"
#include "net/clock.hpp"
#include "net/late_wake_ups.hpp"
#include "net/wake_up.hpp"

namespace holdfast::net {

class event_source;

// A word of flags. Waking costs a system call only when the thread really sleeps, and the flags
// keep a `done` and an offered role apart, so that neither overwrites the other.
// Thread safety: done() and offer_role() from any thread; the rest belongs to the waiting thread.
class waiter {
 public:
  // A `caller` waits for one operation and does nothing else. An `executor` runs other code of the
  // user's between its waits, so it can be offered the role only while it sleeps.
  enum class kind : std::uint8_t { caller, executor };

  // Is told before the thread sleeps, or waits for one socket only: others must then look after its
  // other sockets. On that thread, which has no mutex of an event source.
  class companion {
   public:
    virtual void before_sleep() = 0;

   protected:
    ~companion() = default;
  };

  // `home`: see there.
  explicit waiter(kind which, event_source* home = nullptr) noexcept : kind_(which), home_(home) {}
  bool is_executor() const noexcept { return kind_ == kind::executor; }

  // The source that the thread drives, and so the only one that may ask it to read. Null: it drives
  // none, and others read the answers that it waits for.
  event_source* home() const noexcept { return home_.load(std::memory_order_relaxed); }
  // Then the former home must forget it.
  void set_home(event_source* home) noexcept { home_.store(home, std::memory_order_relaxed); }

  void set_companion(companion* who) noexcept { companion_ = who; }
  bool has_companion() const noexcept { return companion_ != nullptr; }
  void tell_companion() const {
    if (companion_ != nullptr) companion_->before_sleep();
  }

  // When the thread goes on although its operation is not finished: the driving thread then gives
  // up its request. Set before it drives.
  void set_deadline(monotonic_time when) noexcept { deadline_ = when; }
  // How long it may wait from now on; none left: it is finished from now on.
  std::optional<nanoseconds> time_left() noexcept {
    if (deadline_ == monotonic_time::max()) return std::nullopt;
    const auto left = deadline_ - now();
    if (left <= nanoseconds{0}) word_.fetch_or(is_done, std::memory_order_acq_rel);
    return std::max(nanoseconds{0}, left);
  }

  // How much longer than usual the server is known to take for the next answer: looking for it is
  // worth that much more time.
  void expect_longer(nanoseconds by) noexcept { longer_ = by; }
  nanoseconds longer() const noexcept { return longer_; }

  // The operation is finished (or an executor has something to run). The thread may leave at once,
  // and take this along.
  void done() noexcept {
    if (set_done()) wake();
  }

  // As above, in two steps, of which the second may come when the thread has left already: a mutex
  // that it needs before it leaves can be held in the first one only. True: wake() must follow.
  [[nodiscard]] bool set_done() noexcept {
    auto word = load();
    wake_up* interrupt = nullptr;
    do {
      // Asked before the end can be seen. That it is still the right one then is in the word.
      interrupt =
          (word & is_reading) != 0 ? reading_wake_up_.load(std::memory_order_relaxed) : nullptr;
    } while (!word_.compare_exchange_weak(word, word | is_done, std::memory_order_acq_rel,
                                          std::memory_order_acquire));
    // The thread reads the socket for everybody: it has to be interrupted there.
    if (interrupt != nullptr) interrupt->signal();
    return (word & is_asleep) != 0;
  }
  void wake() noexcept { late_wake_ups::wake(word_); }

  // The thread shall read for everybody from now on. False when it cannot take the role. Called
  // under the mutex of its home.
  bool offer_role() noexcept {
    auto word = load();
    for (;;) {
      const bool busy_elsewhere = kind_ == kind::executor && (word & is_asleep) == 0;
      if (busy_elsewhere || (word & is_done) != 0) return false;
      if (word_.compare_exchange_weak(word, word | has_role, std::memory_order_acq_rel)) break;
    }
    if ((word & is_asleep) != 0) late_wake_ups::wake(word_);
    return true;
  }

  bool is_finished() const noexcept { return (load() & is_done) != 0; }
  bool was_offered_role() const noexcept { return (load() & has_role) != 0; }
  void clear_role() noexcept { word_.fetch_and(~has_role, std::memory_order_acq_rel); }
  void clear_done() noexcept { word_.fetch_and(~is_done, std::memory_order_acq_rel); }

  // Sleeps until done or offered the role, or until its deadline, when it is done.
  void sleep() {
    if (!is_finished()) tell_companion();
    for (;;) {
      auto word = load();
      if ((word & (is_done | has_role)) != 0) break;
      if ((word & is_asleep) == 0 &&
          !word_.compare_exchange_weak(word, word | is_asleep, std::memory_order_acq_rel)) {
        continue;
      }
      const auto left = time_left();
      if (!left) {
        futex_wait(word_, word | is_asleep);
      } else if (*left > nanoseconds{0}) {
        futex_wait(word_, word | is_asleep, *left);
      }
    }
    word_.fetch_and(~is_asleep, std::memory_order_acq_rel);
  }

  // Looks for a while whether it is done, before sleeping is worth it; not when it is to read.
  bool spin(nanoseconds how_long) const noexcept {
    const auto end = now() + how_long;
    while (!is_finished()) {
      if (was_offered_role() || now() >= end) return false;
      sched_yield();
    }
    return true;
  }

  // Around a blocking poll of the socket. False: already done, do not block.
  bool start_reading(wake_up& interrupt) noexcept {
    reading_wake_up_.store(&interrupt, std::memory_order_relaxed);
    return (word_.fetch_add(is_reading, std::memory_order_acq_rel) & is_done) == 0;
  }
  void stop_reading() noexcept { word_.fetch_add(is_reading, std::memory_order_acq_rel); }

 private:
  static constexpr std::uint32_t is_done = 1;
  static constexpr std::uint32_t has_role = 2;
  static constexpr std::uint32_t is_asleep = 4;
  // The lowest bit of a count of beginnings and ends, so that the word is another at each reading.
  static constexpr std::uint32_t is_reading = 8;

  std::uint32_t load() const noexcept { return word_.load(std::memory_order_acquire); }

  const kind kind_;
  nanoseconds longer_{0};
  monotonic_time deadline_ = monotonic_time::max();
  companion* companion_ = nullptr;
  std::atomic<event_source*> home_;
  std::atomic<std::uint32_t> word_{0};
  std::atomic<wake_up*> reading_wake_up_{nullptr};
};

}  // namespace holdfast::net
