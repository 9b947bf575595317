// Messages of a cluster to waiters: within the lock's hash slot, where that can be.
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "base/lock_key.hpp"
#include "support/cluster_servers.hpp"
#include "support/each_server.hpp"
#include "support/eventually.hpp"
#include "support/raw_connection.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::cluster_servers;
using support::eventually;
using support::private_server;

constexpr const char* name = "orders";
const std::uint16_t slot = lock_key{name}.slot();

class MessageInCluster : public support::server_test {
 protected:
  void SetUp() override {
    support::server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    support::cluster_settings settings;
    settings.program = GetParam();
    settings.masters = 2;
    settings.replicas = replicas_;
    servers_.emplace(settings);
    home_ = servers_->master_of(slot);
  }

  cluster_servers& servers() { return *servers_; }
  private_server& home() { return servers_->node(home_); }
  private_server& away() { return servers_->node(1 - home_); }
  private_server& replica() { return servers_->node(home_ + 2); }
  void move() {
    servers_->move(slot, home_, 1 - home_);
    home_ = 1 - home_;
  }

  std::future<lease> wait_for(const client& who) {
    auto waiting = std::async(std::launch::async, [&] { return who.mutex(name).acquire(); });
    const client operator_of_them{servers().url()};
    EXPECT_TRUE(eventually([&] { return inspector{operator_of_them}.status(name).waiting == 1; }));
    return waiting;
  }

  std::size_t replicas_ = 0;

 private:
  std::optional<cluster_servers> servers_;
  std::size_t home_ = 0;
};
HOLDFAST_ON_EACH_SERVER(MessageInCluster);

// Channels within slots that somebody listens to.
std::vector<std::string> heard_at(const private_server& node) {
  std::vector<std::string> channels;
  for (const auto& one : node.command({"PUBSUB", "SHARDCHANNELS"}).items) {
    channels.push_back(one.text);
  }
  return channels;
}

bool is_of_the_lock(const std::vector<std::string>& channels) {
  return channels.size() == 1 && channels.front().starts_with("hf:c:") &&
         channels.front().ends_with(std::string{":{"} + name + "}");
}

void expect_handed_over(std::future<lease>& to) {
  ASSERT_EQ(to.wait_for(support::generous), std::future_status::ready);
  EXPECT_TRUE(to.get().held());
}

TEST_P(MessageInCluster, StaysAtTheMasterOfTheLock) {
  const client redis{servers().url()}, other{servers().url()};
  auto held = redis.mutex(name).acquire();
  auto waiting = wait_for(other);
  EXPECT_TRUE(eventually([&] { return is_of_the_lock(heard_at(home())); }));
  EXPECT_TRUE(held.release());
  expect_handed_over(waiting);
  EXPECT_EQ(home().calls("spublish"), 2);  // the grant, behind one that counts who hears it
  EXPECT_EQ(home().calls("publish"), 0);
}

// As a user of each node who has the rights to that tenant's names alone.
TEST_P(MessageInCluster, OfATenantStaysThereToo) {
  std::vector<std::string> words{"ACL", "SETUSER", "blue", "reset", "on", ">a-password"};
  for (const auto& word : access_rights_for("*", {"mutex", "operator", "cluster"}, "blue").needed) {
    words.push_back(word);
  }
  words.insert(words.end(), {"+ssubscribe", "+sunsubscribe", "+spublish"});
  for (auto* const node : {&home(), &away()}) ASSERT_EQ(node->command(words).text, "OK");
  const client_options options{.tenant = "blue", .username = "blue", .password = "a-password"};
  const client redis{servers().url(), options}, other{servers().url(), options};
  auto held = redis.mutex(name).acquire();
  auto waiting = std::async(std::launch::async, [&] { return other.mutex(name).acquire(); });
  EXPECT_TRUE(eventually([&] { return inspector{redis}.status(name).waiting == 1; }));
  EXPECT_TRUE(eventually([&] {
    const auto heard = heard_at(home());
    return heard.size() == 1 && heard.front().starts_with("hf:@blue:c:") &&
           heard.front().ends_with(std::string{":{"} + name + "}");
  }));
  EXPECT_TRUE(held.release());
  expect_handed_over(waiting);
  EXPECT_EQ(home().calls("spublish"), 2);
  EXPECT_EQ(home().calls("publish"), 0);
  for (auto* const node : {&home(), &away()}) {
    for (const auto& key : node->command({"KEYS", "*"}).items) {
      EXPECT_TRUE(key.text.starts_with("hf:@blue:")) << key.text;
    }
  }
}

