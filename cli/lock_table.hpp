// Locks as a table for people.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast::cli {

// "mutex", "semaphore 2/3", "latch 3": the rest to be counted down, "barrier 1/3": one party of
// three is there.
std::string show_kind(const lock_status& lock);
void add_who(const holder& who, std::vector<std::string>& cells);  // host, process id, program
std::string show_remaining(std::optional<std::chrono::milliseconds> time);
std::string lock_table(const std::vector<lock_status>& locks);
// As above, and their libraries.
std::string dialect_table(const std::vector<lock_status>& locks);

// The holders, if several can hold it, and the waiters; empty when there are none.
std::string lock_details(const lock_status& lock);

}  // namespace holdfast::cli
