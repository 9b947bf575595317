// The terminal that the program was started from.
#pragma once

#include <sys/types.h>

namespace holdfast::cli {

// Gives the terminal to the command's process group, so that Ctrl-C and Ctrl-Z reach it and it may
// read, and takes it back. Does nothing when standard input is no terminal or we are in the
// background. SIGTTOU must be blocked.
class terminal {
 public:
  // Whether to give it right at the start: not in a pipeline, where a pager may need it.
  bool wanted_at_start() const noexcept;

  void give(pid_t group) noexcept;
  void take_back() noexcept;
  bool given() const noexcept { return given_; }

 private:
  bool given_ = false;
};

}  // namespace holdfast::cli
