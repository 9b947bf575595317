#include "support/forked.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "net/socket.hpp"

namespace holdfast::support {
namespace {

// The work of this process's other threads so far: how often each was switched away from. None when
// one of them is running.
std::optional<std::string> work_of_other_threads() {
  std::string work;
  const auto self = std::to_string(::gettid());
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == self) continue;
    work += thread.path().filename().string();
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("State:\tR")) return std::nullopt;
      if (line.find("ctxt_switches") != std::string::npos) work += line;
    }
  }
  return work;
}

// Of a process or a thread; X when there is none (any more).
char state_of(const std::filesystem::path& which) {
  std::ifstream status(which / "stat");
  std::string text;
  std::getline(status, text);
  // "pid (name) state ...", and the name may contain anything.
  const auto name_end = text.rfind(") ");
  return name_end == std::string::npos ? 'X' : text[name_end + 2];
}

// Returns when no other thread has run for 10 ms, or after 2 s when they never rest.
void let_other_threads_rest() {
  const auto deadline = net::now() + milliseconds{2'000};
  while (net::now() < deadline) {
    const auto before = work_of_other_threads();
    ::poll(nullptr, 0, 10);
    if (before && before == work_of_other_threads()) return;
  }
}

}  // namespace

void forked::teller::tell(const std::string& line) const {
  const auto bytes = line + "\n";
  if (::write(fd_, bytes.data(), bytes.size()) < 0) ::_exit(1);
}

void forked::teller::sleep_until_killed() const {
  for (;;) ::pause();
}

forked::forked(const std::function<void(const teller&)>& body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  if (!allocator_survives_fork) let_other_threads_rest();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    int status = 0;
    try {
      body(teller(ends[1]));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "forked process: %s\n", error.what());
      status = 1;
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  ear_.reset(ends[0]);
}

forked::~forked() { kill9(); }

std::string forked::heard() {
  const auto deadline = net::now() + generous;
  for (;;) {
    if (const auto end = received_.find('\n'); end != std::string::npos) {
      auto line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    char buffer[4096];
    const bool ready = net::wait_ready(ear_.get(), POLLIN, {deadline, {}, nullptr});
    const auto got = ready ? ::read(ear_.get(), buffer, sizeof buffer) : 0;
    if (got <= 0) throw std::runtime_error("the forked process says nothing");
    received_.append(buffer, static_cast<std::size_t>(got));
  }
}

void forked::signal(int number) const {
  if (status_ < 0) ::kill(pid_, number);
}

void forked::freeze() const { support::freeze(pid_); }

void forked::kill9() {
  signal(SIGKILL);
  wait();
}

int forked::wait() {
  int status = 0;
  if (status_ >= 0) return status_;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return status_;
}

bool is_gone(pid_t pid) {
  const char state = state_of("/proc/" + std::to_string(pid));
  return state == 'Z' || state == 'X';
}

void freeze(pid_t pid) {
  ::kill(pid, SIGSTOP);
  const bool stopped = eventually([threads = "/proc/" + std::to_string(pid) + "/task"] {
    std::error_code is_over;
    for (const auto& thread : std::filesystem::directory_iterator(threads, is_over)) {
      if (std::string_view{"TtZX"}.find(state_of(thread.path())) == std::string_view::npos) {
        return false;
      }
    }
    return true;
  });
  if (!stopped) throw std::runtime_error("a process does not stop");
}

}  // namespace holdfast::support
