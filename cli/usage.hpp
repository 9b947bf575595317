// Messages about wrong arguments.
#pragma once

#include <memory>

#include "cli/command.hpp"

namespace holdfast::cli {

// Shows with each command the options of all commands, too.
std::shared_ptr<CLI::FormatterBase> make_help_formatter();

// Prints the help or version that was asked for, or says what is wrong, perhaps with a suggestion.
// Returns the exit code.
int report_usage(const CLI::App& program, const context& shared, const CLI::ParseError& error);

}  // namespace holdfast::cli
