// A process of a run, and which locks its threads contend for.
#pragma once

#include <string>
#include <vector>

#include "faults/runs/ways.hpp"

namespace holdfast::faults {

// The locks of a run: one of each kind, with leases short enough for faults to outlast them.
const std::vector<contested>& contests();
milliseconds longest_lease();

// The name by which the server knows the workers' connections.
inline constexpr auto connection_name = "faults";

struct assignment {
  std::string server;     // URL
  std::string resources;  // socket
  std::string directory;  // for the history
  std::uint64_t seed = 0;
  tokens mode = tokens::checked;

  std::vector<std::string> to_arguments() const;
  static assignment from_arguments(const std::vector<std::string>& arguments);
};

// A worker prints this when it could begin.
inline constexpr auto worker_is_ready = "ready";

// Then it reads until when, in nanoseconds, faults may happen; after that every thread takes every
// lock once more.
void work(const assignment& what);

}  // namespace holdfast::faults
