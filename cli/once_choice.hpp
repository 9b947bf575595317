// How often the command may run, on whichever machine asks first.
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>

#include <holdfast/client.hpp>
#include <holdfast/once_per.hpp>

#include "cli/exit_code.hpp"
#include "cli/lock_choice.hpp"

namespace holdfast::cli {

struct once_choice {
  once_per_options rule{};
  int has_run_exit_code = has_run;

  bool given() const { return rule.interval.count() > 0 || rule.at_least_for.count() > 0; }
};

// --once-per INTERVAL[@OFFSET], --at-least-for DURATION, --run-again WHEN and --has-run-exit-code.
void add_once_choice(CLI::App& command, once_choice& choice);

// Refuses --run-again and --has-run-exit-code without a job, and kinds of locks that no job can
// use. Throws `CLI::ParseError`.
void check_once_choice(const CLI::App& command, const once_choice& choice, const lock_choice& lock);

// Throws `failure` as `client::once_per` does.
once_per make_job(const client& redis, const once_choice& choice, const lock_choice& lock,
                  std::chrono::milliseconds lease);

}  // namespace holdfast::cli
