#include "faults/runs/crew.hpp"

#include <csignal>
#include <stdexcept>
#include <utility>

#include "support/forked.hpp"

namespace holdfast::faults {

namespace {
constexpr std::size_t processes = 4;
constexpr milliseconds longest_end{60'000};

}  // namespace

crew::crew(assignment what, recorder& log) : what_(std::move(what)), log_(log) {
  for (std::size_t i = 0; i < processes; ++i) workers_.push_back(start());
  for (const auto& one : workers_) {
    if (!one->wait_for_output(worker_is_ready)) throw std::runtime_error("a worker does not start");
  }
}

void crew::begin(history::nanoseconds until) {
  begins_ = std::to_string(until.count()) + "\n";
  for (const auto& one : workers_) one->write(begins_);
}

std::unique_ptr<support::child_process> crew::start() {
  ++what_.seed;
  return std::make_unique<support::child_process>(
      support::program_call{.program = "/proc/self/exe", .arguments = what_.to_arguments()});
}

std::optional<std::size_t> crew::find(std::int64_t pid) const {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i]->pid() == pid) return i;
  }
  return std::nullopt;
}

void crew::kill(std::size_t which) {
  auto& one = workers_.at(which);
  const auto pid = one->pid();
  one->signal(SIGKILL);
  one->wait();
  log_.record({.what = history::kind::killed, .process = pid});
  one = start();
  one->write(begins_);
}

void crew::freeze(std::size_t which) {
  const auto& one = workers_.at(which);
  const auto before = time_now();
  support::freeze(one->pid());
  log_.record(
      {.time = before, .what = history::kind::frozen, .process = one->pid(), .until = time_now()});
}

void crew::thaw(std::size_t which) {
  const auto& one = workers_.at(which);
  const auto before = time_now();
  one->signal(SIGCONT);
  log_.record({.time = before, .what = history::kind::thawed, .process = one->pid()});
}

std::string crew::finish() {
  std::string complaints;
  for (const auto& one : workers_) {
    const auto how = one->wait(longest_end);
    if (how != support::ending{}) {
      complaints += "worker " + std::to_string(one->pid()) + " ended with " +
                    std::to_string(how.exit_code) + "/" + std::to_string(how.signal) + " ";
    }
    complaints += one->errors();
  }
  return complaints;
}

}  // namespace holdfast::faults
