#include "support/forked.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

#include "net/socket.hpp"

namespace holdfast::support {

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
  std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(status, text);
  // "pid (name) state ...", and the name may contain anything.
  const auto name_end = text.rfind(") ");
  return name_end == std::string::npos || text[name_end + 2] == 'Z' || text[name_end + 2] == 'X';
}

}  // namespace holdfast::support
