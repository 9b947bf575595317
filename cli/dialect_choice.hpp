// In which library's way the locks are written.
#pragma once

#include <CLI/CLI.hpp>

#include <holdfast/dialect.hpp>

namespace holdfast::cli {

// --dialect NAME; Holdfast's own where it is not given.
CLI::Option* add_dialect(CLI::App& command, dialect& how);

// The same, and --retry-interval DURATION.
void add_dialect_to_wait_for(CLI::App& command, dialect& how);

}  // namespace holdfast::cli
