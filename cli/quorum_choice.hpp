// The servers of a quorum, as the command line names them.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "cli/connection.hpp"

namespace holdfast::cli {

struct quorum_choice {
  std::vector<std::string> members{};  // their addresses; empty: one server

  bool given() const noexcept { return !members.empty(); }
  // Throws `failure` and `complaint` as connecting to one server does.
  std::vector<client> connect(const connection_options& how) const;
};

// --member URL, as often as there are members.
CLI::Option* add_members(CLI::App& command, quorum_choice& choice);

}  // namespace holdfast::cli
