// One process of the demo: many threads that share one client.
#pragma once

#include <functional>

#include "cli/command.hpp"

namespace holdfast::cli::demo {

// The hidden subcommand `demo-worker`, which the demo runs as processes of its own.
void add_worker(CLI::App& program, context& shared);

// Does the work of 0, 1, ... in a thread each; reports the first failure. Returns the exit code.
int run_threads(int threads, const context& shared, const std::function<void(int)>& work);

}  // namespace holdfast::cli::demo
