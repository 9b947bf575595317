// A master under Redis Sentinel that is cut off, with a sentinel and some of its clients: the
// others get another master, and the two are never both trusted by who checks tokens.
#include <optional>

#include "faults/partition.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::faults {
namespace {

constexpr std::size_t members = 3;  // a server and a sentinel each; the first is the master
// Hosts behind those of the members.
constexpr std::size_t with_most = members, with_master = members + 1;
constexpr milliseconds lease_time{1000};

using support::private_network;

class SentinelPartition : public fault_test {
 protected:
  void SetUp() override {
    if (const auto why = private_network::obstacle(); !why.empty()) GTEST_SKIP() << why;
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    network_.emplace(members + 2);
    for (std::size_t i = 0; i < members; ++i) {
      servers_.push_back(network_->at(i, [&] { return start_member(i); }));
    }
    ASSERT_TRUE(eventually([&] { return follows(servers_[1]) && follows(servers_[2]); }));
    for (std::size_t i = 0; i < members; ++i) {
      sentinels_.push_back(network_->at(i, [&] { return start_its_sentinel(i); }));
    }
    ASSERT_TRUE(eventually([&] { return std::ranges::all_of(sentinels_, knows_all); }));
  }

  private_server start_member(std::size_t i) const {
    // Without its replicas a master stops granting.
    std::vector<std::string> arguments{
        "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
        "--min-replicas-to-write",    "1", "--min-replicas-max-lag",     "2"};
    if (i > 0) {
      arguments.insert(arguments.end(), {"--replicaof", private_network::address(0),
                                         std::to_string(servers_[0].port())});
    }
    return start({.tcp = true, .address = private_network::address(i), .arguments = arguments});
  }
  private_server start_its_sentinel(std::size_t i) const {
    return support::start_sentinel(
        GetParam(),
        {"sentinel monitor locks " + place_of(0, servers_[0]) + " 2",
         "sentinel down-after-milliseconds locks 500", "sentinel failover-timeout locks 2000"},
        {}, private_network::address(i));
  }
  static std::string place_of(std::size_t host, const private_server& one) {
    return private_network::address(host) + " " + std::to_string(one.port());
  }
  static bool follows(const private_server& replica) {
    return replica.command({"INFO", "replication"}).text.find("master_link_status:up") !=
           std::string::npos;
  }
  static bool knows_all(const private_server& sentinel) {
    const auto said = sentinel.command({"INFO", "sentinel"}).text;
    return said.find("status=ok") != said.npos && said.find("slaves=2,sentinels=3") != said.npos;
  }

  client connected() const {
    std::string url = "redis+sentinel://";
    for (std::size_t i = 0; i < members; ++i) {
      url += (i == 0 ? "" : ",") + private_network::address(i) + ":" +
             std::to_string(sentinels_[i].port());
    }
    return client{url + "/locks", {.connect_timeout = patience, .response_timeout = patience}};
  }
  std::vector<contended> locks() const {
    return mutexes(connected(), {{"usual", {.lease = lease_time}},
                                 {"fair", {.lease = lease_time, .fair = true}},
                                 {"fixed", {.lease = lease_time, .renewal = renewal::none}}});
  }

  std::optional<private_network> network_;
  std::vector<private_server> servers_, sentinels_;
};
HOLDFAST_ON_EACH_SERVER(SentinelPartition);

TEST_P(SentinelPartition, ThereIsAnotherMasterAndTheOldOneGrantsNoMore) {
  const auto here = network_->at(with_most, [&] { return connected(); });
  const auto there = network_->at(with_master, [&] { return connected(); });
  const auto held = there.mutex("held", {.lease = lease_time}).acquire({.timeout = 10s});
  const auto lost = held.lost();
  const auto parties = parties_at(*network_, {with_most, with_master}, [this] { return locks(); });
  divided_run run(GetParam());
  run.play(parties, apart(*network_, {0, with_master}), 10s, true, [&] {
    expect_taken_over(here.mutex("held"), held, 9s);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, 5s));
  });
  // The replicas are gone for two seconds then, as the old master counts it.
  expect_one_side_went_on(run, 4s + lease_time);
}

}  // namespace
}  // namespace holdfast::faults
