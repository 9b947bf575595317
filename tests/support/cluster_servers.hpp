// A Redis Cluster of one test's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "support/private_network.hpp"
#include "support/private_server.hpp"

namespace holdfast::support {

struct cluster_settings {
  std::string program{};                     // empty: whichever server is installed
  std::size_t masters = 3;                   // share the slots evenly
  std::size_t replicas = 0;                  // of masters 0, 1, ..., and again from 0 on
  std::size_t spare = 0;                     // masters without slots
  std::optional<server_tls> tls{};           // of every connection, among themselves too
  const private_network* network = nullptr;  // node i is on its host i; null: on this one
  milliseconds node_timeout{1000};           // after so long a silent node counts as dead
};

// Nodes at free ports of their host: first the masters, then the replicas, then the spare ones. It
// is ready when the constructor returns. Throws what is wrong when it does not become so.
class cluster_servers {
 public:
  explicit cluster_servers(const cluster_settings& settings = {});

  std::string url() const;  // redis+cluster:// or rediss+cluster://, with all nodes
  std::string url(const std::vector<std::size_t>& nodes) const;  // with these, in this order
  private_server& node(std::size_t i) { return nodes_.at(i); }
  std::string id(std::size_t i) const;  // as the nodes call each other

  // The node that is the slot's master, as node `asked` sees it.
  std::size_t master_of(std::uint16_t slot, std::size_t asked = 0) const;

  // `name`, with dots behind it until its lock is at this master.
  std::string name_at(std::size_t master, std::string name, std::size_t asked = 0) const;

  void move(std::uint16_t slot, std::size_t from, std::size_t to) const;
  // The three steps of it.
  void begin_to_move(std::uint16_t slot, std::size_t from, std::size_t to) const;
  void move_keys(std::uint16_t slot, std::size_t from, std::size_t to) const;
  void end_to_move(std::uint16_t slot, std::size_t from, std::size_t to) const;
  void give_up_to_move(std::uint16_t slot, std::size_t from, std::size_t to) const;
  // A part of the second.
  void move_key(const std::string& key, std::size_t from, std::size_t to) const;

  // A further master, without slots, comes in. Its number.
  std::size_t join();
  // One that is a replica or has no slots goes, empty: the others forget it and it forgets them,
  // but it runs on.
  void leave(std::size_t i);

  // Whether this node sees all slots served.
  bool is_fine(std::size_t asked) const;

 private:
  void start_node();
  void introduce(std::size_t i, std::size_t to) const;
  bool know_each_other() const;
  void share_slots(std::size_t masters) const;
  bool agree_on_the_epoch() const;
  void migrate(const std::vector<std::string>& keys, std::size_t from, std::size_t to) const;
  std::uint16_t port(const private_server& node) const;
  std::string host(std::size_t i) const;
  std::string place(std::size_t i) const;  // host:port

  bool has_tls() const { return settings_.tls.has_value(); }

  const cluster_settings settings_;
  std::vector<std::uint16_t> bus_ports_;
  std::vector<private_server> nodes_;
  std::set<std::size_t> gone_;
};

}  // namespace holdfast::support
