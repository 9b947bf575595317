// The servers of a quorum as a file lists them, with passwords of their own where they have some.
#pragma once

#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "cli/connection.hpp"

namespace holdfast::cli {

// One URL a line; empty lines and those that begin with # are passed over. Whoever has a password
// in his URL is logged in to as it says, all others as `how` says. Throws `complaint` for what
// cannot be read, with the number of the line, and without what is in it.
std::vector<client> connect_to_listed(const std::string& path, const connection_options& how);

}  // namespace holdfast::cli
