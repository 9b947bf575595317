// A process of a run: threads that take locks, change what they protect, and tell all of it.
#pragma once

#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "faults/runs/recorder.hpp"
#include "faults/runs/resource.hpp"

namespace holdfast::faults {

// A way to have a lock.
struct access {
  lock target;
  // Of it, as in history::event. Who has the whole changes what the lock protects, others read it.
  std::uint32_t part = 0;
  std::uint32_t whole = 0;
};

struct contested {
  std::string name;
  lock_options options;
  std::vector<access> (*ways)(const client&, const contested&);
};

// The locks of a run: one of each kind, with leases short enough for faults to outlast them.
const std::vector<contested>& contests();
milliseconds longest_lease();

// What a call to the server may take at most before it counts as unanswered.
inline constexpr milliseconds patience{500};

struct assignment {
  std::string server;     // URL
  std::string resources;  // socket
  std::string directory;  // for the history
  std::uint64_t seed = 0;
  history::nanoseconds until{};  // faults may happen; then every thread takes every lock once more
  tokens mode = tokens::checked;

  std::vector<std::string> to_arguments() const;
  static assignment from_arguments(const std::vector<std::string>& arguments);
};

void work(const assignment& what);

}  // namespace holdfast::faults
