// The worker processes of one run.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

namespace holdfast::cli::demo {

// Copies of this program. Those that still run are killed with their owner, or with this process.
class crew {
 public:
  // Each runs `demo-worker` with these words, a number of its own and this signal mask.
  crew(int processes, const std::vector<std::string>& words, const sigset_t& signal_mask);
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  void look();  // notices workers that have ended or stopped; never blocks
  bool working() const;
  bool succeeded() const { return succeeded_; }

  std::size_t frozen() const { return frozen_.size(); }
  void thaw_first();  // the worker that has been frozen for the longest time
  void thaw_all();

 private:
  std::vector<pid_t> pids_;    // zero: has ended
  std::vector<pid_t> frozen_;  // in this order
  bool succeeded_ = true;
};

}  // namespace holdfast::cli::demo
