// The command that runs under the lock.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

// Reaps children that have ended and that nobody waits for: of an earlier command, or orphans of
// others when this is the first process of a container. Only while no command runs.
void reap_orphans() noexcept;

// A running command in a process group of its own. It gets SIGTERM when this program dies.
class child_process {
 public:
  struct plan {
    std::vector<std::string> words;        // program (looked up in PATH) and arguments
    std::vector<std::string> environment;  // "NAME=value", beside and before what we have
    sigset_t signal_mask;
    bool takes_terminal;
    bool passes_secrets = false;  // also the passwords that the environment has for us
  };

  // Throws `std::system_error` with what execve(2) said when it cannot be executed.
  explicit child_process(const plan& what);

  enum class change { none, ended, stopped };
  // What happened to the command since the last look; never blocks. Reaps orphans of the command,
  // whose parent this process is.
  change look();

  pid_t group() const noexcept { return pid_; }
  bool ended() const noexcept { return status_.has_value(); }
  // Also if no look has seen it yet.
  bool has_exited() const noexcept;
  bool group_lives() const noexcept;
  // False when all that is left of the group belongs to other users, whom we may not signal.
  bool signal_group(int signal) const noexcept;

  // To the command, and not to what it has started; to nobody when it has ended.
  void signal_alone(int signal) const noexcept;

  int exit_code() const noexcept;                 // 128 + n when signal n killed it
  std::optional<int> killed_by() const noexcept;  // the signal
  int stopped_by() const noexcept { return stopped_by_; }

 private:
  pid_t pid_ = 0;
  std::optional<int> status_;
  int stopped_by_ = 0;
};

}  // namespace holdfast::cli
