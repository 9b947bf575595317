// The thread or continuation that is told when something has ended.
#pragma once

#include <memory>

#include <holdfast/detail/completion.hpp>

#include "net/waiter.hpp"

namespace holdfast::runtime {

class engine;
class executor;
class lock_driver;

// One command that several drivers become a part of.
class joint_command {
 public:
  // Under the driver's mutex.
  virtual void add(std::shared_ptr<lock_driver> member) noexcept = 0;

 protected:
  ~joint_command() = default;
};

// Either a thread or a continuation, or nobody.
struct listener {
  net::waiter* sleeper = nullptr;            // a thread in event_source::drive
  detail::completion* completion = nullptr;  // or a continuation
  runtime::executor* executor = nullptr;     // where that runs; null: the callback thread
  joint_command* together = nullptr;         // the first command becomes a part of it

  // The thread that registers this will drive the connection.
  bool drives() const noexcept { return sleeper != nullptr || executor != nullptr; }
  bool drives(const net::event_source& which) const noexcept;  // that one, and not another
  bool exists() const noexcept { return sleeper != nullptr || completion != nullptr; }

  // The listener, and all that it owned, may be gone before this returns.
  void tell(engine& of) const;
  // A continuation that was told, and waits for its turn, does not run.
  void withdraw(engine& of) const noexcept;
};

}  // namespace holdfast::runtime