TEST_P(MessageInCluster, IsListenedToWhereTheLockIsNow) {
  const client redis{servers().url()}, other{servers().url()};
  for (int i = 0; i < 3; ++i) {
    auto held = redis.mutex(name).acquire();
    auto waiting = wait_for(other);
    EXPECT_TRUE(eventually([&] { return is_of_the_lock(heard_at(home())); }));
    move();
    EXPECT_TRUE(eventually([&] { return is_of_the_lock(heard_at(home())); }))
        << "after move " << i + 1;
    EXPECT_TRUE(heard_at(away()).empty());
    EXPECT_TRUE(held.release());
    expect_handed_over(waiting);
  }
}

TEST_P(MessageInCluster, IsListenedToAgainAfterABreak) {
  const client redis{servers().url()}, other{servers().url()};
  auto held = redis.mutex(name).acquire();
  auto waiting = wait_for(other);
  EXPECT_TRUE(eventually([&] { return is_of_the_lock(heard_at(home())); }));
  home().command({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(eventually([&] { return is_of_the_lock(heard_at(home())); }));
  EXPECT_TRUE(held.release());
  expect_handed_over(waiting);
}

TEST_P(MessageInCluster, ComesThroughEveryNodeWhereThatIsAllThatIsAllowed) {
  std::vector<std::string> words{"ACL", "SETUSER", "worker", "reset", "on", ">a-password"};
  for (const auto& word : access_rights_for("*", {"cluster"}).needed) words.push_back(word);
  for (auto* const node : {&home(), &away()}) ASSERT_EQ(node->command(words).text, "OK");
  const client_options options{.username = "worker", .password = "a-password"};
  const client redis{servers().url(), options}, other{servers().url(), options};
  auto held = redis.mutex(name).acquire();
  auto waiting = wait_for(other);
  EXPECT_TRUE(held.release());
  expect_handed_over(waiting);
  EXPECT_TRUE(heard_at(home()).empty());
  EXPECT_EQ(home().calls("publish"), 2);  // as above
}

TEST_P(MessageInCluster, IsNotListenedToForLongWhenNobodyWaits) {
  const client redis{servers().url()}, other{servers().url()};
  {
    auto held = redis.mutex(name).acquire();
    auto waiting = wait_for(other);
    EXPECT_TRUE(eventually([&] { return is_of_the_lock(heard_at(home())); }));
    EXPECT_TRUE(held.release());
    expect_handed_over(waiting);
  }
  EXPECT_TRUE(eventually([&] { return heard_at(home()).empty(); }));
}

// As after a failover, before a waiter has reached the new master: it hears nothing there, and the
// lock goes to the next. A message at another node must not make the waiter believe that it has the
// lock, too.
class GrantInCluster : public MessageInCluster {
 protected:
  GrantInCluster() { replicas_ = 2; }

  static inline const std::string gone = std::string(32, '7'), channel = "hf:c:" + gone;

  // `listen`, `tell`: the commands of the waiter's channel, with its name.
  void expect_not_told(const private_server& elsewhere, const std::vector<std::string>& listen,
                       std::vector<std::string> tell) {
    support::raw_connection hears(net::unix_endpoint{elsewhere.socket()});
    hears.command(listen);
    const client redis{servers().url()}, other{servers().url()};
    auto held = redis.mutex(name).acquire();
    const auto key = std::string("hf:{") + name + "}", place = gone + "-1:o1000:-0";
    home().command({"ZADD", key + ":w", "1", place});
    home().command(
        {"HSET", key + ":i", place, home().command({"TIME"}).items.at(0).text + "000000"});
    auto waiting = std::async(std::launch::async, [&] { return other.mutex(name).acquire(); });
    EXPECT_TRUE(eventually([&] { return inspector{redis}.status(name).waiting == 2; }));
    EXPECT_TRUE(held.release());
    expect_handed_over(waiting);
    tell.emplace_back("that was all");
    home().command(tell);
    std::vector<std::string> told;
    while (told.empty() || told.back() != tell.back()) {
      told.push_back(hears.read_value().items.at(2).text);
    }
    for (const auto& one : told) EXPECT_FALSE(one.starts_with("grant")) << one;
    EXPECT_GT(told.size(), 1U) << "it is told to ask";
  }
};
HOLDFAST_ON_EACH_SERVER(GrantInCluster);

TEST_P(GrantInCluster, IsNotToldThroughOtherNodesToWhoIsTakenForGone) {
  expect_not_told(away(), {"SUBSCRIBE", channel}, {"PUBLISH", channel});
}

TEST_P(GrantInCluster, IsNotToldThroughAReplicaToWhoIsTakenForGone) {
  const auto within = channel + ":{" + name + "}";
  expect_not_told(replica(), {"SSUBSCRIBE", within}, {"SPUBLISH", within});
}

}  // namespace
}  // namespace holdfast
