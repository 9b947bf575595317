// Which lock a command is to run under.
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "cli/connection.hpp"
#include "cli/quorum_choice.hpp"

namespace holdfast::cli {

struct lock_choice {
  enum class kind { mutex, fair, shared, exclusive, permits, all_of };
  kind of = kind::mutex;
  std::vector<std::string> names{};  // one, but of all_of
  std::uint32_t wanted = 0;          // permits
  std::uint32_t permits = 0;         // how many there are
  dialect how{};
  quorum_choice quorum{};

  std::string label() const;  // the names with commas between them
};

// Options that exclude each other, and fill everything but a single name.
void add_lock_choice(CLI::App& command, lock_choice& choice);

// Takes the name that stood on the command line: one, unless --all-of has named the locks. Refuses
// what cannot be over a quorum. Throws `CLI::ParseError`.
void take_names(lock_choice& choice, const std::vector<std::string>& names);

// The servers that keep it: one, or the members of a quorum. Throws `failure` and `complaint` as
// connecting does.
std::vector<client> connect_to_servers(const connection_options& how, const lock_choice& choice);

// Throws `failure` as `holdfast::client`, `quorum` and `all_of` do.
lock make_lock(const std::vector<client>& servers, const lock_choice& choice,
               std::chrono::milliseconds lease);

}  // namespace holdfast::cli
