// The one thread of a client that looks after what no caller looks after: sockets and timers.
#pragma once

#include <poll.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "base/time.hpp"
#include "net/alarm_clock.hpp"
#include "net/wake_up.hpp"

namespace holdfast::net {

// Something that the background thread looks after. Both functions run on that thread only.
class attendant {
 public:
  struct interest {
    int fd = -1;
    short events = 0;                           // of poll()
    monotonic_time at = monotonic_time::max();  // attend at this time at the latest
  };
  virtual interest wants(monotonic_time now) = 0;
  // `events` is what poll() reported: 0 when only the time has come.
  virtual void attend(short events, monotonic_time now) = 0;

 protected:
  ~attendant() = default;
};

// Thread safety: add(), wake(), wake_at() and is_this_thread() from any thread; start() and stop()
// once, by the owner.
class background_thread {
 public:
  ~background_thread() { stop(); }

  void start(std::vector<attendant*> attended);
  void stop() noexcept;  // joins; nothing is attended afterwards

  // One more to look after, until the end.
  void add(attendant& newcomer);

  // Makes the thread ask every attendant again what it wants. Cheap when it is awake anyway.
  void wake() noexcept {
    signalled_.store(true, std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst)) wake_up_.signal();
  }

  // As above, at this time at the latest. The thread is not woken before, only to learn for how
  // long it may sleep: waking it costs more than many a wait for a lock.
  void wake_at(monotonic_time when) noexcept;

  // For an attendant that stays busy for a while: has somebody called wake() since? Clears it.
  bool was_woken() noexcept {
    return signalled_.load(std::memory_order_relaxed) &&
           signalled_.exchange(false, std::memory_order_seq_cst);
  }

  bool is_this_thread() const noexcept { return thread_.get_id() == std::this_thread::get_id(); }

 private:
  void run();
  void admit_newcomers();
  void set_own_alarm(monotonic_time when) noexcept;
  void end_alarm() noexcept;
  void sleep(const std::vector<attendant::interest>& interests);

  wake_up wake_up_;
  alarm_clock alarm_;
  mutex alarm_guard_;
  monotonic_time alarm_at_ HOLDFAST_GUARDED_BY(alarm_guard_) = monotonic_time::max();
  monotonic_time own_alarm_at_ = monotonic_time::max();  // of the thread: not before alarm_at_
  std::atomic<bool> signalled_{false};
  std::atomic<bool> asleep_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> has_newcomers_{false};
  mutex newcomers_guard_;
  std::vector<attendant*> newcomers_ HOLDFAST_GUARDED_BY(newcomers_guard_);
  std::vector<attendant*> attended_;
  std::vector<short> events_;   // of the last sleep, one for each attendant
  std::vector<pollfd> polled_;  // by sleep()
  std::thread thread_;
};

}  // namespace holdfast::net
