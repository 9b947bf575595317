// A command that runs under a lease.
#pragma once

#include <holdfast/lease.hpp>

#include "cli/command.hpp"
#include "cli/run_options.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

// The option about what the environment of the command has.
void add_passwords_option(CLI::App& command, run_options& options);

struct guarded_outcome {
  int exit_code;
  bool terminated = false;   // by us, since the lease was lost or about to be
  bool interrupted = false;  // somebody has sent us a signal that ends programs
};

// Runs the command of the options, ends it before the lease can end, and gives the lease back when
// it has ended by itself. A command that cannot be run is reported, and is an outcome.
guarded_outcome run_guarded(lease& held, const run_options& options, const context& shared,
                            signal_watch& signals);

}  // namespace holdfast::cli
