// The timers of a client, fired by its background thread.
#pragma once

#include <memory>

#include "base/lock_key.hpp"
#include "base/mutex.hpp"
#include "base/time.hpp"
#include "net/background_thread.hpp"
#include "runtime/timer_wheel.hpp"

namespace holdfast::runtime {

// Something with a timer. It must disarm itself before it is destroyed.
class timed : public timer_wheel::node {
 public:
  // On the background thread, with no lock held.
  virtual void on_timer(monotonic_time now) = 0;

  // The client is closed: no timer of this object will fire any more.
  virtual void on_shut_down() noexcept = 0;

  // Another server than before has the keys of these hash slots: all leases of the old one are in
  // doubt. With no lock held.
  virtual void on_doubt(const slot_set& /*of*/) {}

  // Keeps the object alive while one of these runs; null when it is being destroyed. Must not lock.
  virtual std::shared_ptr<void> pin() noexcept = 0;

 protected:
  ~timed() = default;
};

// Thread safety: all members from any thread, unless said otherwise.
class timers final : public net::attendant {
 public:
  explicit timers(net::background_thread& helper);

  void arm(timed& t, monotonic_time at) HOLDFAST_EXCLUDES(mutex_);
  void disarm(timed& t) HOLDFAST_EXCLUDES(mutex_);

  bool is_any_armed() const HOLDFAST_EXCLUDES(mutex_);

  // Tells all that are armed, and the one that fires at this moment.
  void tell_of_doubt(const slot_set& of) HOLDFAST_EXCLUDES(mutex_);

  // Tells all that are still armed. After the background thread has stopped.
  void shut_down() noexcept HOLDFAST_EXCLUDES(mutex_);

  interest wants(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void attend(short events, monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);

 private:
  timer_wheel::tick tick_of(monotonic_time t) const noexcept;

  net::background_thread& helper_;
  const monotonic_time start_;
  mutable mutex mutex_;
  timer_wheel wheel_ HOLDFAST_GUARDED_BY(mutex_);
  timed* firing_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;        // on_timer() runs
  timer_wheel::tick planned_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // when the thread will look again
};

}  // namespace holdfast::runtime
