#include "embedded/remove_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstring>

namespace holdfast::embedded {
namespace {

bool remove_at(int parent, const char* name, int levels) noexcept;

bool is_self_or_parent(const char* name) noexcept {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

// Removes what one read of the folder lists. False when there is nothing left to try.
bool remove_some(int folder, int levels) noexcept {
  alignas(dirent64) char buffer[2048];
  ::lseek(folder, 0, SEEK_SET);
  const ssize_t size = ::getdents64(folder, reinterpret_cast<dirent64*>(buffer), sizeof buffer);
  bool removed = false;
  for (ssize_t at = 0; at < size;) {
    const auto& entry = *reinterpret_cast<const dirent64*>(buffer + at);
    at += entry.d_reclen;
    if (is_self_or_parent(entry.d_name)) continue;
    const bool gone = ::unlinkat(folder, entry.d_name, 0) == 0;
    if (gone || remove_at(folder, entry.d_name, levels)) removed = true;
  }
  return removed;
}

bool remove_at(int parent, const char* name, int levels) noexcept {
  if (levels == 0) return false;
  const int folder = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return false;
  while (remove_some(folder, levels - 1)) {
  }
  ::close(folder);
  return ::unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

}  // namespace

void remove_tree(const char* directory) noexcept { remove_at(AT_FDCWD, directory, 8); }

void remove_contents(int directory) noexcept {
  while (remove_some(directory, 7)) {
  }
}

}  // namespace holdfast::embedded
