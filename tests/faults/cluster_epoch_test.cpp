// Nodes of a Redis Cluster that have not heard of the last failover.
#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>

#include "base/lock_key.hpp"
#include "faults/faulty_server.hpp"
#include "redis/session.hpp"
#include "redis/slot_map.hpp"
#include "support/cluster_servers.hpp"
#include "support/fake_server.hpp"

namespace holdfast::faults {
namespace {

using support::fake_server;

class ClusterEpoch : public ::testing::Test {
 protected:
  // What a node says: how many failovers it has heard of, and which node has the first half of the
  // slots and which the second; or, if it has left the cluster, that nobody has any.
  struct view {
    int epoch;
    std::size_t first, second;
    bool has_left = false;
  };

  ClusterEpoch() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].on(script(i));
  }

  void let_say(std::size_t node, view what) {
    epochs_[node] = what.epoch;
    firsts_[node] = what.first;
    seconds_[node] = what.second;
    has_left_[node] = what.has_left;
  }

  // Asks once for a lock of this half of the slots. Which node was asked is what matters here.
  static void ask_for(const client& redis, bool second_half) {
    for (int i = 0;; ++i) {
      const auto name = "lock " + std::to_string(i);
      if ((lock_key{name}.slot() >= half) != second_half) continue;
      (void)redis.mutex(name).try_acquire();
      return;
    }
  }
  std::size_t asked(std::size_t node) const {
    return nodes_[node].received("EVALSHA") + nodes_[node].received("EVAL");
  }
  // Who has heard what the first node says, and asks a second one for the first time.
  client connected() const {
    client made{"redis+cluster://127.0.0.1:" + std::to_string(nodes_[0].port()), patient()};
    ask_for(made, false);
    ask_for(made, true);
    EXPECT_EQ(asked(1), 1U);
    return made;
  }

 private:
  static constexpr std::uint16_t half = 8192;

  fake_server::script script(std::size_t me) {
    return [this, me](const auto& words) -> std::optional<fake_server::reply> {
      if (words[0] == "EVALSHA" || words[0] == "EVAL") {
        return fake_server::error("CLUSTERDOWN The cluster is down");
      }
      if (words.size() < 2 || words[0] != "CLUSTER") return std::nullopt;
      if (words[1] == "INFO") {
        const auto said = "cluster_current_epoch:" + std::to_string(epochs_[me]) + "\r\n";
        return fake_server::answer("$" + std::to_string(said.size()) + "\r\n" + said + "\r\n");
      }
      if (words[1] != "SLOTS") return std::nullopt;
      if (has_left_[me]) return fake_server::answer("*0\r\n");
      return fake_server::answer("*2\r\n" + run(0, half - 1, firsts_[me]) +
                                 run(half, 2 * half - 1, seconds_[me]));
    };
  }
  std::string run(int first, int last, std::size_t node) const {
    return "*3\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(last) +
           "\r\n*2\r\n+127.0.0.1\r\n:" + std::to_string(nodes_[node].port()) + "\r\n";
  }

  std::array<std::atomic<int>, 3> epochs_{};
  std::array<std::atomic<std::size_t>, 3> firsts_{}, seconds_{};
  std::array<std::atomic<bool>, 3> has_left_{};

 protected:
  std::array<fake_server, 3> nodes_;
};

TEST_F(ClusterEpoch, WhoIsBehindIsNotBelieved) {
  let_say(0, {.epoch = 5, .first = 0, .second = 1});
  let_say(1, {.epoch = 4, .first = 2, .second = 2});
  const auto redis = connected();
  const auto told = nodes_[1].received("CLUSTER");
  EXPECT_TRUE(eventually([&] {
    ask_for(redis, false);
    return nodes_[1].received("CLUSTER") >= told + 4;
  })) << "after each failure they are asked for the slots, each node first in its turn";
  EXPECT_EQ(asked(2), 0U);
}

TEST_F(ClusterEpoch, WhoHasHeardOfAnotherFailoverIs) {
  let_say(0, {.epoch = 5, .first = 0, .second = 1});
  let_say(1, {.epoch = 6, .first = 2, .second = 2});
  let_say(2, {.epoch = 6, .first = 2, .second = 2});
  const auto redis = connected();
  const auto before = asked(0);
  for (int i = 0; i < 5; ++i) ask_for(redis, false);
  EXPECT_EQ(asked(0), before);
  EXPECT_GE(asked(2), 5U);
}

TEST_F(ClusterEpoch, WhoHasLeftTheClusterIsNotHoweverNewThatMayBe) {
  for (const std::size_t node : {0U, 1U, 2U}) let_say(node, {.epoch = 5, .first = 0, .second = 1});
  const auto redis = connected();
  let_say(1, {.epoch = 6, .first = 0, .second = 0, .has_left = true});
  const auto told = nodes_[1].received("CLUSTER");
  EXPECT_TRUE(eventually([&] {
    ask_for(redis, false);
    return nodes_[1].received("CLUSTER") >= told + 4;
  }));
  const auto findings = inspector{redis}.diagnose();
  const auto slots = std::ranges::find(findings, std::string{"cluster"}, &finding::check);
  ASSERT_NE(slots, findings.end());
  EXPECT_EQ(slots->level, finding::severity::ok) << slots->detail;
}

TEST_F(ClusterEpoch, MostThatAreBehindWereSetUpAnew) {
  for (const std::size_t node : {0U, 1U, 2U}) let_say(node, {.epoch = 5, .first = 0, .second = 1});
  const auto redis = connected();
  for (const std::size_t node : {0U, 1U, 2U}) let_say(node, {.epoch = 1, .first = 2, .second = 2});
  EXPECT_TRUE(eventually([&] {
    ask_for(redis, false);
    return asked(2) > 0;
  }));
  for (const std::size_t node : {0U, 1U}) let_say(node, {.epoch = 0, .first = 0, .second = 0});
  const auto before = asked(0);
  for (int i = 0; i < 5; ++i) ask_for(redis, false);
  EXPECT_EQ(asked(0), before) << "from now on it counts from there";
}

class ClusterEpochOnEach : public support::server_test {};
HOLDFAST_ON_EACH_SERVER(ClusterEpochOnEach);

TEST_P(ClusterEpochOnEach, IsToldByARealNode) {
  support::cluster_servers servers({.program = GetParam(), .masters = 1});
  redis::session_settings settings;
  settings.where = net::tcp_endpoint{"127.0.0.1", servers.node(0).port()};
  settings.asks_slots = true;
  redis::link made;
  redis::session_facts facts;
  const auto broken = redis::open_session(settings, nullptr, made, facts);
  ASSERT_FALSE(broken) << broken->detail;
  const auto said = servers.node(0).command({"CLUSTER", "INFO"});
  ASSERT_TRUE(facts.epoch);
  EXPECT_EQ(facts.epoch, redis::read_cluster_epoch(said));
}

}  // namespace
}  // namespace holdfast::faults
