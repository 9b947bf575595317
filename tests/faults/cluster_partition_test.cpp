// A master of a cluster that is cut off with some of the clients: its replica takes its slots, and
// the two are never both trusted by who checks tokens.
#include <optional>

#include "faults/partition.hpp"
#include "support/cluster_servers.hpp"

namespace holdfast::faults {
namespace {

constexpr std::size_t masters = 3, nodes = 2 * masters;  // a host each; node 3 is a replica of 0
// Hosts behind those of the nodes.
constexpr std::size_t with_most = nodes, with_master = nodes + 1;
constexpr milliseconds lease_time{1000};

using support::private_network;

class ClusterPartition : public fault_test {
 protected:
  void SetUp() override {
    if (const auto why = private_network::obstacle(); !why.empty()) GTEST_SKIP() << why;
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    network_.emplace(nodes + 2);
    servers_.emplace(support::cluster_settings{
        .program = GetParam(), .masters = masters, .replicas = masters, .network = &*network_});
  }

  client connected() const {
    return client{servers_->url(), {.connect_timeout = patience, .response_timeout = patience}};
  }
  std::vector<contended> locks() const {
    return mutexes(connected(), {{names_[0], {.lease = lease_time}},
                                 {names_[1], {.lease = lease_time, .fair = true}},
                                 {names_[2], {.lease = lease_time, .renewal = renewal::none}}});
  }
  void choose_names() {
    for (const auto* const name : {"usual", "fair", "fixed", "held"}) {
      names_.push_back(servers_->name_at(0, name, with_majority));
    }
  }
  const std::string& held_name() const { return names_[3]; }

  static constexpr std::size_t with_majority = 1;  // a node that is not cut off

  std::optional<private_network> network_;

 private:
  std::optional<support::cluster_servers> servers_;
  std::vector<std::string> names_;
};
HOLDFAST_ON_EACH_SERVER(ClusterPartition);

TEST_P(ClusterPartition, ItsReplicaTakesItsSlotsAndTheOldMasterGrantsNoMore) {
  choose_names();
  const auto here = network_->at(with_most, [&] { return connected(); });
  const auto there = network_->at(with_master, [&] { return connected(); });
  const auto held = there.mutex(held_name(), {.lease = lease_time}).acquire({.timeout = 10s});
  const auto lost = held.lost();
  const auto parties = parties_at(*network_, {with_most, with_master}, [this] { return locks(); });
  divided_run run(GetParam());
  run.play(parties, apart(*network_, {0, with_master}), 10s, true, [&] {
    expect_taken_over(here.mutex(held_name()), held, 9s);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, 5s));
  });
  // A master that sees no majority of the masters refuses everything after cluster-node-timeout.
  expect_one_side_went_on(run, 4s + lease_time);
}

}  // namespace
}  // namespace holdfast::faults
