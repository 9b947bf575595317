// How far a search through the keys of a server is, shown on a terminal.
#pragma once

#include <chrono>
#include <cstddef>

#include "cli/command.hpp"

namespace holdfast::cli {

// One line on standard error that is written over, and wiped at the end. Nothing is written with
// --json, where standard error is no terminal, or before a search has taken half a second.
class scan_progress {
 public:
  explicit scan_progress(const context& shared);
  ~scan_progress();
  scan_progress(const scan_progress&) = delete;
  scan_progress& operator=(const scan_progress&) = delete;

  void show(std::size_t scanned, std::size_t keys);

 private:
  using clock = std::chrono::steady_clock;

  const bool is_wanted_;
  clock::time_point next_;
  bool is_shown_ = false;
};

}  // namespace holdfast::cli
