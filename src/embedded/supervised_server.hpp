// The server as its supervisor sees it.
#pragma once

#include <poll.h>

#include "base/time.hpp"
#include "embedded/supervisor.hpp"

namespace holdfast::embedded {

// Lives in the supervisor only: everything here is async-signal-safe.
class supervised_server {
 public:
  supervised_server(const assignment& plan, int log) noexcept;

  void start() noexcept;

  // At once: it has nothing to save, and asking it politely takes it a tenth of a second.
  void kill() noexcept;

  // Waits for `events` of the descriptor or the server's end; -1: for ever. True: one of them came.
  bool wait(int fd, short events, int timeout_ms) noexcept;

  // True once when the server has ended by itself; tells the owner.
  bool has_ended() noexcept;

  bool is_short_lived() const noexcept;  // ended too soon after its start to be tried again

 private:
  [[noreturn]] void become_server(pid_t supervisor) const noexcept;
  bool reap(int options, int& status) noexcept;
  void tell(report::event what, int value) const noexcept;

  const assignment& plan_;
  int log_;
  int children_;  // signalfd: readable when the server has ended
  pid_t pid_ = 0;
  monotonic_time started_{};
};

}  // namespace holdfast::embedded
