// The ways in which contenders take a lock of each kind.
#pragma once

#include <string>
#include <vector>

#include "faults/runs/contender.hpp"

namespace holdfast::faults {

// How a worker hears of its turn.
struct clients {
  client told;   // by messages
  client polls;  // by asking
};

struct contested {
  std::string name;
  mutex_options options;
  std::vector<access> (*ways)(const clients&, const contested&);
};

std::vector<access> by_mutex(const clients&, const contested&);
// Beside those that poll waits one that is notified.
std::vector<access> by_polling(const clients&, const contested&);
// Three readers for each writer.
std::vector<access> by_readers(const clients&, const contested&);
// Readers, upgradeable ones and writers, and changes between these.
std::vector<access> by_roles(const clients&, const contested&);
// All six modes, and changes from each to each.
std::vector<access> by_modes(const clients&, const contested&);
std::vector<access> by_permits(const clients&, const contested&);

}  // namespace holdfast::faults
