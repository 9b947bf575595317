// A directory that only this user can enter, kept open.
#pragma once

#include <filesystem>
#include <utility>

#include "net/descriptor.hpp"

namespace holdfast::embedded {

// All work in the directory goes through its descriptor. A user who can write to a directory above
// it can put another one in its place. Code that looked up the path again would then use that one.
class own_directory {
 public:
  own_directory(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}

  const std::filesystem::path& path() const noexcept { return path_; }
  int fd() const noexcept { return fd_.get(); }

  // A file in it, for functions that take only a path. Holds in this process while this object
  // lives.
  std::filesystem::path by_descriptor(const char* name) const;

 private:
  std::filesystem::path path_;
  net::descriptor fd_;
};

}  // namespace holdfast::embedded
