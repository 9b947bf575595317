// Waiting for the lock, until a signal ends it.
#pragma once

#include <optional>

#include <holdfast/lock.hpp>

#include "cli/command.hpp"
#include "cli/run_options.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

struct wait_outcome {
  result<lease> held;
  std::optional<int> ended_by;  // the signal that ended the waiting; then nothing is held
};

// Says that this signal has ended the waiting, and returns the exit code.
int report_interruption(const context& shared, int signal);

wait_outcome wait_for(const lock& target, const run_options& options, signal_watch& signals);

}  // namespace holdfast::cli
