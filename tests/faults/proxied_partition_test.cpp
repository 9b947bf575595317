// Partitions by proxies, which need no rights: a client, or a master, is cut off for longer than a
// lease, and what it sent meanwhile arrives when nobody expects it any more. The same on divided
// networks is in *_partition_test.cpp.
#include <deque>

#include "faults/partition.hpp"
#include "support/cluster_servers.hpp"
#include "support/fault_proxy.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::faults {
namespace {

using support::fault_proxy;
using support::toward;

constexpr milliseconds lease_time{1000};
constexpr const char* beyond = "127.0.0.2";  // where the proxies are: the ports are the servers'

const client_options options{.connect_timeout = patience, .response_timeout = patience};

class ProxiedPartition : public fault_test {
 protected:
  void stand_before(std::uint16_t port) {
    const net::tcp_endpoint server{"127.0.0.1", port};
    proxies_.emplace_back(server, net::tcp_endpoint{beyond, port});
  }
  // Nothing comes through these, and all of it when they heal.
  division stalled(std::size_t first, std::size_t count) {
    const auto each = [this, first, count](auto&& what) {
      for (auto i = first; i < first + count; ++i) what(proxies_[i]);
    };
    return {[each] {
              each([](fault_proxy& one) {
                one.stall(toward::server);
                one.stall(toward::client);
              });
            },
            [each] { each([](fault_proxy& one) { one.heal(); }); }};
  }
  const fault_proxy& proxy(std::size_t i) const { return proxies_[i]; }

 private:
  std::deque<fault_proxy> proxies_;
};
HOLDFAST_ON_EACH_SERVER(ProxiedPartition);

// A client that reaches two of five loses what it has; who reaches all goes on.
TEST_P(ProxiedPartition, AClientThatDoesNotReachAMajorityOfItsQuorum) {
  std::deque<private_server> servers;
  for (std::size_t i = 0; i < 5; ++i) {
    servers.push_back(start({.tcp = true}));
    stand_before(servers.back().port());
  }
  const auto connected = [&](bool directly) {
    std::vector<client> members;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      members.emplace_back(directly ? servers[i].tcp_url() : proxy(i).url(), options);
    }
    // One whose first answer is late stays out for so long.
    return quorum{std::move(members), {.longest_lease = 1500ms}};
  };
  const auto locks = [&](bool directly) {
    return mutexes(connected(directly),
                   {{"usual", {.lease = lease_time}},
                    {"fixed", {.lease = lease_time, .renewal = renewal::none}}});
  };
  const auto here = connected(true), there = connected(false);
  const auto held = there.mutex("held", {.lease = lease_time}).acquire({.timeout = 10s});
  divided_run run(GetParam());
  run.play({locks(true), locks(false)}, stalled(0, 3), 5s, false, [&] {
    expect_taken_over(here.mutex("held", {.lease = lease_time}), held, 4s);
    expect_lost(held);
  });
  expect_one_side_went_on(run, lease_time + patience);
}

// The nodes do not say who they are, so a client that comes by way of the proxies stays there.
TEST_P(ProxiedPartition, AClientThatDoesNotReachAMasterOfItsCluster) {
  support::cluster_servers servers{{.program = GetParam(), .masters = 2}};
  std::string there_url = "redis+cluster://";
  for (std::size_t i = 0; i < 2; ++i) {
    const auto set = servers.node(i).command(
        {"CONFIG", "SET", "cluster-preferred-endpoint-type", "unknown-endpoint"});
    if (set.is(resp::type::error)) GTEST_SKIP() << "before Redis 7: " << set.text;
    stand_before(servers.node(i).port());
    there_url += (i == 0 ? "" : ",") + (beyond + (":" + std::to_string(proxy(i).port())));
  }
  const auto at = [&](std::size_t master, const char* name) {
    return servers.name_at(master, name);
  };
  const auto locks = [&](const std::string& url) {
    return mutexes(client{url, options},
                   {{at(0, "usual"), {.lease = lease_time}},
                    {at(0, "fair"), {.lease = lease_time, .fair = true}},
                    {at(0, "fixed"), {.lease = lease_time, .renewal = renewal::none}}});
  };
  const client here{servers.url(), options}, there{there_url, options};
  const auto held = there.mutex(at(0, "held"), {.lease = lease_time}).acquire({.timeout = 10s});
  const auto elsewhere = there.mutex(at(1, "held"), {.lease = 3s}).acquire({.timeout = 10s});
  divided_run run(GetParam());
  run.play({locks(servers.url()), locks(there_url)}, stalled(0, 1), 5s, false, [&] {
    expect_taken_over(here.mutex(at(0, "held")), held, 4s);
    expect_lost(held);
  });
  EXPECT_TRUE(elsewhere.held());
  EXPECT_GT(proxy(1).connections(), 0U);
  expect_one_side_went_on(run, lease_time + patience);
}

// The sentinels and the replicas are on the other side, and so are those who contend; a client that
// reaches the old master has a lock there, for a while.
TEST_P(ProxiedPartition, AMasterThatItsSentinelsDoNotReach) {
  support::sentinel_group group(GetParam());
  auto& old = group.server(0);
  stand_before(old.port());
  const auto port = std::to_string(old.port());
  for (std::size_t i = 0; i < group.members; ++i) {
    group.server(i).command({"CONFIG", "SET", "min-replicas-to-write", "1"});
    group.server(i).command({"CONFIG", "SET", "min-replicas-max-lag", "2"});
    if (i > 0) group.server(i).command({"REPLICAOF", beyond, port});
  }
  for (std::size_t i = 0; i < group.members; ++i) {
    auto& sentinel = group.sentinel(i);
    sentinel.command({"SENTINEL", "REMOVE", group.service});
    sentinel.command({"SENTINEL", "MONITOR", group.service, beyond, port, "2"});
    sentinel.command({"SENTINEL", "SET", group.service, "down-after-milliseconds", "500",
                      "failover-timeout", "2000"});
  }
  group.await_sentinels();
  ASSERT_TRUE(eventually([&] { return group.replicas_in_step() == 2; }));
  const auto locks = [&] {
    return mutexes(client{group.url(), options},
                   {{"usual", {.lease = lease_time}},
                    {"fair", {.lease = lease_time, .fair = true}},
                    {"fixed", {.lease = lease_time, .renewal = renewal::none}}});
  };
  const client here{group.url(), options}, there{old.tcp_url(), options};
  const auto held = there.mutex("held", {.lease = lease_time}).acquire({.timeout = 10s});
  const auto lost = held.lost();
  divided_run run(GetParam());
  run.play({locks(), locks()}, stalled(0, 1), 10s, true, [&] {
    expect_taken_over(here.mutex("held"), held, 9s);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, 5s));
    // Without its replicas the old one grants no more.
    EXPECT_FALSE(there.mutex("another").try_acquire());
  });
  EXPECT_EQ(run.violations(), "");
  // All who contend are on the side that goes on.
  for (const std::size_t party : {0U, 1U}) EXPECT_GT(run.won(party, 0ms), 0U) << party;
  EXPECT_NE(group.master(), 0U);
}

}  // namespace
}  // namespace holdfast::faults
