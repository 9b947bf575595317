// The worker processes of one sale.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/demo/story.hpp"

namespace holdfast::cli::demo {

// Copies of this program that buy. What still runs is killed with its owner, or with this process.
class crew {
 public:
  // `signal_mask`: what the workers run with.
  crew(const sale& all, scenario what, const std::string& id, const sigset_t& signal_mask);
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  void look();  // notices who has ended or stopped; never blocks
  bool working() const;
  bool succeeded() const { return succeeded_; }

  std::size_t frozen() const { return frozen_.size(); }
  void thaw_first();  // who has been frozen for the longest time
  void thaw_all();

 private:
  std::vector<pid_t> pids_;    // zero: has ended
  std::vector<pid_t> frozen_;  // in this order
  bool succeeded_ = true;
};

}  // namespace holdfast::cli::demo
