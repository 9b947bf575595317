// The inside of a holdfast::lock: something that can be acquired.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include <holdfast/lock_kind.hpp>

#include "lease/acquire_machine.hpp"
#include "runtime/holding.hpp"

namespace holdfast::runtime {

// How wanting a lock has ended.
using acquired = std::variant<grant, leasing::outcome>;

// One call that wants a lock and does not block. Thread safety: one thread at a time.
class acquisition {
 public:
  acquisition() = default;
  acquisition(const acquisition&) = delete;
  acquisition& operator=(const acquisition&) = delete;
  virtual ~acquisition() = default;

  // True: it has ended already and the listener, a continuation, will not be told. Otherwise it is
  // told once, when the attempt has ended.
  virtual bool begin(leasing::patience patience, std::stop_token stop, const listener& who) = 0;
  virtual acquired finish() = 0;

  // Nobody wants it any more: gives the lock back if it comes.
  virtual void abandon() = 0;
};

// Thread safety: all members from any thread.
class lock_source {
 public:
  lock_source() = default;
  lock_source(const lock_source&) = delete;
  lock_source& operator=(const lock_source&) = delete;
  virtual ~lock_source() = default;

  virtual const std::string& name() const noexcept = 0;
  virtual lock_kind kind() const noexcept = 0;
  virtual acquired wait(leasing::patience patience, std::stop_token stop) = 0;
  virtual std::unique_ptr<acquisition> ask() = 0;
};

}  // namespace holdfast::runtime
