// Files that people write for the program.
#pragma once

#include <fstream>
#include <string>

namespace holdfast::cli {

// Throws `complaint` when the file cannot be read, or other users can write it; `name` is its in
// JSON, and `what` is the file's for people.
std::ifstream open_text(const std::string& path, const char* name, const char* what);

// For files with passwords. Throws `complaint` when every user of this machine can read it, and
// that can be mended: not where it is another's, or mounted as it is.
void refuse_if_readable_by_all(const std::string& path, const char* name, const char* what);

}  // namespace holdfast::cli
