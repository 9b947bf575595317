#include "support/cluster_servers.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "base/lock_key.hpp"
#include "support/eventually.hpp"
#include "support/listener.hpp"

namespace holdfast::support {
namespace {

constexpr std::size_t slots = 16384;

resp::value accepted(const std::vector<std::string>& words, resp::value answer) {
  if (answer.is(resp::type::error)) throw std::runtime_error(words.at(0) + ": " + answer.text);
  return answer;
}

resp::value asked_of(const private_server& node, const std::vector<std::string>& words) {
  return accepted(words, node.command(words));
}

// A node refuses for a moment where it has not noticed yet that a replica is gone (Valkey waits for
// all to hear of a slot), or has not heard from the others for long, on a busy machine.
void have_done(const private_server& node, const std::vector<std::string>& words) {
  resp::value answer;
  static_cast<void>(eventually([&] {
    answer = node.command(words);
    return !answer.text.starts_with("NOREPLICAS") && !answer.text.starts_with("CLUSTERDOWN");
  }));
  static_cast<void>(accepted(words, std::move(answer)));
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

cluster_servers::cluster_servers(const cluster_settings& settings) : settings_(settings) {
  const auto count = settings.masters + settings.replicas + settings.spare;
  bus_ports_.resize(count);
  std::ranges::generate(bus_ports_, free_port);
  for (std::size_t i = 0; i < count; ++i) {
    start_node();
    asked_of(nodes_[i], {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  }
  share_slots(settings.masters);
  for (std::size_t i = 1; i < count; ++i) introduce(i, 0);
  await("the nodes do not know each other", eventually([&] { return know_each_other(); }));
  for (std::size_t i = 0; i < settings.replicas; ++i) {
    const auto& replica = nodes_[settings.masters + i];
    asked_of(replica, {"CLUSTER", "REPLICATE", id(i % settings.masters)});
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

void cluster_servers::start_node() {
  const auto i = nodes_.size();
  const auto* const by_tls = has_tls() ? "yes" : "no";
  const server_settings node{
      .program = settings_.program,
      .tcp = true,
      .address = host(i),
      .tls = settings_.tls,
      .arguments = {"--cluster-enabled", "yes", "--cluster-node-timeout",
                    std::to_string(settings_.node_timeout.count()), "--cluster-port",
                    std::to_string(bus_ports_.at(i)), "--repl-diskless-sync-delay", "0",
                    "--cluster-replica-validity-factor", "0", "--cluster-allow-replica-migration",
                    "no", "--tls-cluster", by_tls, "--tls-replication", by_tls}};
  const auto* const network = settings_.network;
  nodes_.push_back(network == nullptr ? private_server{node}
                                      : network->at(i, [&] { return private_server{node}; }));
}

void cluster_servers::introduce(std::size_t i, std::size_t to) const {
  asked_of(nodes_.at(to), {"CLUSTER", "MEET", host(i), std::to_string(port(nodes_[i])),
                           std::to_string(bus_ports_[i])});
}

bool cluster_servers::know_each_other() const {
  const auto members = nodes_.size() - gone_.size();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (gone_.contains(i)) continue;
    const auto said = asked_of(nodes_[i], {"CLUSTER", "NODES"}).text;
    if (std::ranges::count(said, '\n') != static_cast<std::ptrdiff_t>(members)) return false;
    if (said.find("handshake") != std::string::npos) return false;
  }
  return true;
}

std::size_t cluster_servers::join() {
  bus_ports_.push_back(free_port());
  start_node();
  const auto made = nodes_.size() - 1;
  std::size_t known = 0;
  while (gone_.contains(known)) ++known;
  introduce(made, known);
  await("a node that joined", eventually([&] { return know_each_other() && is_fine(made); }));
  return made;
}

void cluster_servers::leave(std::size_t i) {
  const auto name = id(i);
  gone_.insert(i);
  nodes_[i].command({"FLUSHALL"});  // a replica refuses that, and is emptied by what comes next
  asked_of(nodes_[i], {"CLUSTER", "RESET", "HARD"});
  for (std::size_t other = 0; other < nodes_.size(); ++other) {
    if (!gone_.contains(other)) asked_of(nodes_[other], {"CLUSTER", "FORGET", name});
  }
  await("a node that left is not forgotten", eventually([&] { return know_each_other(); }));
}

std::string cluster_servers::url() const {
  std::vector<std::size_t> all(nodes_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return url(all);
}

std::string cluster_servers::url(const std::vector<std::size_t>& nodes) const {
  std::string text = has_tls() ? "rediss+cluster://" : "redis+cluster://";
  for (const auto i : nodes) {
    if (!text.ends_with('/')) text += ',';
    text += place(i);
  }
  return text;
}

std::string cluster_servers::host(std::size_t i) const {
  return settings_.network == nullptr ? "127.0.0.1" : private_network::address(i);
}

std::string cluster_servers::place(std::size_t i) const {
  return host(i) + ":" + std::to_string(port(nodes_[i]));
}

std::uint16_t cluster_servers::port(const private_server& node) const {
  return has_tls() ? node.tls_port() : node.port();
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

std::string cluster_servers::name_at(std::size_t master, std::string name,
                                     std::size_t asked) const {
  while (master_of(lock_key{name}.slot(), asked) != master) name += '.';
  return name;
}

// Of two moves that had not heard of each other both would count for ever: one epoch for two.
bool cluster_servers::agree_on_the_epoch() const {
  std::set<std::int64_t> epochs;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!gone_.contains(i)) epochs.insert(epoch_of(nodes_[i]));
  }
  return epochs.size() == 1;
}

void cluster_servers::move(std::uint16_t slot, std::size_t from, std::size_t to) const {
  await("an earlier move is not known to all", eventually([&] { return agree_on_the_epoch(); }));
  begin_to_move(slot, from, to);
  move_keys(slot, from, to);
  end_to_move(slot, from, to);
}

void cluster_servers::begin_to_move(std::uint16_t slot, std::size_t from, std::size_t to) const {
  const auto which = std::to_string(slot);
  have_done(nodes_.at(to), {"CLUSTER", "SETSLOT", which, "IMPORTING", id(from)});
  have_done(nodes_.at(from), {"CLUSTER", "SETSLOT", which, "MIGRATING", id(to)});
}

void cluster_servers::move_keys(std::uint16_t slot, std::size_t from, std::size_t to) const {
  const auto keys =
      asked_of(nodes_.at(from), {"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "1000"});
  if (keys.items.empty()) return;
  std::vector<std::string> names;
  for (const auto& key : keys.items) names.push_back(key.text);
  migrate(names, from, to);
}

void cluster_servers::move_key(const std::string& key, std::size_t from, std::size_t to) const {
  migrate({key}, from, to);
}

void cluster_servers::migrate(const std::vector<std::string>& keys, std::size_t from,
                              std::size_t to) const {
  std::vector<std::string> words{"MIGRATE", host(to), std::to_string(port(nodes_.at(to))), "", "0",
                                 "5000",    "KEYS"};
  words.insert(words.end(), keys.begin(), keys.end());
  have_done(nodes_.at(from), words);
}

void cluster_servers::give_up_to_move(std::uint16_t slot, std::size_t from, std::size_t to) const {
  have_done(nodes_.at(from), {"CLUSTER", "SETSLOT", std::to_string(slot), "STABLE"});
  move_keys(slot, to, from);
  have_done(nodes_.at(to), {"CLUSTER", "SETSLOT", std::to_string(slot), "STABLE"});
}

void cluster_servers::end_to_move(std::uint16_t slot, std::size_t from, std::size_t to) const {
  const auto owner = id(to);
  for (const auto i : {to, from}) {
    have_done(nodes_.at(i), {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", owner});
  }
}

}  // namespace holdfast::support
