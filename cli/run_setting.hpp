// The settings of a command's run, from the waiting for its lock to the release.
#pragma once

#include <functional>

#include <holdfast/lease.hpp>
#include <holdfast/once_per.hpp>

#include "cli/command.hpp"
#include "cli/lock_view.hpp"
#include "cli/run_options.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

// Gives a lease back when its command has ended, or was never begun.
using giving_back = std::function<result<void>(lease&, run_end)>;

inline result<void> release(lease& held, run_end) {
  return held.held() ? held.release() : result<void>{errc::lost};
}

struct run_setting {
  const run_options& options;
  const context& shared;
  const lock_view& view;
  signal_watch& signals;
  giving_back give_back = release;
  // Called before the command is started. From then on nothing changes the lease until it is given
  // back.
  std::function<void(const lease&)> begins = [](const lease&) {};
};

}  // namespace holdfast::cli
