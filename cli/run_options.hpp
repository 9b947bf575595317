// What `holdfast run` was asked to do.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::cli {

struct run_options {
  std::string name;  // of the lock, or of all
  std::vector<std::string> command;
  std::chrono::milliseconds wait{60'000};
  bool nonblock = false;
  std::chrono::milliseconds lease{30'000};
  bool warn_only = false;  // --on-lost warn
  std::chrono::milliseconds grace{5'000};
  bool passes_secrets = false;  // --pass-passwords
};

}  // namespace holdfast::cli
