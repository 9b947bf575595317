// Grants in a cluster that count only when replicas of the master of their slot have them.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "faults/faulty_server.hpp"
#include "faults/lost_in_a_failover.hpp"
#include "faults/on_cluster.hpp"
#include "net/clock.hpp"
#include "support/fake_server.hpp"

namespace holdfast::faults {
namespace {

constexpr std::size_t masters = 2;

// Masters 0 and 1; their replicas are nodes 2 and 3, and 4 and 5.
class ClusterReplicas : public OnCluster {
 protected:
  // Where too few replicas answer, half of the time-out is waited for.
  static client_options brisk() { return {.connect_timeout = 3s, .response_timeout = 3s}; }
  static client_options demanding(client_options with = brisk()) {
    with.min_replicas = 1;
    return with;
  }
  static std::string key_of(const std::string& name) { return lock_key{name}.value_key(); }
  // Also at a node that sends others on.
  static bool has(const private_server& node, const std::string& name) {
    const auto slot = std::to_string(slot_of(name));
    const auto keys = node.command({"CLUSTER", "GETKEYSINSLOT", slot, "1000"}).items;
    return std::ranges::find(keys, key_of(name), &resp::value::text) != keys.end();
  }
  support::cluster_servers start_with_replicas(std::size_t replicas = masters) const {
    return start_cluster({.masters = masters, .replicas = replicas});
  }
  std::size_t lost(const client_options& as) const;
};
HOLDFAST_ON_EACH_SERVER(ClusterReplicas);

TEST_P(ClusterReplicas, HaveTheLockWhenItsHolderDoes) {
  auto servers = start_with_replicas();
  const client redis{servers.url(), demanding()};
  for (int i = 0; i < 20; ++i) {
    const auto name = "a" + std::to_string(i);
    const auto held = redis.mutex(name).acquire();
    EXPECT_TRUE(has(servers.node(masters + servers.master_of(slot_of(name))), name)) << name;
  }
}

TEST_P(ClusterReplicas, OfAnotherMasterDoNotCount) {
  const auto servers = start_with_replicas(1);
  const auto names = names_of_each(servers, masters);
  const client redis{servers.url(), demanding()}, other{servers.url(), holdfast::patient()};
  EXPECT_TRUE(redis.mutex(names[0]).acquire().release());
  expect_failure(redis.mutex(names[1]).try_acquire(), errc::no_replicas, "0 of 1 replicas");
  EXPECT_TRUE(other.mutex(names[1]).try_acquire({.timeout = support::generous}));
}

enum class move : std::uint8_t { begun, ended };

// Master 0 has lost one of its two replicas, so who is asked about the first lock waits for it;
// that of the second is asked after that. By then the slot is not, or not only, where it was
// granted.
void has_moved_before_replicas_are_asked(support::cluster_servers& servers, client_options as,
                                         move how_far) {
  as.min_replicas = 2;
  as.response_timeout = 6s;  // replicas are asked for half of it
  const auto names = names_of_each(servers, masters);
  const auto second = servers.name_at(0, "second");
  const auto slot = slot_of(second);
  const client redis{servers.url(), as};
  EXPECT_TRUE(redis.mutex(names[0]).acquire().release());
  servers.node(2 * masters).kill9();
  const auto take = [&](const std::string& name) {
    return std::async(std::launch::async,
                      [&redis, name] { return redis.mutex(name).try_acquire(); });
  };
  auto refused = take(names[0]);
  const auto one_waits = [&] {
    return servers.node(0).command({"INFO", "clients"}).text.find("blocked_clients:1") !=
           std::string::npos;
  };
  ASSERT_TRUE(eventually(one_waits));
  auto granted = take(second);
  const auto keys = [&](std::size_t at) {
    return servers.node(at).command({"CLUSTER", "COUNTKEYSINSLOT", std::to_string(slot)}).number;
  };
  ASSERT_TRUE(eventually([&] { return keys(0) > 0; }));
  servers.begin_to_move(slot, 0, 1);
  servers.move_keys(slot, 0, 1);
  if (how_far == move::ended) servers.end_to_move(slot, 0, 1);
  expect_failure(refused.get(), errc::no_replicas, "1 of 2 replicas");
  const auto got = granted.get();
  ASSERT_TRUE(got) << why_not(got);
  EXPECT_GT(keys(1), 0);
}

TEST_P(ClusterReplicas, AreAskedWhereTheSlotHasGone) {
  auto servers = start_with_replicas(2 * masters);
  has_moved_before_replicas_are_asked(servers, brisk(), move::ended);
}

TEST_P(ClusterReplicas, AreAskedWhereTheKeyHasGoneOfASlotThatIsBeingMoved) {
  auto servers = start_with_replicas(2 * masters);
  has_moved_before_replicas_are_asked(servers, brisk(), move::begun);
}

// Master 0 dies some time after its replica was cut off. Both are asked through another one.
std::size_t ClusterReplicas::lost(const client_options& as) const {
  auto servers = start_cluster({.masters = 3, .replicas = 1});
  const auto protected_numbers = start();
  constexpr std::size_t replica = 3, witness = 1;
  const auto has_taken_over = [&] { return servers.master_of(0, witness) == replica; };
  const failover its{
      .name = [&](auto& text) { return servers.name_at(0, text, witness); },
      .cut_off =
          [&] {
            servers.node(replica).freeze();
            // It would find requests that are sent from now on when it goes on.
            EXPECT_EQ(servers.node(0).command({"CLIENT", "KILL", "TYPE", "replica"}).number, 1);
          },
      .lose = [&] { servers.node(0).kill9(); },
      .take_over =
          [&] {
            servers.node(replica).thaw();
            EXPECT_TRUE(eventually(has_taken_over, 2 * support::generous));
            return client{servers.url({witness}), holdfast::patient()};
          },
      .is_known = [&](auto& name) { return has(servers.node(replica), name); },
  };
  return lost_in_a_failover(its, client{servers.url(), as}, protected_numbers.socket());
}

TEST_P(ClusterReplicas, LoseNoGrantThatCountedInAFailover) {
  const auto count = lost(demanding(impatient()));
  RecordProperty("lost_with_min_replicas", std::to_string(count));
  EXPECT_EQ(count, 0U);
}

TEST_P(ClusterReplicas, LoseGrantsInAFailoverUnlessTheyAreWaitedFor) {
  const auto count = lost(impatient());
  RecordProperty("lost_without_min_replicas", std::to_string(count));
  EXPECT_GT(count, 0U);
}

// Two nodes that say of each other that they have the slot: as after a move that was given up.
TEST(GrantsInACluster, AreNotSentToAndFroForEverBeforeReplicasAreAsked) {
  using support::fake_server;
  std::string slots, to_one, to_other;
  std::atomic<int> asked_before_replicas{0};
  const auto script_of = [&](const std::string& elsewhere) -> fake_server::script {
    return [&](const fake_server::command& words) -> std::optional<fake_server::reply> {
      const auto& what = words.front();
      const auto bulk = [](const std::string& text) {
        return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
      };
      if (what == "CLUSTER") return fake_server::answer(slots);
      if (what == "SUBSCRIBE") {
        return fake_server::answer(">3\r\n" + bulk("subscribe") + bulk(words.at(1)) + ":1\r\n");
      }
      if (what != "EVALSHA") return std::nullopt;
      if (words.at(2) != "1") return fake_server::answer(":1\r\n");  // granted; given back
      // The renewal that goes before a WAIT is of the lock's key alone, with its lease; as is one
      // that confirms the lease where another server may have come.
      if (words.at(3) == "hf:{a}" && words.back() == "600000") ++asked_before_replicas;
      return fake_server::error(elsewhere);
    };
  };
  const fake_server one(script_of(to_other)), other(script_of(to_one));
  const auto slot = std::to_string(slot_of("a"));
  to_one = "MOVED " + slot + " 127.0.0.1:" + std::to_string(one.port());
  to_other = "MOVED " + slot + " 127.0.0.1:" + std::to_string(other.port());
  slots = "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" + std::to_string(one.port()) +
          "\r\n";
  client_options options = patient();
  options.min_replicas = 1;
  const client redis{"redis+cluster://127.0.0.1:" + std::to_string(one.port()), options};
  const auto got = redis.mutex("a", {.lease = 600s}).try_acquire();
  expect_failure(got, errc::unavailable, "sent on 5 times");
  EXPECT_GE(asked_before_replicas, 6) << "and was sent on five times";
}

}  // namespace
}  // namespace holdfast::faults
