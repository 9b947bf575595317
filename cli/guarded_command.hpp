// A command that runs under a lease.
#pragma once

#include <holdfast/lease.hpp>

#include "cli/command.hpp"
#include "cli/run_options.hpp"
#include "cli/run_setting.hpp"

namespace holdfast::cli {

// The options about the command as a process: its environment and the signals that it gets.
void add_process_options(CLI::App& command, run_options& options);

struct guarded_outcome {
  int exit_code;
  bool terminated = false;   // by us, since the lease was lost or about to be
  bool interrupted = false;  // somebody has sent us a signal that ends programs
};

// Runs the command of the options, ends it before the lease can end, and gives the lease back when
// it has ended by itself. A command that cannot be run is reported, and is an outcome.
guarded_outcome run_guarded(lease& held, const run_setting& setting);

}  // namespace holdfast::cli
