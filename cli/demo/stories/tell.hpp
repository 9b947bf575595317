// One story from beginning to end: its two runs, and what the books say.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "cli/demo/stories/tale.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli::demo {

struct crowd {
  int processes;
  int threads;  // of each
};

// Prints the books of both runs, and returns the exit code: 1 unless the run without a lock went
// wrong and the other was exact. Leaves no key and no process. Throws `interrupted`.
int tell(const plot& of, const connection_options& server, const crowd& all, const std::string& id,
         signal_watch& signals, const context& shared);

// A process of a run. Returns the exit code.
int take_part(const plot& of, const context& shared, const std::string& id, const crowd& all,
              int number, bool locked);

}  // namespace holdfast::cli::demo
