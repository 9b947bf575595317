// Which clients wait for which.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast::cli {

struct waits_graph {
  struct edge {
    std::string from;  // the id of the client that waits
    std::string to;    // of the one that holds
    std::string lock;
    bool any_holder_will_do = false;  // of several that hold a semaphore
  };
  std::vector<holder> nodes{};  // each client once, in the order of their ids
  std::vector<edge> edges{};
  // Clients that wait for each other in a ring: ids, sorted. A client with several threads may end
  // a ring by another of its threads, so a ring is a suspicion.
  std::vector<std::vector<std::string>> cycles{};
  bool complete = true;  // false: there are more edges
};

// From the holders and waiters of these locks. A client that waits for a lock of its own has no
// edge: another of its threads has the lock. The edges of rings come first, and no ring is missing
// since there are too many other edges. Time: about linear in the holders, waiters and edges.
waits_graph make_waits_graph(const std::vector<lock_status>& locks, std::size_t most_edges = 1000);

}  // namespace holdfast::cli
