// One run: workers, one fault again and again, healing, and the check of what was told.
#pragma once

#include <cstdint>
#include <string>

#include "faults/runs/strikes.hpp"

namespace holdfast::faults {

struct plan {
  const fault& what;
  std::string server;     // program
  std::string directory;  // for the history; there is nothing in it yet
  milliseconds time{};    // of the faults; healing takes a second or two more
  std::uint64_t seed = 0;
};

struct findings {
  std::size_t acquisitions = 0;
  std::size_t changes = 0;  // of a mode, that were made
  std::size_t losses = 0;
  std::size_t refused_writes = 0;
  std::size_t strikes = 0;  // that hit somebody
  std::string violations;   // text; empty: none
  std::size_t count = 0;    // of them
};

findings run(const plan& what);

}  // namespace holdfast::faults
