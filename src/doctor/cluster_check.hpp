// The masters of a cluster and its slots: masters that do not answer, and slots that are half
// moved.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "doctor/deployment.hpp"
#include "doctor/replica_check.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::doctor {

struct cluster_master {
  redis_locks::cluster::share has;
  std::string silent{};  // why it does not answer; empty: it does
};

// Asks each whether it is there.
std::vector<cluster_master> ask_masters(runtime::client_core&);

// Adds the masters whose slots are not available, and whether a master that dies can be replaced.
void examine_masters(const std::vector<cluster_master>&, std::vector<finding>& into);

// Adds whether one node, of so many masters, serves its slots while others have no master.
void examine_coverage(const asking&, std::size_t masters, std::vector<finding>& into);

// One node and its replicas, as the node itself tells them in CLUSTER NODES.
struct node_view {
  bool is_refused = false;             // its user may not ask
  std::vector<std::string> leaving{};  // slots that are half moved
  std::vector<std::string> arriving{};
  std::vector<known_replica> replicas{};
};
node_view look_from_node(const asking&);

// Adds which slots are half moved, or that this is not known.
void examine_moves(const node_view&, std::vector<finding>& into);

}  // namespace holdfast::doctor
