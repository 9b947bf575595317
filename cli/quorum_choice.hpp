// The servers of a quorum, as the command line names them.
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>
#include <string>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/quorum.hpp>

#include "cli/connection.hpp"

namespace holdfast::cli {

struct quorum_choice {
  std::vector<std::string> members{};  // their addresses; empty: one server
  std::chrono::milliseconds longest_lease = quorum_options{}.longest_lease;

  bool given() const noexcept { return !members.empty(); }
  // Its members are where the servers are, so that nobody is advised to say that by --url.
  void replace_url(connection_options& url) const noexcept { url.url_given |= given(); }
  // Throws `failure` and `complaint` as connecting to one server does.
  std::vector<client> connect(const connection_options& how) const;
};

// --member URL, as often as there are members.
CLI::Option* add_members(CLI::App& command, quorum_choice& choice);

// --longest-lease DURATION, of a quorum that `members` names.
void add_longest_lease(CLI::App& command, CLI::Option* members, quorum_choice& choice);

}  // namespace holdfast::cli
