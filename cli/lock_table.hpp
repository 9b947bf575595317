// Locks as a table for people.
#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast::cli {

std::string lock_table(const std::vector<lock_status>& locks);

// Who waits for it.
std::string queue_table(const lock_status& lock);

}  // namespace holdfast::cli
