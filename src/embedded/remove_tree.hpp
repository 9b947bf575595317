// Removing a directory with everything in it.
#pragma once

namespace holdfast::embedded {

// Follows no links. Files that cannot be removed stay, and so do those deeper than 8 levels.
// Async-signal-safe: the supervisor calls it in a process forked from a threaded one.
void remove_tree(const char* directory) noexcept;
// As above, for the contents of an open directory.
void remove_contents(int directory) noexcept;

}  // namespace holdfast::embedded
