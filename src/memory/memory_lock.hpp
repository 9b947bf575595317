// The request for one lock of this process' memory, and the time that the lock is held.
#pragma once

#include <memory>

#include "memory/memory_engine.hpp"
#include "runtime/lock_driver.hpp"

namespace holdfast::memory {

// Asks the table at once, and hears the answer later. Where there is no memory for that, the
// process ends: these locks are for tests. Thread safety: all members from any thread.
class memory_lock final : public runtime::lock_driver {
 public:
  memory_lock(memory_engine& owner, const std::shared_ptr<const runtime::lock_spec>& spec,
              leasing::patience patience, bool may_stop, runtime::local_lock* local);
  ~memory_lock() override { end_timer(); }

  // Of runtime::holding.
  bool set_note(std::string_view) noexcept override { return false; }

 private:
  // Of runtime::lock_driver.
  void post(const leasing::effects& what, runtime::listener& who, bool drives) override
      HOLDFAST_REQUIRES(mutex_);
  void listen() override {}  // it hears everything from the first answer on
  void carry_out(const leasing::effects& all) override HOLDFAST_REQUIRES(mutex_);
  monotonic_time fires_at(monotonic_time at) const override { return at; }
  result<extension_answer> ask_to_extend(milliseconds duration) override HOLDFAST_EXCLUDES(mutex_);
  // Of runtime::timed. There is never another server.
  void on_doubt(const slot_set&) override {}

  memory_engine& owner() const noexcept {
    return static_cast<memory_engine&>(lock_driver::owner());
  }
  // Has the session told soon; under the table's mutex, so that it hears all in its order.
  template <typename Tell>
  void happen_soon(Tell tell);
  ear its_ear();
  void hear(news what) HOLDFAST_EXCLUDES(mutex_);
};

}  // namespace holdfast::memory
