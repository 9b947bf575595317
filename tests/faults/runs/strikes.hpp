// The faults, each by its name.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "faults/runs/crew.hpp"
#include "support/fault_proxy.hpp"
#include "support/history/checker.hpp"
#include "support/private_server.hpp"

namespace holdfast::faults {

// The targets of strikes.
struct scene {
  support::private_server& server;
  support::fault_proxy& network;  // between the workers and the server
  crew& workers;
  recorder& log;
  std::mt19937_64& random;
  std::size_t missed = 0;  // strikes that hit nobody

  std::size_t any(std::size_t below) { return random() % below; }
};

// What the run has to show.
enum class expectation {
  all_promises,
  lost_writes,  // the positive control: nothing checks the tokens, so writes must be lost
};

struct fault {
  std::string name;
  void (*strike)(scene&);    // once; called again and again
  history::bounds within{};  // how long things may take meanwhile
  bool through_proxy = false;
  bool leaves_queue = false;  // entries of the dead, or without what belongs to them
  expectation expected = expectation::all_promises;
};

const std::vector<fault>& faults();

}  // namespace holdfast::faults
