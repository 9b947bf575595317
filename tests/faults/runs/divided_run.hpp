// A run on a network that is divided for a while, with contenders on both sides.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "faults/runs/contended_run.hpp"
#include "support/private_network.hpp"

namespace holdfast::faults {

// Contenders on one host, who share clients.
struct party {
  std::size_t host = 0;
  std::function<std::vector<contended>()> connect;  // on that host
};

class divided_run {
 public:
  // `server`: the program of what the locks protect, which both sides reach.
  divided_run(const support::private_network& network, const std::string& server);

  // `apart`: the hosts that are cut off from the others; `meanwhile` is done when they are. What is
  // `forgotten` by the servers then is promised to nobody: S1.
  void play(const std::vector<party>& parties, const std::vector<std::size_t>& apart,
            milliseconds divided, bool forgotten, const std::function<void()>& meanwhile);

  // What was broken of the promises, as text.
  std::string violations() const { return run_.violations(); }

  // How many acquisitions of the party that were asked for so long after the network was divided
  // succeeded before it was healed.
  std::size_t won(std::size_t party, milliseconds after) const;

 private:
  void divide(const std::vector<std::size_t>& apart, milliseconds divided, bool forgotten,
              const std::function<void()>& meanwhile);

  const support::private_network& network_;
  contended_run run_;
  history::interval divided_;
};

}  // namespace holdfast::faults
