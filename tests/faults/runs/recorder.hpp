// Writes what happens in this process into a file of its own.
#pragma once

#include <atomic>
#include <string>

#include "net/descriptor.hpp"
#include "support/history/event.hpp"

namespace holdfast::faults {

// CLOCK_BOOTTIME, which all processes of a run share.
history::nanoseconds time_now();

// An event is one write, so what is told is in the file also when the process is killed.
// Thread safety: all members from any thread.
class recorder {
 public:
  explicit recorder(const std::string& directory);  // into PID.events

  std::uint64_t next_operation() { return ++operations_; }

  // As of now and of this process, where it does not say.
  void record(history::event one);

 private:
  net::descriptor file_;
  std::atomic<std::uint64_t> operations_{0};
};

}  // namespace holdfast::faults
