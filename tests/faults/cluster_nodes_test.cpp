// Nodes of a Redis Cluster that join it, leave it, and were members once.
#include <gtest/gtest.h>

#include <algorithm>

#include <holdfast/holdfast.hpp>

#include "net/clock.hpp"
#include "on_cluster.hpp"
#include "redis/connection/url.hpp"
#include "redis/locks/blocking_request.hpp"
#include "redis/locks/redis_engine.hpp"
#include "support/eventually.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;

HOLDFAST_ON_EACH_SERVER(OnCluster);

std::int64_t asked_for_slots(const support::private_server& node) {
  return node.calls("cluster|slots") + node.calls("cluster");  // the latter before Redis 7
}

bool sees_all_slots(const client& redis) {
  const auto findings = inspector{redis}.diagnose();
  const auto found = std::ranges::find(findings, std::string{"cluster"}, &finding::check);
  return found != findings.end() && found->level != finding::severity::problem;
}

TEST_P(OnCluster, NodesComeAndGo) {
  auto servers = start_cluster({.masters = 2, .spare = 1});
  const client redis{servers.url(), patient()};
  const auto names = names_of_each(servers, 2);
  const auto slot = slot_of(names[0]);
  auto held = redis.mutex(names[0]).acquire();
  servers.move(slot, 0, 2);
  EXPECT_TRUE(held.extend(60s));
  EXPECT_EQ(inspector{redis}.list("*").locks.size(), 1U);
  servers.move(slot, 2, 1);
  servers.node(2).kill9();
  EXPECT_TRUE(eventually([&] { return held.extend(60s).has_value(); }));
  EXPECT_TRUE(held.held());
}

TEST_P(OnCluster, ANodeThatJoinsLaterIsGoneTo) {
  auto servers = start_cluster({.masters = 2});
  const client redis{servers.url(), patient()};
  const auto names = names_of_each(servers, 2);
  const auto slot = slot_of(names[0]);
  auto held = redis.mutex(names[0]).acquire();
  const auto joined = servers.join();
  servers.move(slot, 0, joined);
  EXPECT_TRUE(held.extend(60s)) << "it is not in the URL";
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(redis.mutex(names[0]).try_acquire());
  servers.move(slot, joined, 1);
  servers.leave(joined);
  const auto got = redis.mutex(names[0]).try_acquire({.timeout = support::generous});
  EXPECT_TRUE(got) << got.error().what();
}

TEST_P(OnCluster, ANodeThatHasLeftIsNotBelieved) {
  auto servers = start_cluster({.masters = 2, .spare = 1});
  servers.leave(2);
  const client redis{servers.url({2, 0, 1}), patient()};
  for (const auto& name : names_of_each(servers, 2)) {
    const auto got = redis.mutex(name).try_acquire();
    EXPECT_TRUE(got) << got.error().what();
  }
  EXPECT_TRUE(sees_all_slots(redis));
}

// It is the entry, which stays connected, and is asked for the slots in its turn.
TEST_P(OnCluster, ANodeThatLeavesTakesNoSlotsWithIt) {
  auto servers = start_cluster({.masters = 2, .spare = 1});
  const client redis{servers.url({2, 0, 1}), patient()};
  const auto name = names_of_each(servers, 2)[0];
  auto held = redis.mutex(name).acquire();
  servers.leave(2);
  const auto before = asked_for_slots(servers.node(2));
  for (std::size_t from = 0; asked_for_slots(servers.node(2)) < before + 2; from = 1 - from) {
    ASSERT_TRUE(sees_all_slots(redis));
    servers.move(slot_of(name), from, 1 - from);
    EXPECT_TRUE(held.extend(60s)) << "MOVED: the slots are asked for again";
  }
  EXPECT_TRUE(sees_all_slots(redis));
  EXPECT_TRUE(held.release());
}

// The client knows one node, and that has left: who has its slots is known by another of the URL.
TEST_P(OnCluster, NodesOfTheUrlAreAskedWhenNoneThatIsKnownKnowsMore) {
  auto servers = start_cluster({.masters = 1, .replicas = 1});
  const client redis{servers.url({0, 1}), patient()};
  EXPECT_TRUE(redis.mutex("a").try_acquire({.timeout = support::generous}));
  servers.node(1).command({"CLUSTER", "FAILOVER"});
  const auto has_taken_over = [&] { return servers.master_of(slot_of("a"), 1) == 1; };
  const auto is_known_to_the_other = [&] { return servers.master_of(slot_of("a"), 0) == 1; };
  ASSERT_TRUE(eventually(has_taken_over) && eventually(is_known_to_the_other));
  servers.leave(0);
  const auto got = redis.mutex("a").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(got) << got.error().what();
  EXPECT_TRUE(redis.mutex("b").try_acquire({.timeout = support::generous}));
}

