// A directory that only this user can enter, kept open.
#pragma once

#include <filesystem>
#include <utility>

#include "net/descriptor.hpp"

namespace holdfast::embedded {

// Whatever is done in it is done by its descriptor: somebody who can write to a directory above it
// can put another in its place, and would be obeyed by everything that looks up its path again.
class own_directory {
 public:
  own_directory(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}

  const std::filesystem::path& path() const noexcept { return path_; }
  int fd() const noexcept { return fd_.get(); }

  // A file in it, for what takes only a path. Holds in this process while this object lives.
  std::filesystem::path by_descriptor(const char* name) const;

 private:
  std::filesystem::path path_;
  net::descriptor fd_;
};

}  // namespace holdfast::embedded
