// Removing a directory with everything in it.
#pragma once

namespace holdfast::embedded {

// Follows no links. What cannot be removed stays, and so does what lies deeper than 8 levels.
// Async-signal-safe: the supervisor calls it in a process forked from a threaded one.
void remove_tree(const char* directory) noexcept;
// The same of what is in an open directory.
void remove_contents(int directory) noexcept;

}  // namespace holdfast::embedded
