// After a failover: the old master stays as a replica, with clients that have not noticed, and its
// name may lead others there.
#include <utility>

#include "simulation/client.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

// How far it is behind its new master.
constexpr nanoseconds longest_lag = 100ms;
// A client that is asked nothing asks what its server is.
constexpr nanoseconds unnoticed = 3s;

}  // namespace

// Some runs have several failovers, besides those of all.
std::uint64_t world::draw_successions() {
  return scenario_.succeeds || other_dice_.chance(10) ? 1 + other_dice_.up_to(3) : 0;
}

bool world::leaves_a_replica() { return now_ < faults_end_ && other_dice_.chance(80); }

void world::leave_behind(keyspace copy) {
  count(fault::replica_left);
  server_.be_succeeded(std::move(copy));
  for (const auto& one : clients_) {
    if (one->connection() < 0 || !other_dice_.chance(60)) continue;
    one->wire().stay_at_replica();
    at(std::min(faults_end_, now_ + other_dice_.time_up_to(unnoticed)),
       [who = one.get(), over = one->connection()] {
         if (who->connection() == over) who->break_connection();
       });
  }
  at(now_ + other_dice_.time_up_to(longest_lag), [this] { let_replica_catch_up(); });
  at(faults_end_, [this] { drop_replica(); });
}

std::pair<int, bool> world::connect_by_name() {
  if (!server_.has_replica() || !other_dice_.chance(30)) return {connect(), false};
  return {server_.connect_to_replica(), true};
}

void world::let_replica_catch_up() {
  if (!server_.has_replica()) return;
  for (auto& [connection, push] : server_.let_replica_catch_up()) {
    for (const auto& one : clients_) {
      if (one->connection() != connection) continue;
      count(fault::repeated);
      one->wire().deliver_push(std::move(push));
    }
  }
  at(now_ + other_dice_.time_up_to(longest_lag), [this] { let_replica_catch_up(); });
}

// First: whoever is told comes back at once.
void world::drop_replica() {
  server_.drop_replica();
  for (const auto& one : clients_) {
    if (one->wire().is_at_replica()) one->break_connection();
  }
}

}  // namespace holdfast::simulation
