#include "embedded/supervised_server.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "net/clock.hpp"

namespace holdfast::embedded {
namespace {

int watch_children() noexcept {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  return ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

supervised_server::supervised_server(const assignment& plan, int log) noexcept
    : plan_(plan), log_(log), children_(watch_children()) {}

void supervised_server::start() noexcept {
  ::unlinkat(plan_.directory, plan_.socket, 0);  // of a server that crashed
  const pid_t supervisor = ::getpid();
  started_ = net::now();
  // Not fork(): at-fork handlers belong to the owner's program.
  pid_ = ::_Fork();
  if (pid_ == 0) become_server(supervisor);
  if (pid_ > 0) tell(report::event::started, pid_);
  if (pid_ < 0) tell(report::event::not_started, errno);
}

void supervised_server::become_server(pid_t supervisor) const noexcept {
  // The supervisor has one thread, so this fires exactly when it is killed itself.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);
  ::dup2(log_, STDOUT_FILENO);
  ::dup2(log_, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // One that was removed can still be entered by its descriptor.
  struct stat entered {};
  const bool is_gone = ::fstat(plan_.directory, &entered) == 0 && entered.st_nlink == 0;
  if (is_gone) errno = ENOENT;
  if (is_gone || ::fchdir(plan_.directory) != 0) {
    tell(report::event::not_entered, errno);
    ::_exit(127);
  }
  ::execve(plan_.program, plan_.arguments, plan_.environment);
  tell(report::event::not_started, errno);
  ::_exit(127);
}

void supervised_server::kill() noexcept {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  reap(0, status);
}

bool supervised_server::wait(int fd, short events, int timeout_ms) noexcept {
  pollfd polled[2] = {{fd, events, 0}, {children_, POLLIN, 0}};
  if (::poll(polled, 2, timeout_ms) <= 0) return false;
  signalfd_siginfo drained;
  while (::read(children_, &drained, sizeof drained) > 0) {
  }
  return true;
}

bool supervised_server::has_ended() noexcept {
  int status = 0;
  if (pid_ <= 0 || !reap(WNOHANG, status)) return false;
  tell(report::event::ended, status);
  return true;
}

bool supervised_server::is_short_lived() const noexcept {
  return net::now() - started_ < std::chrono::seconds{1};
}

bool supervised_server::reap(int options, int& status) noexcept {
  if (::waitpid(pid_, &status, options) == 0) return false;
  pid_ = 0;
  return true;
}

void supervised_server::tell(report::event what, int value) const noexcept {
  const report message{what, value};
  ::send(plan_.control, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace holdfast::embedded
