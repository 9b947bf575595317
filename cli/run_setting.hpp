// The settings of a command's run, from the waiting for its lock to the release.
#pragma once

#include "cli/command.hpp"
#include "cli/lock_view.hpp"
#include "cli/run_options.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

struct run_setting {
  const run_options& options;
  const context& shared;
  const lock_view& view;
  signal_watch& signals;
};

}  // namespace holdfast::cli
