// The process between an embedded server and its owner, which ends the server when the owner is
// gone, however the owner went.
#pragma once

#include <sys/types.h>

namespace holdfast::embedded {

// The users of a shared server are known because they hold the FIFO `users` open for writing. The
// process that holds `lock` (flock) may start or end the server.
struct shared_use {
  const char* users;  // in the server's directory, as `lock` is
  const char* lock;
  int users_end;  // the FIFO's reading end
  int linger_ms;  // how long the server outlives its last user
};

// A supervisor's orders. All of it is prepared before the fork, because afterwards only
// async-signal-safe calls are allowed: the forked process may have had other threads.
struct assignment {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int directory;     // the names below are of files in it
  const char* path;  // of that directory: removed, where it is empty
  const char* socket;
  const char* log;
  int control;               // the supervisor's end of the line to the owner (SOCK_SEQPACKET)
  const shared_use* shared;  // null: the server and its directory end with the owner's end
};

// The supervisor's messages to the owner. The owner writes one byte: kill the server, start it
// anew.
struct report {
  enum class event : int { started, not_entered, not_started, ended };
  event what;
  int value;  // started: pid; not_entered (its directory), not_started: errno; ended: a wait status
};

// Forks the supervisor and returns its pid, -1 with errno when that fails. It is invisible to the
// owner's wait() and sends no SIGCHLD: wait for it with __WALL. The supervisor of a shared server
// is nobody's child (0 is returned), since it outlives its starter.
pid_t start_supervisor(const assignment& plan) noexcept;

}  // namespace holdfast::embedded
