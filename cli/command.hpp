// Shared by the commands. Each command is a function add_<command>(CLI::App&, context&) in a file
// of its own, which declares its options and hands its work to context::action.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

#include "cli/connection.hpp"
#include "cli/exit_code.hpp"

namespace holdfast::cli {

struct context {
  connection_options connection;  // complete when the action runs
  bool json = false;
  std::vector<std::string> operands;  // the words after "--", byte for byte
  bool takes_operands = false;        // the chosen command reads them

  // The chosen command's work: set while parsing, run afterwards, returns the exit code. Its
  // exceptions are reported: a `failure` with its own exit code.
  std::function<int()> action;
};

}  // namespace holdfast::cli
