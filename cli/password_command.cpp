#include "cli/password_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <holdfast/errc.hpp>

#include "cli/descriptor.hpp"
#include "cli/duration.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;
using command_clock = std::chrono::steady_clock;

constexpr std::size_t most_printed = 64UL * 1024;
constexpr int status_descriptor = 3;

// The shell around it writes how the command has ended: `run` reaps every child of this process, so
// nobody else here would learn that for certain.
constexpr const char* around = R"(/bin/sh -c "$1" 3>&-; echo $? >&3)";

std::runtime_error trouble(const std::string& what) {
  return std::runtime_error("the password command " + what);
}

void expect_success(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

struct one_way {
  descriptor reads;
  descriptor writes;
};

one_way make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) expect_success(errno, "pipe2");
  one_way made{descriptor(ends[0]), descriptor(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return made;
}

// What a child is started with. The masks of this thread are none of its business.
class spawning {
 public:
  spawning(int output, int status) {
    expect_success(::posix_spawn_file_actions_init(&files_), "posix_spawn");
    expect_success(::posix_spawnattr_init(&how_), "posix_spawn");
    ::posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, status, status_descriptor);
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    ::posix_spawnattr_setsigmask(&how_, &none);
    ::posix_spawnattr_setsigdefault(&how_, &usual);
    ::posix_spawnattr_setflags(
        &how_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~spawning() {
    ::posix_spawnattr_destroy(&how_);
    ::posix_spawn_file_actions_destroy(&files_);
  }
  spawning(const spawning&) = delete;
  spawning& operator=(const spawning&) = delete;

  pid_t start(const std::string& command) const {
    std::string shell = "/bin/sh", option = "-c", text = around, name = "sh", word = command;
    char* const words[] = {shell.data(), option.data(), text.data(),
                           name.data(),  word.data(),   nullptr};
    pid_t started = -1;
    expect_success(::posix_spawn(&started, shell.c_str(), &files_, &how_, words, environ),
                   "/bin/sh");
    return started;
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t how_{};
};

// The command while it runs; killed with this object.
class running {
 public:
  explicit running(const std::string& command) : output_(make_pipe()), status_(make_pipe()) {
    pid_ = spawning(output_.writes.get(), status_.writes.get()).start(command);
    output_.writes.reset();
    status_.writes.reset();
  }
  // Somebody else may have reaped it: then nobody waits here.
  ~running() {
    if (!has_ended_) ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;

  // False: it has not ended by then.
  bool ends_by(command_clock::time_point deadline) {
    while (read(status_.reads, ended_)) {
      if (!read(output_.reads, printed_)) output_.reads.reset();
      refuse_too_much();
      const auto left = std::chrono::ceil<milliseconds>(deadline - command_clock::now());
      if (left <= milliseconds{0}) return false;
      pollfd polled[] = {{status_.reads.get(), POLLIN, 0}, {output_.reads.get(), POLLIN, 0}};
      ::poll(polled, std::size(polled), static_cast<int>(left.count()));
    }
    read(output_.reads, printed_);
    refuse_too_much();
    has_ended_ = true;
    return true;
  }

  // Its exit status, as the shell has it; empty: somebody has killed that shell.
  std::string_view status() const {
    const std::string_view all = ended_;
    return all.substr(0, all.find('\n'));
  }
  std::string_view first_line() const {
    auto line = std::string_view(printed_).substr(0, printed_.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

 private:
  void refuse_too_much() const {
    if (printed_.size() > most_printed) throw trouble("prints more than 64 KiB: try another one");
  }
  // Reads what is there. False: nothing more will come.
  static bool read(const descriptor& from, std::string& into) {
    std::array<char, 4096> some{};
    for (;;) {
      const auto got = ::read(from.get(), some.data(), some.size());
      if (got > 0) into.append(some.data(), static_cast<std::size_t>(got));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return got < 0 && errno == EAGAIN;
      if (into.size() > most_printed) return true;
    }
  }

  one_way output_;
  one_way status_;
  pid_t pid_ = -1;
  bool has_ended_ = false;
  std::string printed_;
  std::string ended_;
};

}  // namespace

password_command::password_command(std::string command, milliseconds valid_for, milliseconds most)
    : command_(std::move(command)), valid_for_(valid_for), most_(most) {}

login password_command::run() const {
  running command(command_);
  if (!command.ends_by(command_clock::now() + most_)) {
    throw trouble("has not ended within " + show_duration(most_) +
                  ": see why, or give it more time by --connect-timeout");
  }
  const auto status = command.status();
  if (status.empty()) throw trouble("was killed");
  if (status != "0") throw trouble(fmt::format("failed with exit status {}", status));
  if (command.first_line().empty()) throw trouble("has printed no password in its first line");
  return {.password = std::string(command.first_line()), .valid_for = valid_for_};
}

void password_command::try_once() {
  const std::lock_guard lock(guard_);
  if (!std::exchange(was_tried_, true)) first_ = ask();
}

login password_command::ask() const {
  try {
    return run();
  } catch (const std::exception& why) {
    throw failure{errc::authentication, why.what()};
  }
}

std::function<login()> password_command::callback() {
  return [self = shared_from_this()] {
    {
      const std::lock_guard lock(self->guard_);
      if (self->first_) return *std::exchange(self->first_, std::nullopt);
    }
    return self->run();
  };
}

}  // namespace holdfast::cli
