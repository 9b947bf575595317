// The options of `holdfast run`.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/exit_code.hpp"

namespace holdfast::cli {

struct run_options {
  std::string name;  // of the lock, or of all
  std::vector<std::string> command;
  std::chrono::milliseconds wait{60'000};
  bool nonblock = false;
  bool waits_for_server = false;  // --wait-for-server
  int busy_exit_code = no_lock;   // --busy-exit-code
  std::chrono::milliseconds lease{30'000};
  std::chrono::milliseconds at_most_for{0};  // --at-most-for; 0: however long it takes
  bool warn_only = false;                    // --on-lost warn
  std::chrono::milliseconds grace{5'000};
  bool signals_command_only = false;  // --signal command
  bool passes_secrets = false;        // --pass-passwords
  std::string note;                   // --note
  std::string audit;                  // --audit
};

}  // namespace holdfast::cli
