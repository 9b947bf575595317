#include "cli/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/connection.hpp"
#include "cli/descriptor.hpp"
#include "cli/exit_code.hpp"

namespace holdfast::cli {
namespace {

// A command that runs under a lock has no business with the server that keeps it.
bool is_secret(std::string_view variable) {
  constexpr std::string_view url = "HOLDFAST_URL=";
  return variable.starts_with("HOLDFAST_PASSWORD=") ||
         variable.starts_with("HOLDFAST_PASSWORD_COMMAND=") ||
         variable.starts_with("HOLDFAST_SENTINEL_PASSWORD=") ||
         (variable.starts_with(url) && has_password(variable.substr(url.size())));
}

std::vector<std::string> merged_environment(const std::vector<std::string>& ours,
                                            bool passes_secrets) {
  std::vector<std::string> all = ours;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (!passes_secrets && is_secret(text)) continue;
    const auto name = text.substr(0, text.find('=') + 1);
    if (std::ranges::none_of(ours, [&](const auto& own) { return own.starts_with(name); })) {
      all.emplace_back(text);
    }
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// systemd names the process for which sockets or a watchdog are meant. If that is this process, it
// means the command, which takes them only when its own number stands there. That number is known
// in the child alone, and it may not allocate: so there is room for it.
constexpr std::size_t digits = 20;

std::vector<char*> make_room_for_pid(std::vector<std::string>& environment) {
  const auto ours = std::to_string(::getpid());
  // It names the same process by another number, so it would contradict the new one.
  if (std::ranges::find(environment, "LISTEN_PID=" + ours) != environment.end()) {
    std::erase_if(environment, [](const auto& one) { return one.starts_with("LISTEN_PIDFDID="); });
  }
  std::vector<char*> places;
  for (const std::string name : {"LISTEN_PID=", "WATCHDOG_PID="}) {
    const auto found = std::ranges::find(environment, name + ours);
    if (found == environment.end()) continue;
    *found = name + std::string(digits, '\0');
    places.push_back(found->data() + name.size());
  }
  return places;
}

struct prepared {
  char* const* words;
  char* const* environment;
  const sigset_t* signal_mask;
  bool takes_terminal;
  pid_t parent;
  int complaints;
  const std::vector<char*>& pid_places;
};

// Between fork and exec only calls that are safe in a child of many threads.
[[noreturn]] void become(const prepared& command) {
  ::setpgid(0, 0);
  if (command.takes_terminal) ::tcsetpgrp(STDIN_FILENO, ::getpid());
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != command.parent) ::_exit(killed_by_signal + SIGTERM);  // died before prctl
  for (char* const place : command.pid_places) std::to_chars(place, place + digits, ::getpid());
  ::sigprocmask(SIG_SETMASK, command.signal_mask, nullptr);
  ::execvpe(command.words[0], command.words, command.environment);
  const int reason = errno;
  if (::write(command.complaints, &reason, sizeof reason) < 0) ::_exit(internal);
  ::_exit(command_not_found);
}

[[noreturn]] void fail(int reason, const std::string& what) {
  throw std::system_error(reason, std::generic_category(), what);
}

}  // namespace

void reap_orphans() noexcept {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

child_process::child_process(const plan& what) {
  auto words = what.words;
  auto environment = merged_environment(what.environment, what.passes_secrets);
  const auto pid_places = make_room_for_pid(environment);
  const auto word_pointers = pointers(words);
  const auto environment_pointers = pointers(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(errno, "pipe2");
  const descriptor hearing(ends[0]);
  descriptor complaints(ends[1]);
  const prepared command{word_pointers.data(),
                         environment_pointers.data(),
                         &what.signal_mask,
                         what.takes_terminal,
                         ::getpid(),
                         complaints.get(),
                         pid_places};
  // Some containers have a first process that never or only slowly looks after orphans.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_ = ::fork();
  if (pid_ < 0) fail(errno, "fork");
  if (pid_ == 0) become(command);
  ::setpgid(pid_, pid_);  // here too, so that the group is there before we signal it
  complaints.reset();
  int reason = 0;
  if (::read(hearing.get(), &reason, sizeof reason) == sizeof reason) {
    ::waitpid(pid_, nullptr, 0);
    fail(reason, what.words.front());
  }
}

child_process::change child_process::look() {
  auto seen = change::none;
  int status = 0;
  pid_t one = 0;
  while ((one = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    // An orphan of the command: it need only be reaped, or it would stay a zombie.
    if (one != pid_ || ended()) continue;
    if (WIFSTOPPED(status)) {
      stopped_by_ = WSTOPSIG(status);
      seen = change::stopped;
    } else {
      status_ = status;
      seen = change::ended;
    }
  }
  return seen;
}

bool child_process::has_exited() const noexcept {
  siginfo_t seen{};
  return ended() ||
         (::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          seen.si_pid == pid_);
}

// A process that has ended still counts until its parent has reaped it; orphans are ours to reap.
bool child_process::group_lives() const noexcept {
  while (ended() && ::waitpid(-pid_, nullptr, WNOHANG) > 0) {
  }
  return ::kill(-pid_, 0) == 0;
}

bool child_process::signal_group(int signal) const noexcept {
  return ::kill(-pid_, signal) == 0 || errno != EPERM;
}

void child_process::signal_alone(int signal) const noexcept {
  if (!ended()) ::kill(pid_, signal);
}

int child_process::exit_code() const noexcept {
  const int status = status_.value_or(0);
  return WIFSIGNALED(status) ? killed_by_signal + WTERMSIG(status) : WEXITSTATUS(status);
}

std::optional<int> child_process::killed_by() const noexcept {
  if (!status_ || !WIFSIGNALED(*status_)) return std::nullopt;
  return WTERMSIG(*status_);
}

}  // namespace holdfast::cli
