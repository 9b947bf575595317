#include "support/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ostream>
#include <stdexcept>
#include <system_error>

#include "net/clock.hpp"
#include "net/socket.hpp"

namespace holdfast::support {
namespace {

[[noreturn]] void give_up(const std::string& what, int error) {
  throw std::runtime_error(what + ": " + std::generic_category().message(error));
}

struct pipe_ends {
  net::descriptor read;
  net::descriptor write;

  pipe_ends() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) give_up("pipe2", errno);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
};

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

std::vector<std::string> environment_for(const std::vector<std::string>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const bool changed = std::any_of(changes.begin(), changes.end(), [&](const auto& change) {
      return name_of(change) == name_of(*entry);
    });
    if (!changed) result.emplace_back(*entry);
  }
  for (const auto& change : changes) {
    if (change.find('=') != std::string::npos) result.push_back(change);
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (auto& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// Runs in the child before the program starts.
class preparation {
 public:
  preparation() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~preparation() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  preparation(const preparation&) = delete;
  preparation& operator=(const preparation&) = delete;

  void connect(const net::descriptor& from, int to) {
    ::posix_spawn_file_actions_adddup2(&actions_, from.get(), to);
  }
  void work_in(const std::string& directory) {
    if (!directory.empty()) ::posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
  }

  pid_t spawn(const program_call& call) {
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (call.own_group) flags |= POSIX_SPAWN_SETPGROUP;
    ::posix_spawnattr_setflags(&attributes_, flags);
    auto words = call.arguments;
    words.insert(words.begin(), call.program);
    auto variables = environment_for(call.environment);
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, call.program.c_str(), &actions_, &attributes_,
                                     pointers(words).data(), pointers(variables).data());
    if (error != 0) give_up("cannot run " + call.program, error);
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

child_process::child_process(const program_call& call) : own_group_(call.own_group) {
  ::signal(SIGPIPE, SIG_IGN);  // a child that does not read must not end the test
  pipe_ends input;
  pipe_ends output;
  pipe_ends errors;
  preparation prepared;
  prepared.connect(input.read, STDIN_FILENO);
  prepared.connect(output.write, STDOUT_FILENO);
  prepared.connect(errors.write, STDERR_FILENO);
  prepared.work_in(call.directory);
  pid_ = prepared.spawn(call);
  input_.reset(input.write.release());
  output_.end.reset(output.read.release());
  errors_.end.reset(errors.read.release());
}

child_process::~child_process() {
  if (own_group_) ::kill(-pid_, SIGKILL);
  if (ended_) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void child_process::signal(int number) const {
  if (!ended_) ::kill(pid_, number);
}

void child_process::signal_group(int number) const {
  if (!own_group_) throw std::logic_error("the child has no group of its own");
  ::kill(-pid_, number);
}

void child_process::write(std::string_view input) {
  const auto deadline = net::now() + generous;
  while (!input.empty()) {
    // The child may have to be relieved of its output before it reads on.
    const auto soon = std::min(deadline, net::now() + milliseconds{5});
    if (!net::wait_ready(input_.get(), POLLOUT, {soon, {}, nullptr})) {
      if (soon == deadline) give_up("writing to the child", ETIMEDOUT);
      pump(net::now());
      continue;
    }
    // Not more than a pipe takes at once when it is ready for writing.
    const auto size = std::min<std::size_t>(input.size(), 4096);
    const auto written = ::write(input_.get(), input.data(), size);
    if (written < 0 && errno == EPIPE) return;
    if (written < 0) give_up("writing to the child", errno);
    input.remove_prefix(static_cast<std::size_t>(written));
  }
}

ending child_process::wait(milliseconds bound) {
  const auto deadline = net::now() + bound;
  int status = 0;
  while (!ended_) {
    const auto found = ::waitpid(pid_, &status, WNOHANG);
    if (found == pid_) {
      ended_ = true;
      how_ = WIFSIGNALED(status) ? ending{-1, WTERMSIG(status)} : ending{WEXITSTATUS(status), 0};
    } else if (net::now() >= deadline) {
      throw std::runtime_error("the child does not end; so far it wrote:\n" + output() + errors());
    } else {
      pump(std::min(deadline, net::now() + milliseconds{5}));
    }
  }
  // The rest of the output in the pipes. A grandchild may still hold them open: that is not waited
  // for.
  while (pump(net::now() + milliseconds{1})) {
  }
  return how_;
}

bool child_process::wait_for_output(std::string_view text, milliseconds bound) {
  return wait_for(output_, text, bound);
}

bool child_process::wait_for_errors(std::string_view text, milliseconds bound) {
  return wait_for(errors_, text, bound);
}

bool child_process::wait_for(const stream& where, std::string_view text, milliseconds bound) {
  const auto deadline = net::now() + bound;
  while (where.text.find(text) == std::string::npos) {
    if (!where.end || (!pump(deadline) && net::now() >= deadline)) return false;
  }
  return true;
}

bool child_process::pump(monotonic_time deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - net::now()).count();
  pollfd ends[2] = {{output_.end.get(), POLLIN, 0}, {errors_.end.get(), POLLIN, 0}};
  const int ready = ::poll(ends, 2, left > 0 ? static_cast<int>(left) : 0);
  if (ready <= 0) return false;
  if (ends[0].revents != 0) receive(output_);
  if (ends[1].revents != 0) receive(errors_);
  return true;
}

void child_process::receive(stream& from) {
  char buffer[16 * 1024];
  const auto got = ::read(from.end.get(), buffer, sizeof buffer);
  if (got > 0) {
    from.text.append(buffer, static_cast<std::size_t>(got));
  } else {
    from.end.reset();
  }
}

finished run(const program_call& call, std::string_view input, milliseconds bound) {
  child_process child(call);
  child.write(input);
  child.close_input();
  const auto how = child.wait(bound);
  return {how, child.output(), child.errors()};
}

std::ostream& operator<<(std::ostream& out, const ending& how) {
  if (how.signal != 0) return out << "killed by signal " << how.signal;
  return out << "exit code " << how.exit_code;
}

}  // namespace holdfast::support
