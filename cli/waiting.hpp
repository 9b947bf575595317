// Waiting for the lock, until a signal ends it.
#pragma once

#include <functional>
#include <optional>

#include <holdfast/lock.hpp>

#include "cli/command.hpp"
#include "cli/run_setting.hpp"

namespace holdfast::cli {

struct wait_outcome {
  result<lease> held;
  // The signal that ended the waiting; a lease that still came is in `held`.
  std::optional<int> ended_by;
};

// Asks for a lease, as lock::try_acquire does.
using asking = std::function<result<lease>(const acquire_options&)>;

// --wait-for-server.
CLI::Option* add_wait_for_server(CLI::App& command, run_options& options);

// Says that this signal has ended the waiting, and returns the exit code.
int report_interruption(const context& shared, int signal);

// At a terminal it prints the holder after a second, or why that is not known. Throws `complaint`
// when this process would wait for itself.
wait_outcome wait_for(const asking& ask, const run_setting& setting);
wait_outcome wait_for(const lock& target, const run_setting& setting);

}  // namespace holdfast::cli
