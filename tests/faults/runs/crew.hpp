// The workers of a run, and what can be done to them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faults/runs/recorder.hpp"
#include "faults/runs/worker.hpp"
#include "support/child_process.hpp"

namespace holdfast::faults {

// Thread safety: one thread at a time. They are killed with this object.
class crew {
 public:
  // Returns when all are ready.
  crew(assignment what, recorder& log);

  // Lets them work, and those that are started in place of others too. Once.
  void begin(history::nanoseconds until);

  std::size_t size() const noexcept { return workers_.size(); }
  std::optional<std::size_t> find(std::int64_t pid) const;

  void kill(std::size_t which);  // and starts another one
  void freeze(std::size_t which);
  void thaw(std::size_t which);

  // Waits until all have ended by themselves. What they complained of; empty: nothing.
  std::string finish();

 private:
  std::unique_ptr<support::child_process> start();

  assignment what_;
  recorder& log_;
  std::string begins_;  // tells a worker to begin; empty: not yet
  std::vector<std::unique_ptr<support::child_process>> workers_;
};

}  // namespace holdfast::faults
