#include "cli/signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "cli/exit_code.hpp"

namespace holdfast::cli {
namespace {

constexpr std::array ending = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
constexpr std::array others = {SIGWINCH, SIGTSTP, SIGCONT, SIGCHLD};

bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

sigset_t watched() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : ending) {
    if (!is_ignored(signal)) ::sigaddset(&set, signal);
  }
  for (const int signal : others) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

signal_watch::signal_watch() {
  // Our parent may ignore SIGCHLD, and then nobody could ask how the command ended.
  std::signal(SIGCHLD, SIG_DFL);
  const sigset_t set = watched();
  sigset_t blocked = set;
  ::sigaddset(&blocked, SIGTTOU);  // so that we may take the terminal back from the background
  ::sigaddset(&blocked, SIGPIPE);  // a closed standard error must not end the guard
  ::sigprocmask(SIG_BLOCK, &blocked, &before_);
  fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (fd_.get() < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

std::optional<int> signal_watch::next() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

std::optional<int> signal_watch::next_that_ends(void (*on_child)()) {
  while (const auto signal = next()) {
    if (signal == SIGTSTP) ::kill(::getpid(), SIGSTOP);
    if (signal == SIGCHLD && on_child != nullptr) on_child();
    if (ends_programs(*signal)) return signal;
  }
  return std::nullopt;
}

ends_at_once::ends_at_once() {
  sigset_t heard;
  ::sigemptyset(&heard);
  ::sigaddset(&heard, SIGTSTP);
  for (const int signal : ending) {
    if (is_ignored(signal)) continue;
    std::signal(signal, [](int number) { ::_exit(killed_by_signal + number); });
    ::sigaddset(&heard, signal);
  }
  ::pthread_sigmask(SIG_UNBLOCK, &heard, &before_);
}

ends_at_once::~ends_at_once() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  for (const int signal : ending) {
    if (!is_ignored(signal)) std::signal(signal, SIG_DFL);
  }
}

bool ends_programs(int signal) noexcept {
  return std::ranges::find(ending, signal) != ending.end();
}

bool asks_to_end(int signal) noexcept {
  return signal == SIGINT || signal == SIGTERM || signal == SIGQUIT;
}

}  // namespace holdfast::cli
