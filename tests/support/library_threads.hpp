// The threads of the library in this process, also those of clients that are still being closed.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "support/eventually.hpp"

namespace holdfast::support {

inline std::size_t library_threads() {
  std::size_t ours = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream{each.path() / "comm"} >> name;
    if (name.starts_with("holdfast-")) ++ours;
  }
  return ours;
}

// Clients that are closed on a thread of their own ask their servers until then.
[[nodiscard]] inline bool library_threads_end(milliseconds bound = generous) {
  return eventually([] { return library_threads() == 0; }, bound);
}

}  // namespace holdfast::support
