// Other libraries' locks over a Redis Cluster: where they are, and who is told of them there.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "base/lock_key.hpp"
#include "support/cluster_servers.hpp"
#include "support/each_server.hpp"
#include "support/eventually.hpp"
#include "support/fake_server.hpp"

namespace holdfast {
namespace {

using support::cluster_servers;
using support::eventually;

class DialectsOnCluster : public support::server_test {
 protected:
  void SetUp() override {
    support::server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    servers_.emplace(support::cluster_settings{.program = GetParam()});
  }
  static constexpr std::size_t masters = 3;

  cluster_servers& servers() { return *servers_; }
  // How many clients listen at this node, by PUBSUB `how`.
  std::int64_t listeners(const char* how, const std::string& channel, std::size_t node) {
    return servers().node(node).command({"PUBSUB", how, channel}).items.at(1).number;
  }
  bool are_listening(std::size_t node, std::int64_t clients) {
    return eventually([&] {
      return listeners("SHARDNUMSUB", "redisson_lock__channel:{orders}", node) == clients;
    });
  }

  const std::string name = "orders";
  const dialect redisson = dialect::redisson();

 private:
  std::optional<cluster_servers> servers_;
};
HOLDFAST_ON_EACH_SERVER(DialectsOnCluster);

TEST_P(DialectsOnCluster, AreWhereTheirKeysAre) {
  const client redis{servers().url()};
  const client other{servers().url()};
  const inspector look{redis};
  std::vector<lease> held;
  for (int i = 0; i < 20; ++i) {
    const auto one = "job " + std::to_string(i) + (i % 2 == 0 ? "" : "{a}");
    held.push_back(redis.mutex(one, {}, redisson).acquire());
    const auto& node = servers().node(servers().master_of(hash_slot(one)));
    EXPECT_EQ(node.command({"HLEN", one}).number, 1) << one;
    EXPECT_EQ(other.mutex(one, {}, redisson).try_acquire().error().reason(), errc::busy);
    EXPECT_EQ(look.status(one, dialect::redisson()).state, lock_state::held);
    EXPECT_TRUE(held.back().extend(std::chrono::seconds{60}));
  }
  EXPECT_EQ(look.list_all_dialects().locks.size(), held.size());
  for (auto& one : held) EXPECT_TRUE(one.release());
  EXPECT_TRUE(look.list_all_dialects().locks.empty());
}

// There and back, so that each node has ended a subscription that it had before.
TEST_P(DialectsOnCluster, ThoseWhoWaitListenWhereTheSlotIs) {
  const client redis{servers().url()};
  const client other{servers().url()};
  auto held = redis.mutex(name, {}, redisson).acquire();
  auto waiting = std::async(std::launch::async, [&] {
    return other.mutex(name, {}, redisson).try_acquire({.timeout = 2 * support::generous});
  });
  auto at = servers().master_of(hash_slot(name));
  for (int moves = 0; moves < 4; ++moves) {
    EXPECT_TRUE(are_listening(at, 1)) << "after " << moves << " moves";
    const auto to = (at + 1) % (masters - 1);
    servers().move(hash_slot(name), at, to);
    EXPECT_TRUE(are_listening(at, 0));
    at = to;
  }
  EXPECT_TRUE(are_listening(at, 1));
  EXPECT_TRUE(held.release());
  const auto got = waiting.get();
  ASSERT_TRUE(got) << got.error().what();
  EXPECT_TRUE(are_listening(at, 0)) << "nobody waits any more";
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(other.mutex("other", {}, redisson).acquire().release());
}

TEST_P(DialectsOnCluster, OthersAreToldByPlainMessages) {
  const client redis{servers().url()};
  const client other{servers().url()};
  const auto registry = dialect::spring_integration({"app", registry_mode::pub_sub});
  auto held = redis.mutex(name, {}, registry).acquire();
  auto waiting = std::async(std::launch::async, [&] {
    return other.mutex(name, {}, registry).try_acquire({.timeout = support::generous});
  });
  EXPECT_TRUE(eventually([&] {
    std::int64_t heard = 0;
    for (std::size_t i = 0; i < masters; ++i)
      heard += listeners("NUMSUB", "app-channel:app:orders", i);
    return heard == 1;
  }));
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(waiting.get());
}

std::string in_bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// A node that has all slots, at which somebody waits for a lock of Redisson's in vain. `parting`:
// its answer when the waiter leaves the lock's channel. Afterwards the lock is free.
void expect_answers_after(support::fake_server::script parting, std::size_t connections) {
  std::atomic<bool> is_free{false};
  std::string slots;
  support::fake_server node([&](const auto& words) -> std::optional<support::fake_server::reply> {
    const auto& what = words.front();
    if (auto said = parting(words)) return said;
    if (what == "CLUSTER") return support::fake_server::answer(slots);
    if (what == "SUBSCRIBE" || what == "SSUBSCRIBE") {
      const std::string said = what == "SUBSCRIBE" ? "subscribe" : "ssubscribe";
      return support::fake_server::answer(">3\r\n" + in_bulk(said) + in_bulk(words.at(1)) +
                                          ":1\r\n");
    }
    if (what == "EVALSHA" && words.at(2) == "1") {
      return support::fake_server::answer(is_free ? "+OK\r\n" : ":-60000\r\n");
    }
    return std::nullopt;
  });
  slots = "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n" + in_bulk("127.0.0.1") + ":" +
          std::to_string(node.port()) + "\r\n";
  const client redis{"redis+cluster://127.0.0.1:" + std::to_string(node.port()),
                     {.response_timeout = support::generous}};
  const auto mutex = redis.mutex("orders", {}, dialect::redisson());
  std::stop_source patience;
  auto waiting = std::async(std::launch::async, [&] {
    return mutex.try_acquire({.timeout = support::generous}, patience.get_token());
  });
  // It asks again once it is told that it listens.
  const auto is_question = [](const auto& words) {
    return words.front() == "EVALSHA" && words.at(3) == "orders";
  };
  EXPECT_TRUE(eventually([&] { return std::ranges::count_if(node.received(), is_question) >= 2; }));
  EXPECT_EQ(node.received("SSUBSCRIBE"), 1U);
  patience.request_stop();
  EXPECT_FALSE(waiting.get());
  EXPECT_TRUE(eventually([&] { return node.received("SUNSUBSCRIBE") == 1; }));
  // A request on a connection that is about to be given up is not answered.
  EXPECT_TRUE(eventually([&] { return node.connections() == connections; }));
  is_free = true;
  for (int i = 0; i < 3; ++i) {
    const auto got = mutex.try_acquire();
    EXPECT_TRUE(got) << got.error().what();
  }
  EXPECT_EQ(node.connections(), connections);
}

// The slot has gone, and with it the subscription: the refusal is the answer to nobody's question.
TEST(DialectsOnCluster, APartingThatIsRefusedShiftsNoAnswers) {
  expect_answers_after(
      [](const auto& words) -> std::optional<support::fake_server::reply> {
        if (words.front() != "SUNSUBSCRIBE") return std::nullopt;
        return support::fake_server::error("MOVED 1 127.0.0.1:1");
      },
      1);
}

// Then nobody knows which of the two was refused.
TEST(DialectsOnCluster, APartingFromABusyServerShiftsNoAnswers) {
  int refused = 2;  // on the server's thread
  expect_answers_after(
      [&](const auto& words) -> std::optional<support::fake_server::reply> {
        const bool parts = words.front() == "SUNSUBSCRIBE" && refused == 2;
        if (!parts && (words.front() != "TIME" || refused != 1)) return std::nullopt;
        --refused;
        return support::fake_server::error("BUSY Redis is busy running a script.");
      },
      2);
}

}  // namespace
}  // namespace holdfast
