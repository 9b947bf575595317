// One process of the demo: many buyers, who share one client.
#pragma once

#include "cli/command.hpp"

namespace holdfast::cli::demo {

// The hidden subcommand `demo-worker`, which the demo runs as processes of its own.
void add_worker(CLI::App& program, context& shared);

}  // namespace holdfast::cli::demo
