#include "cli/demo/crew.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <system_error>

namespace holdfast::cli::demo {
namespace {

pid_t start(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ);
  if (error != 0) throw std::system_error(error, std::generic_category(), "starting a worker");
  return pid;
}

}  // namespace

crew::crew(const sale& all, scenario what, const std::string& prefix) {
  for (int i = 0; i < all.processes; ++i) {
    pids_.push_back(start({"holdfast", "demo-worker", "--prefix", prefix, "--scenario",
                           std::to_string(static_cast<int>(what)), "--number", std::to_string(i),
                           "--processes", std::to_string(all.processes), "--threads",
                           std::to_string(all.threads), "--units", std::to_string(all.units)}));
  }
}

crew::~crew() {
  for (const auto pid : pids_) {
    if (pid == 0) continue;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

void crew::look() {
  for (auto& pid : pids_) {
    int status = 0;
    if (pid == 0 || ::waitpid(pid, &status, WNOHANG | WUNTRACED) != pid) continue;
    if (WIFSTOPPED(status)) {
      frozen_ = pid;
      continue;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) succeeded_ = false;
    pid = 0;
  }
}

bool crew::working() const {
  return std::ranges::any_of(pids_, [](pid_t pid) { return pid != 0; });
}

void crew::thaw() {
  if (frozen_ != 0) ::kill(frozen_, SIGCONT);
  frozen_ = 0;
}

}  // namespace holdfast::cli::demo
