#include "cli/text_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "cli/complaint.hpp"

namespace holdfast::cli {

std::ifstream open_text(const std::string& path, const char* name, const char* what) {
  std::ifstream file(path);
  if (!file) {
    throw complaint{bad_configuration, name,
                    fmt::format("the {} '{}' cannot be read: {}", what, path,
                                std::generic_category().message(errno))};
  }
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    throw complaint{bad_configuration, name, fmt::format("the {} '{}' is a directory", what, path)};
  }
  return file;
}

}  // namespace holdfast::cli
