#include "cli/terminal.hpp"

#include <unistd.h>

namespace holdfast::cli {
namespace {

// False also when standard input is no terminal.
bool in_foreground() { return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

}  // namespace

bool terminal::wanted_at_start() const noexcept {
  return in_foreground() && ::isatty(STDOUT_FILENO) != 0;
}

void terminal::give(pid_t group) noexcept {
  // A new command takes it itself, perhaps before we come here.
  const pid_t in_front = ::tcgetpgrp(STDIN_FILENO);
  given_ = in_front == group || (in_front == ::getpgrp() && ::tcsetpgrp(STDIN_FILENO, group) == 0);
}

void terminal::take_back() noexcept {
  if (given_) ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
  given_ = false;
}

}  // namespace holdfast::cli
