// Locks as a table for people.
#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast::cli {

std::string lock_table(const std::vector<lock_status>& locks);

// Who holds it, if several can, and who waits for it; empty when nobody does.
std::string lock_details(const lock_status& lock);

}  // namespace holdfast::cli
