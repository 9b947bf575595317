// The program's commands and options, as its help lists them.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include "cli/program.hpp"

namespace holdfast::cli_tests {

// The first words of the lines "  word ..." between this heading and the next empty line.
inline words entries(const std::string& help, const std::string& heading) {
  std::istringstream lines(help);
  std::string line;
  while (std::getline(lines, line) && line != heading) {
  }
  words found;
  while (std::getline(lines, line) && !line.empty()) {
    if (line.starts_with("  ") && line[2] != ' ') {
      found.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return found;
}

inline std::string help_of(const std::string& command) {
  return holdfast(command.empty() ? words{"--help"} : words{command, "--help"}).output;
}

inline words commands() { return entries(help_of(""), "Subcommands:"); }

// "--wait", without "-h,--help" and the like: those are common.
inline words options_of(const std::string& command) {
  auto all = entries(help_of(command), "Options:");
  std::erase_if(all, [](const std::string& option) { return !option.starts_with("--"); });
  return all;
}

}  // namespace holdfast::cli_tests
