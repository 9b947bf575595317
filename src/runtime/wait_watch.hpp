// Looks after threads that wait for locks while they have others.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "base/identity.hpp"
#include "lease/step.hpp"
#include "runtime/lock_spec.hpp"

namespace holdfast::runtime {

class lock_driver;

// Thread safety: all members from any thread.
class wait_watch {
 public:
  // From its construction to its end a thread blocks for a lock. Thread safety: that thread.
  class wait {
   public:
    wait() = default;
    wait(const wait&) = delete;
    wait& operator=(const wait&) = delete;
    virtual ~wait() = default;

    // Ends the attempt: the caller's own stop came, or a report.
    virtual std::stop_token stop() const noexcept = 0;
    // Why it was ended, unless by the caller's own stop.
    virtual std::optional<leasing::outcome> report() const = 0;
  };

  // Null where it cannot be known which holders a waiter for this lock waits for. `wants` outlives
  // the wait.
  virtual std::unique_ptr<wait> begin(const lock_spec& wants, identity thread,
                                      std::stop_token stop) = 0;

  // A thread has a lock: from when it got the lock until any thread gives it back.
  virtual void acquired(identity thread, const std::shared_ptr<lock_driver>& what) = 0;
  virtual void released(const lock_driver& what) = 0;

 protected:
  ~wait_watch() = default;
};

}  // namespace holdfast::runtime
