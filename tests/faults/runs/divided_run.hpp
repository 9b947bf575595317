// A run on a network that is divided for a while, with contenders on both sides.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "faults/runs/contended_run.hpp"

namespace holdfast::faults {

// How the network is divided, and how it is healed.
struct division {
  std::function<void()> begin, end;
};

class divided_run {
 public:
  // `server`: the program of what the locks protect, which both sides reach.
  explicit divided_run(const std::string& server) : run_(server) {}

  // The parties have clients of their own, each on its side; `meanwhile` is done when they are
  // apart. What is `forgotten` by the servers then is promised to nobody: S1.
  void play(const std::vector<std::vector<contended>>& parties, const division& how,
            milliseconds divided, bool forgotten, const std::function<void()>& meanwhile);

  // What was broken of the promises, as text.
  std::string violations() const { return run_.violations(); }

  // How many acquisitions of the party that were asked for so long after the network was divided
  // succeeded before it was healed.
  std::size_t won(std::size_t party, milliseconds after) const;

 private:
  void divide(const division& how, milliseconds divided, bool forgotten,
              const std::function<void()>& meanwhile);

  contended_run run_;
  history::interval divided_;
};

}  // namespace holdfast::faults
