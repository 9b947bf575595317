// The servers of a quorum, as the command line names them.
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/quorum.hpp>

#include "cli/connection.hpp"

namespace holdfast::cli {

struct quorum_choice {
  // One of the two names them; none: one server. A file is named also by an empty name, as a
  // variable without a value gives it: a user that wants a quorum must not get a lock of one
  // server.
  std::vector<std::string> members{};  // their addresses
  std::optional<std::string> members_file{};
  std::chrono::milliseconds longest_lease = quorum_options{}.longest_lease;
  bool longest_lease_given = false;

  bool given() const noexcept { return !members.empty() || members_file; }
  // Its members are where the servers are, so that nobody is advised to say that by --url.
  void replace_url(connection_options& url) const noexcept { url.url_given |= given(); }
  // Throws `failure` and `complaint` as connecting to one server does.
  std::vector<client> connect(const connection_options& how) const;
};

// --member URL, as often as there are members, or --members-file FILE.
void add_members(CLI::App& command, quorum_choice& choice);

// --longest-lease DURATION.
void add_longest_lease(CLI::App& command, quorum_choice& choice);

// Throws what CLI11 throws for a --longest-lease of no quorum.
void check_longest_lease(const quorum_choice& choice);

}  // namespace holdfast::cli
