#include "embedded/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>

#include "embedded/remove_tree.hpp"
#include "embedded/supervised_server.hpp"

namespace holdfast::embedded {
namespace {

// A fork whose end nobody is told of: exit signal 0. The plain system call, because at-fork
// handlers belong to the owner's program, not to the supervisor.
pid_t fork_unseen() noexcept { return static_cast<pid_t>(::syscall(SYS_clone, 0, 0, 0, 0, 0)); }

void close_between(int first, int last) noexcept {
  if (first > last) return;
  const auto from = static_cast<unsigned>(first);
  // The plain system call: musl has no function for it.
  if (::syscall(SYS_close_range, from, static_cast<unsigned>(last), 0) == 0) return;
  rlimit limit{};  // before Linux 5.9
  ::getrlimit(RLIMIT_NOFILE, &limit);
  for (int fd = first; fd <= last && static_cast<rlim_t>(fd) < limit.rlim_cur; ++fd) ::close(fd);
}

// The owner's descriptors would otherwise stay open as long as the server: sockets, pipes that
// another process reads to their end, locked files.
void close_all_but(int one, int other, int third) noexcept {
  int kept[] = {one, other, third};
  std::sort(std::begin(kept), std::end(kept));
  int first = STDERR_FILENO + 1;
  for (const int fd : kept) {
    close_between(first, fd - 1);
    first = fd + 1;
  }
  close_between(first, 0x7fffffff);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
  if (nothing > STDERR_FILENO) ::close(nothing);
}

// No signals (all were blocked before the fork), no terminal, no directory kept busy.
void stand_alone() noexcept {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  ::setsid();
  ::prctl(PR_SET_NAME, "holdfast-warden");
  if (::chdir("/") != 0) return;  // then a directory is kept busy
}

void serve_owner(supervised_server& server, const assignment& plan) noexcept {
  for (;;) {
    server.wait(plan.control, POLLIN, -1);
    server.has_ended();
    char restart = 0;
    const auto got = ::recv(plan.control, &restart, 1, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return;
    if (got < 0) continue;
    server.kill();
    server.start();
  }
}

// Tells "nobody" from "somebody, but silent" at the FIFO's reading end.
bool has_users(int users_end) noexcept {
  char ignored = 0;
  return ::read(users_end, &ignored, 1) != 0;
}

// Away from 0, 1 and 2, which an owner may have closed.
int moved_away(int fd) noexcept { return ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); }

// An end opened anew reports POLLHUP only after somebody has come and all are gone again.
bool reopen(int& users_end, int directory, const char* users) noexcept {
  const int renewed = ::openat(directory, users, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (renewed < 0) return false;
  ::close(users_end);
  users_end = renewed;
  return true;
}

// A user that joins takes the lock: while we hold it, no user can come unseen. True when there are
// no users; then the lock is kept until this process ends.
bool lock_out_newcomers(int users_end, int directory, const char* lock) noexcept {
  const int fd = ::openat(directory, lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && !has_users(users_end)) return true;
  ::close(fd);
  return false;
}

// Returns when the server has been without users for the linger time and no other can come, or
// when it cannot be kept alive.
void serve_users(supervised_server& server, const assignment& plan, int users_end) noexcept {
  const shared_use& shared = *plan.shared;
  for (;;) {
    const bool used = has_users(users_end);
    if (!used && !reopen(users_end, plan.directory, shared.users)) return;
    const bool event = server.wait(users_end, 0, used ? -1 : shared.linger_ms);
    if (server.has_ended()) {
      if (!used || server.is_short_lived()) return;
      server.start();
    }
    const bool idle = !used && !event;
    if (idle && lock_out_newcomers(users_end, plan.directory, shared.lock)) return;
  }
}

[[noreturn]] void supervise(assignment plan) noexcept {
  stand_alone();
  plan.control = moved_away(plan.control);
  plan.directory = moved_away(plan.directory);
  const int users_end = plan.shared != nullptr ? moved_away(plan.shared->users_end) : plan.control;
  close_all_but(plan.control, users_end, plan.directory);
  const int log = ::openat(plan.directory, plan.log,
                           O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  supervised_server server(plan, log);
  server.start();
  if (plan.shared != nullptr) {
    serve_users(server, plan, users_end);
  } else {
    serve_owner(server, plan);
  }
  server.kill();
  ::unlinkat(plan.directory, plan.socket, 0);
  if (plan.shared == nullptr) {
    remove_contents(plan.directory);
    ::rmdir(plan.path);
  }
  ::_exit(0);
}

}  // namespace

pid_t start_supervisor(const assignment& plan) noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t supervisor = fork_unseen();
  if (supervisor == 0) {
    if (plan.shared == nullptr || fork_unseen() == 0) supervise(plan);
    ::_exit(0);
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (supervisor > 0 && plan.shared != nullptr) {
    while (::waitpid(supervisor, nullptr, __WALL) < 0 && errno == EINTR) {
    }
    supervisor = 0;
  }
  errno = error;
  return supervisor;
}

}  // namespace holdfast::embedded
