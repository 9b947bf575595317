#include "cli/text_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

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
  struct stat found {};
  const bool is_file = ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
  const bool is_anothers = found.st_uid != ::geteuid() && found.st_uid != 0;
  if (is_file && (is_anothers || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
    throw complaint{
        bad_configuration, name,
        is_anothers
            ? fmt::format("the {} '{}' belongs to another user", what, path)
            : fmt::format("the {} '{}' can be written by other users: chmod go-w it", what, path)};
  }
  return file;
}

void refuse_if_readable_by_all(const std::string& path, const char* name, const char* what) {
  struct stat found {};
  struct statvfs mounted {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return;
  if ((found.st_mode & S_IROTH) == 0 || found.st_uid != ::geteuid()) return;
  if (::statvfs(path.c_str(), &mounted) == 0 && (mounted.f_flag & ST_RDONLY) != 0) return;
  throw complaint{bad_configuration, name,
                  fmt::format("the {} '{}' can be read by every user of this machine: chmod 600 it",
                              what, path)};
}

}  // namespace holdfast::cli
