// Files that people write for the program.
#pragma once

#include <string>

namespace holdfast::cli {

// How much of a file the program reads. A password stands in the first line, and whatever follows
// is not read.
enum class extent { first_line, all };

// Throws `complaint` when the file cannot be read, is too long, or other users can write it, and
// when it is a pipe into which nobody writes. `name` is the complaint's name in JSON, and `what`
// the file's for people.
std::string read_text(const std::string& path, const char* name, const char* what, extent);

// For files with passwords. Throws `complaint` when every user of this machine can read it, and
// that can be mended: not where it is another's, or mounted as it is.
void refuse_if_readable_by_all(const std::string& path, const char* name, const char* what);

}  // namespace holdfast::cli
