// What `holdfast doctor` says about a cluster, each finding on a cluster that is so.
#include <algorithm>

#include "base/lock_key.hpp"
#include "faults/faulty_server.hpp"
#include "support/clock_shim.hpp"
#include "support/cluster_servers.hpp"

namespace holdfast::faults {
namespace {

using severity = finding::severity;
using support::cluster_servers;
using ::testing::HasSubstr;

class ClusterDeployment : public fault_test {
 protected:
  cluster_servers start_cluster(support::cluster_settings settings) const {
    settings.program = GetParam();
    return cluster_servers{settings};
  }

  static std::string place(cluster_servers& servers, std::size_t node) {
    return "127.0.0.1:" + std::to_string(servers.node(node).port());
  }

  static std::vector<finding> about(const std::string& check, std::vector<finding> all) {
    std::erase_if(all, [&](const auto& found) { return found.check != check; });
    return all;
  }

  static std::vector<finding> diagnose(const cluster_servers& servers,
                                       const client_options& options = patient()) {
    return inspector{client{servers.url(), options}}.diagnose();
  }
};
HOLDFAST_ON_EACH_SERVER(ClusterDeployment);

// Which of them is asked first makes no difference. The one that answers must not find out by
// itself that the other is gone: then it would serve no slot any more.
TEST_P(ClusterDeployment, AMasterThatDoesNotAnswer) {
  for (const std::size_t silent : {0U, 1U}) {
    auto servers = start_cluster({.masters = 2, .node_timeout = 60s});
    servers.node(silent).freeze();
    const auto all = diagnose(servers, {.connect_timeout = 3s, .response_timeout = 3s});
    const auto connects = about("connect", all);
    ASSERT_EQ(connects.size(), 2U);
    EXPECT_EQ(connects[0].level, severity::ok) << connects[0].detail;
    EXPECT_EQ(connects[1].level, severity::problem);
    EXPECT_THAT(connects[1].detail, HasSubstr(place(servers, silent)));
    EXPECT_THAT(connects[1].remedy, HasSubstr("8192 slots"));
    const auto cluster = about("cluster", all);
    ASSERT_EQ(cluster.size(), 1U);
    EXPECT_EQ(cluster[0].level, severity::problem);
    EXPECT_THAT(cluster[0].detail, HasSubstr("1 of 2 masters answers, with 8192 of 16384 slots"));
    for (const auto* const each : {"version", "clock", "eviction", "access"}) {
      const auto said = about(each, all);
      ASSERT_EQ(said.size(), 1U) << each;
      EXPECT_THAT(said[0].detail, HasSubstr(place(servers, 1 - silent)));
      EXPECT_NE(said[0].level, severity::problem) << said[0].detail;
    }
    EXPECT_EQ(about("clock", all)[0].level, severity::ok) << about("clock", all)[0].detail;
    const auto kinds = about("kinds", all);
    ASSERT_FALSE(kinds.empty());
    EXPECT_EQ(kinds[0].level, severity::warning);
    servers.node(silent).thaw();
  }
}

TEST_P(ClusterDeployment, TooFewMastersToElectAnother) {
  for (const std::size_t masters : {1U, 2U, 3U}) {
    const auto all = diagnose(start_cluster({.masters = masters}));
    const auto cluster = about("cluster", all);
    ASSERT_EQ(cluster.size(), 1U);
    const bool can_elect = masters == 3;
    EXPECT_EQ(cluster[0].level, can_elect ? severity::ok : severity::warning) << masters;
    EXPECT_THAT(cluster[0].detail, HasSubstr("16384 of 16384 slots"));
    EXPECT_THAT(cluster[0].remedy, HasSubstr(can_elect ? "" : "three masters at least"));
    EXPECT_EQ(about("full coverage", all).size(), masters == 1 ? 0 : masters);
  }
}

TEST_P(ClusterDeployment, OneLostMasterThatStopsAll) {
  auto servers = start_cluster({.masters = 2});
  const auto expect_of_each = [&](severity level, const std::string& detail,
                                  const client_options& options = patient()) {
    const auto said = about("full coverage", diagnose(servers, options));
    ASSERT_EQ(said.size(), 2U);
    for (const auto& found : said) {
      EXPECT_EQ(found.level, level) << found.detail;
      EXPECT_THAT(found.detail, HasSubstr(detail));
      EXPECT_EQ(found.remedy.empty(), level == severity::ok);
    }
  };
  expect_of_each(severity::warning, "cluster-require-full-coverage yes");
  for (const std::size_t i : {0U, 1U}) {
    servers.node(i).command({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
    servers.node(i).command({"ACL", "SETUSER", "worker", "on", std::string(">") + password, "~*",
                             "&*", "+@all", "-config"});
  }
  expect_of_each(severity::ok, "cluster-require-full-coverage no");
  auto options = patient();
  options.username = "worker";
  options.password = password;
  expect_of_each(severity::ok, "(needs +config|get)", options);
}

TEST_P(ClusterDeployment, SlotsThatAreHalfMoved) {
  const auto servers = start_cluster({.masters = 2});
  EXPECT_TRUE(about("open slots", diagnose(servers)).empty());
  const auto slot = lock_key{"a"}.slot();
  const auto from = servers.master_of(slot);
  servers.begin_to_move(slot, from, 1 - from);
  const auto open = about("open slots", diagnose(servers));
  ASSERT_EQ(open.size(), 2U);
  for (const auto& found : open) {
    EXPECT_EQ(found.level, severity::warning);
    EXPECT_THAT(found.detail, HasSubstr("slot " + std::to_string(slot)));
  }
}

TEST_P(ClusterDeployment, AReplicaThatDoesNotAnswer) {
  auto servers = start_cluster({.masters = 2, .replicas = 2});
  const auto replicas = [&] { return about("replica", diagnose(servers)); };
  // A master says of a replica a moment later than the replica itself that it is in step.
  const auto all_are_fine = [&] {
    return std::ranges::all_of(replicas(),
                               [](const finding& found) { return found.level == severity::ok; });
  };
  EXPECT_TRUE(eventually(all_are_fine));
  servers.node(2).kill9();
  const auto is_said = [&] {
    return std::ranges::any_of(replicas(), [&](const finding& found) {
      return found.level == severity::warning &&
             found.detail.find(place(servers, 2)) != found.detail.npos;
    });
  };
  EXPECT_TRUE(eventually(is_said));
}

}  // namespace
}  // namespace holdfast::faults
