#include "cli/demo/crew.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace holdfast::cli::demo {
namespace {

void expect_success(int error) {
  if (error != 0) throw std::system_error(error, std::generic_category(), "starting a worker");
}

// Workers start in a group of their own, so that keys typed in the terminal reach only us.
class attributes {
 public:
  explicit attributes(const sigset_t& signal_mask) {
    expect_success(::posix_spawnattr_init(&raw_));
    ::posix_spawnattr_setflags(&raw_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setsigmask(&raw_, &signal_mask);
  }
  ~attributes() { ::posix_spawnattr_destroy(&raw_); }
  attributes(const attributes&) = delete;
  attributes& operator=(const attributes&) = delete;
  const posix_spawnattr_t* get() const { return &raw_; }

 private:
  posix_spawnattr_t raw_{};
};

pid_t start(std::vector<std::string> words, const attributes& how) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  expect_success(
      ::posix_spawn(&pid, "/proc/self/exe", nullptr, how.get(), arguments.data(), environ));
  return pid;
}

void kill_and_wait(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

crew::crew(int processes, const std::vector<std::string>& words, const sigset_t& signal_mask) {
  const attributes how(signal_mask);
  try {
    for (int i = 0; i < processes; ++i) {
      std::vector<std::string> all = {"holdfast", "demo-worker",
                                      "--parent", std::to_string(::getpid()),
                                      "--number", std::to_string(i)};
      all.insert(all.end(), words.begin(), words.end());
      pids_.push_back(start(std::move(all), how));
    }
  } catch (const std::system_error&) {
    std::ranges::for_each(pids_, kill_and_wait);
    throw;
  }
}

crew::~crew() {
  for (const auto pid : pids_) {
    if (pid != 0) kill_and_wait(pid);
  }
}

void crew::look() {
  for (auto& pid : pids_) {
    int status = 0;
    if (pid == 0 || ::waitpid(pid, &status, WNOHANG | WUNTRACED) != pid) continue;
    if (WIFSTOPPED(status)) {
      frozen_.push_back(pid);
      continue;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) succeeded_ = false;
    std::erase(frozen_, pid);
    pid = 0;
  }
}

bool crew::working() const {
  return std::ranges::any_of(pids_, [](pid_t pid) { return pid != 0; });
}

void crew::thaw_first() {
  if (frozen_.empty()) return;
  ::kill(frozen_.front(), SIGCONT);
  frozen_.erase(frozen_.begin());
}

void crew::thaw_all() {
  while (!frozen_.empty()) thaw_first();
}

}  // namespace holdfast::cli::demo
