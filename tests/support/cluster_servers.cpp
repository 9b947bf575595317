#include "support/cluster_servers.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "support/eventually.hpp"
#include "support/listener.hpp"

namespace holdfast::support {
namespace {

constexpr std::size_t slots = 16384;

resp::value asked_of(const private_server& node, const std::vector<std::string>& words) {
  auto answer = node.command(words);
  if (answer.is(resp::type::error)) throw std::runtime_error(words.at(0) + ": " + answer.text);
  return answer;
}

void await(const char* what, bool arrived) {
  if (!arrived) throw std::runtime_error(std::string("the cluster is not ready: ") + what);
}

bool says(const private_server& node, const std::vector<std::string>& words,
          const std::string& line) {
  return asked_of(node, words).text.find(line) != std::string::npos;
}

std::int64_t epoch_of(const private_server& node) {
  return number_behind("cluster_current_epoch:", asked_of(node, {"CLUSTER", "INFO"}).text);
}

}  // namespace

cluster_servers::cluster_servers(const cluster_settings& settings)
    : tls_(settings.tls.has_value()), network_(settings.network) {
  const auto count = settings.masters + settings.replicas + settings.spare;
  std::vector<std::uint16_t> bus_ports(count);
  std::ranges::generate(bus_ports, free_port);
  for (std::size_t i = 0; i < count; ++i) {
    const server_settings node{
        .program = settings.program,
        .tcp = true,
        .address = host(i),
        .tls = settings.tls,
        .arguments = {"--cluster-enabled", "yes", "--cluster-node-timeout", "1000",
                      "--cluster-port", std::to_string(bus_ports[i]), "--repl-diskless-sync-delay",
                      "0", "--cluster-replica-validity-factor", "0",
                      "--cluster-allow-replica-migration", "no", "--tls-cluster",
                      tls_ ? "yes" : "no", "--tls-replication", tls_ ? "yes" : "no"}};
    nodes_.push_back(network_ == nullptr ? private_server{node}
                                         : network_->at(i, [&] { return private_server{node}; }));
    asked_of(nodes_[i], {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  }
  share_slots(settings.masters);
  make_known(bus_ports);
  for (std::size_t i = 0; i < settings.replicas; ++i) {
    const auto& replica = nodes_[settings.masters + i];
    asked_of(replica, {"CLUSTER", "REPLICATE", id(i)});
    await("a replica", eventually([&] {
            return says(replica, {"INFO", "replication"}, "master_link_status:up");
          }));
  }
  for (std::size_t i = 0; i < count; ++i) await("a node", eventually([&] { return is_fine(i); }));
}

void cluster_servers::share_slots(std::size_t masters) const {
  for (std::size_t i = 0; i < masters; ++i) {
    asked_of(nodes_[i], {"CLUSTER", "ADDSLOTSRANGE", std::to_string(slots * i / masters),
                         std::to_string(slots * (i + 1) / masters - 1)});
  }
}

void cluster_servers::make_known(const std::vector<std::uint16_t>& bus_ports) const {
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    asked_of(nodes_[0], {"CLUSTER", "MEET", host(i), std::to_string(port(nodes_[i])),
                         std::to_string(bus_ports[i])});
  }
  const auto know_each_other = [&] {
    return std::ranges::all_of(nodes_, [&](const auto& one) {
      const auto said = asked_of(one, {"CLUSTER", "NODES"}).text;
      return std::ranges::count(said, '\n') == static_cast<std::ptrdiff_t>(nodes_.size()) &&
             said.find("handshake") == std::string::npos;
    });
  };
  await("the nodes do not know each other", eventually(know_each_other));
}

std::string cluster_servers::url() const {
  std::string text = tls_ ? "rediss+cluster://" : "redis+cluster://";
  for (std::size_t i = 0; i < nodes_.size(); ++i) text += (i == 0 ? "" : ",") + place(i);
  return text;
}

std::string cluster_servers::host(std::size_t i) const {
  return network_ == nullptr ? "127.0.0.1" : private_network::address(i);
}

std::string cluster_servers::place(std::size_t i) const {
  return host(i) + ":" + std::to_string(port(nodes_[i]));
}

std::uint16_t cluster_servers::port(const private_server& node) const {
  return tls_ ? node.tls_port() : node.port();
}

std::string cluster_servers::id(std::size_t i) const {
  return asked_of(nodes_.at(i), {"CLUSTER", "MYID"}).text;
}

bool cluster_servers::is_fine(std::size_t asked) const {
  return says(nodes_.at(asked), {"CLUSTER", "INFO"}, "cluster_state:ok");
}

std::size_t cluster_servers::master_of(std::uint16_t slot, std::size_t asked) const {
  for (const auto& range : asked_of(nodes_.at(asked), {"CLUSTER", "SLOTS"}).items) {
    if (slot < range.items.at(0).number || slot > range.items.at(1).number) continue;
    const auto port = range.items.at(2).items.at(1).number;
    const auto found = std::ranges::find(nodes_, port, &private_server::port);
    return static_cast<std::size_t>(found - nodes_.begin());
  }
  throw std::runtime_error("nobody has that slot");
}

// Of two moves that had not heard of each other both would count for ever: one epoch for two.
bool cluster_servers::agree_on_the_epoch() const {
  return std::ranges::all_of(
      nodes_, [&](const auto& one) { return epoch_of(one) == epoch_of(nodes_.front()); });
}

void cluster_servers::move(std::uint16_t slot, std::size_t from, std::size_t to) const {
  await("an earlier move is not known to all", eventually([&] { return agree_on_the_epoch(); }));
  begin_to_move(slot, from, to);
  move_keys(slot, from, to);
  end_to_move(slot, from, to);
}

void cluster_servers::begin_to_move(std::uint16_t slot, std::size_t from, std::size_t to) const {
  const auto which = std::to_string(slot);
  asked_of(nodes_.at(to), {"CLUSTER", "SETSLOT", which, "IMPORTING", id(from)});
  asked_of(nodes_.at(from), {"CLUSTER", "SETSLOT", which, "MIGRATING", id(to)});
}

void cluster_servers::move_keys(std::uint16_t slot, std::size_t from, std::size_t to) const {
  const auto keys =
      asked_of(nodes_.at(from), {"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "1000"});
  if (keys.items.empty()) return;
  std::vector<std::string> words{"MIGRATE", host(to), std::to_string(port(nodes_.at(to))), "", "0",
                                 "5000",    "KEYS"};
  for (const auto& key : keys.items) words.push_back(key.text);
  asked_of(nodes_.at(from), words);
}

void cluster_servers::end_to_move(std::uint16_t slot, std::size_t from, std::size_t to) const {
  const auto owner = id(to);
  for (const auto i : {to, from}) {
    asked_of(nodes_.at(i), {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", owner});
  }
}

}  // namespace holdfast::support