// The parts of a client, with a tuning that the public interface does not offer.
class often_pinging {
 public:
  explicit often_pinging(const std::string& url) : engine_(session_of(url), patient(), tuning()) {}
  ~often_pinging() { engine_.shut_down(); }

  // Whether whoever has the slot of this name answers.
  bool asks(const std::string& name) {
    const lock_key key{name};
    redis_locks::blocking_request exists([&](resp::writer& out, monotonic_time) {
      out.command(2);
      out.arg("EXISTS");
      out.arg(key.value_key());
    });
    const auto answer =
        exists.run(engine_.connection(key.slot()), {net::now() + support::generous});
    return answer && answer->is(resp::type::integer);
  }

 private:
  static redis::session_settings session_of(const std::string& url) {
    redis::session_settings session;
    const auto parsed = redis::parse_url(url).value();
    session.where = parsed.where;
    session.seeds = parsed.cluster_nodes;
    session.asks_slots = true;
    return session;
  }
  static redis::connection_tuning tuning() {
    redis::connection_tuning often;
    often.ping_after = 100ms;
    return often;
  }

  redis_locks::redis_engine engine_;
};

// But for the one that asks.
std::int64_t clients_of(support::private_server& node) {
  const auto list = node.command({"CLIENT", "LIST"}).text;
  return std::ranges::count(list, '\n') - 1;
}

TEST_P(OnCluster, ANodeThatHasLeftIsDisconnected) {
  auto servers = start_cluster({.masters = 2});
  often_pinging redis(servers.url({0}));
  const auto names = names_of_each(servers, 2);
  const auto joined = servers.join();
  auto& node = servers.node(joined);
  EXPECT_EQ(clients_of(node), 0);
  servers.move(slot_of(names[1]), 1, joined);
  EXPECT_TRUE(redis.asks(names[1]));
  EXPECT_TRUE(eventually([&] { return clients_of(node) == 1; }));
  servers.move(slot_of(names[1]), joined, 1);
  EXPECT_TRUE(redis.asks(names[1]));
  EXPECT_TRUE(eventually([&] { return clients_of(node) == 0; }));
  servers.move(slot_of(names[1]), 1, joined);
  EXPECT_TRUE(redis.asks(names[1])) << "it may come back";
}

// How nodes name each other may be changed while clients run. Without a name "?" stands for it.
TEST_P(OnCluster, ANodeWithoutANameIsFound) {
  auto servers = start_cluster({.masters = 2});
  const std::string setting = "cluster-preferred-endpoint-type";
  if (servers.node(0).command({"CONFIG", "GET", setting}).items.empty()) {
    GTEST_SKIP() << "before Redis 7 nodes are named by their addresses";
  }
  const client before{servers.url({0}), patient()};
  const auto names = names_of_each(servers, 2);
  auto held = before.mutex(names[0]).acquire();
  for (const auto* named_by : {"hostname", "unknown-endpoint"}) {
    for (const std::size_t node : {0U, 1U}) {
      servers.node(node).command({"CONFIG", "SET", setting, named_by});
    }
    const client after{servers.url({1}), patient()};
    for (const auto* redis : {&before, &after}) {
      EXPECT_TRUE(sees_all_slots(*redis)) << named_by;
      const auto got = redis->mutex(names[1]).try_acquire();
      EXPECT_TRUE(got) << named_by << ": " << got.error().what();
    }
  }
  servers.move(slot_of(names[0]), 0, 1);
  const auto released = held.release();
  EXPECT_TRUE(released) << released.error().what();
}

// Nor may the client ask the node that lets it in who that is, so its locks and values there are
// those of a node that it has not reached yet, whose time it does not know.
TEST_P(OnCluster, AnswersAreForgottenOfANodeThatIsKnownByAnotherName) {
  auto servers = start_cluster({.masters = 2});
  servers.node(0).command({"ACL", "SETUSER", "default", "-cluster|myid"});
  auto url = servers.url({0});
  const std::string its_own = "127.0.0.1";
  url.replace(url.find(its_own), its_own.size(), "localhost");
  const client redis{url, patient()};
  for (const auto& name : names_of_each(servers, 2)) {
    EXPECT_EQ(redis.counter(name).add(5), 5);
    EXPECT_EQ(redis.counter(name).add(-5), 0);  // its key goes; the answers stay
  }
  for (const std::size_t node : {0U, 1U}) {
    const auto answers = servers.node(node).command({"KEYS", "hf:once:*"});
    ASSERT_EQ(answers.items.size(), 2U);
    for (const auto& key : answers.items) {
      EXPECT_LT(servers.node(node).command({"PTTL", key.text}).number, 60'000);
    }
  }
}

}  // namespace
}  // namespace holdfast
