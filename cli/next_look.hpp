// Waiting for the next look of a command that looks again and again.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>

#include "cli/bell.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

// The signal that ended the pause, which the bell ends as well, if there is one; SIGPIPE also when
// nobody is left to read the next line, which might be long in coming.
inline std::optional<int> wait_for_next_look(std::chrono::milliseconds time, signal_watch& signals,
                                             const bell* rung = nullptr) {
  pollfd polled[] = {{signals.fd(), POLLIN, 0},
                     {STDOUT_FILENO, 0, 0},
                     {rung != nullptr ? rung->fd() : -1, POLLIN, 0}};
  ::poll(polled, 3, static_cast<int>(time.count()));
  if ((polled[1].revents & (POLLERR | POLLHUP)) != 0) return SIGPIPE;
  return signals.next_that_ends();
}

}  // namespace holdfast::cli
