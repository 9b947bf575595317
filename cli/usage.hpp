// What is said about wrong arguments.
#pragma once

#include "cli/command.hpp"

namespace holdfast::cli {

// Prints the help or version that was asked for, or says what is wrong, perhaps with a suggestion.
// Returns the exit code.
int report_usage(const CLI::App& program, const context& shared, const CLI::ParseError& error);

}  // namespace holdfast::cli
