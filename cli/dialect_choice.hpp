// In which library's way the locks are written.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include <holdfast/dialect.hpp>
#include <holdfast/inspector.hpp>

#include "cli/command.hpp"

namespace holdfast::cli {

// --dialect NAME; Holdfast's own where it is not given.
CLI::Option* add_dialect(CLI::App& command, dialect& how);

// As above, and --retry-interval DURATION.
void add_dialect_to_wait_for(CLI::App& command, dialect& how);

// Says whose lock the name may mean instead of one of Holdfast's, which nobody holds.
void tell_of_foreign(const inspector& look, const std::string& name, const context& shared);

}  // namespace holdfast::cli
