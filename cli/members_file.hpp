// The servers of a quorum as a file lists them, with passwords of their own where they have some.
#pragma once

#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "cli/connection.hpp"

namespace holdfast::cli {

// One URL a line; empty lines and those that begin with # are passed over. A URL with a password
// says how to log in there; `how` says it for all others. Throws `complaint` for a line that cannot
// be read, with its number and without its text.
std::vector<client> connect_to_listed(const std::string& path, const connection_options& how);

}  // namespace holdfast::cli
