// The worker processes of one sale.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/demo/story.hpp"

namespace holdfast::cli::demo {

// Copies of this program that buy. What still runs is killed with its owner.
class crew {
 public:
  crew(const sale& all, scenario what, const std::string& prefix);
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  void look();  // notices who has ended or stopped; never blocks
  bool working() const;
  bool succeeded() const { return succeeded_; }

  pid_t frozen() const { return frozen_; }  // zero: nobody
  void thaw();

 private:
  std::vector<pid_t> pids_;  // zero: has ended
  pid_t frozen_ = 0;
  bool succeeded_ = true;
};

}  // namespace holdfast::cli::demo
