// Files that people write for the program.
#pragma once

#include <fstream>
#include <string>

namespace holdfast::cli {

// Throws `complaint` when the file cannot be read; `name` is its in JSON, and `what` is the file's
// for people.
std::ifstream open_text(const std::string& path, const char* name, const char* what);

}  // namespace holdfast::cli
