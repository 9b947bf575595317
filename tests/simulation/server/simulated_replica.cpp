// A master that has become a replica, while clients are still connected to it.
#include <utility>

#include "simulation/server/answers.hpp"
#include "simulation/server/script_engine.hpp"
#include "simulation/server/simulated_server.hpp"

namespace holdfast::simulation {

void simulated_server::be_succeeded(keyspace copy) {
  keys_ = std::move(copy);
  told_.clear();
  replica_ = replica{keys_};
  for (auto& [connection, who] : clients_) who.is_at_replica = true;
}

int simulated_server::connect_to_replica() {
  const int made = connect();
  clients_.at(made).is_at_replica = true;
  return made;
}

// Over the replication stream, from which a script may withhold it. In a cluster each node is sent
// it by another way, whatever the script says.
void simulated_server::repeat(const std::string& name, const value& push) {
  if (!is_in_cluster_ && !is_sent_to_replicas()) return;
  for (const auto& [connection, who] : clients_) {
    if (who.is_at_replica && who.channels.contains(name)) {
      replica_->repeats.emplace_back(connection, push);
    }
  }
}

std::vector<std::pair<int, value>> simulated_server::let_replica_catch_up() {
  replica_->keys = keys_;
  return std::exchange(replica_->repeats, {});
}

void simulated_server::drop_replica() {
  replica_.reset();
  std::erase_if(clients_, [](const auto& one) { return one.second.is_at_replica; });
}

}  // namespace holdfast::simulation
