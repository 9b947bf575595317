// Locks over a Redis Cluster: slots that move, nodes that die, and all masters at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "net/clock.hpp"
#include "on_cluster.hpp"
#include "support/eventually.hpp"
#include "support/listener.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::cluster_servers;
using support::eventually;
using support::private_server;
using ::testing::HasSubstr;

constexpr const char* password = "hunter2-correct-horse";

HOLDFAST_ON_EACH_SERVER(OnCluster);

TEST_P(OnCluster, EachMasterHasItsLocks) {
  const auto servers = start_cluster();
  const client redis{servers.url()};
  const client other{servers.url()};
  for (const auto& name : names_of_each(servers)) {
    auto held = redis.mutex(name).try_acquire();
    ASSERT_TRUE(held) << held.error().what();
    EXPECT_EQ(other.mutex(name).try_acquire().error().reason(), errc::busy);
    EXPECT_TRUE(held->extend(60s));
    EXPECT_TRUE(held->release());
    const auto next = other.mutex(name).try_acquire();
    ASSERT_TRUE(next) << next.error().what();
    EXPECT_GT(next->token(), held->token());
  }
}

TEST_P(OnCluster, ItIsFoundThroughAnyNodeThatAnswers) {
  auto servers = start_cluster({.masters = 2, .replicas = 1});
  const auto names = names_of_each(servers, 2);
  const auto at = [&](std::size_t i) {
    return "127.0.0.1:" + std::to_string(servers.node(i).port());
  };
  for (const auto& url : {"redis+cluster://127.0.0.1:1," + at(1), "valkey+cluster://" + at(2)}) {
    const client redis{url, patient()};
    for (const auto& name : names) EXPECT_TRUE(redis.mutex(name).try_acquire()) << url;
  }
}

TEST_P(OnCluster, WhoWaitsIsHandedTheLock) {
  const auto servers = start_cluster();
  const client redis{servers.url()};
  const client other{servers.url()};
  for (const auto& name : names_of_each(servers)) {
    auto held = redis.mutex(name).acquire();
    auto waiting = std::async(std::launch::async, [&] { return other.mutex(name).acquire(); });
    ASSERT_TRUE(eventually([&] { return somebody_waits(redis, name); }));
    EXPECT_TRUE(held.release());
    ASSERT_EQ(waiting.wait_for(10s), std::future_status::ready) << "not by the end of a lease";
    EXPECT_TRUE(waiting.get().held());
  }
}

TEST_P(OnCluster, ASlotMovesWhileItsLockIsHeldAndWaitedFor) {
  const auto servers = start_cluster({.masters = 2});
  const client redis{servers.url()};
  const client other{servers.url()};
  const auto name = names_of_each(servers, 2)[0];
  const auto slot = slot_of(name);
  auto held = redis.mutex(name).acquire();
  auto waiting = std::async(std::launch::async, [&] { return other.mutex(name).acquire(); });
  ASSERT_TRUE(eventually([&] { return somebody_waits(redis, name); }));
  servers.move(slot, 0, 1);
  EXPECT_TRUE(held.extend(60s)) << "sent on by MOVED";
  EXPECT_TRUE(held.release());
  ASSERT_EQ(waiting.wait_for(support::generous), std::future_status::ready);
  const auto next = waiting.get();
  EXPECT_TRUE(next.held());
  EXPECT_GT(next.token(), held.token());
}

std::int64_t scripts_run(const private_server& node) {
  return node.calls("evalsha") + node.calls("eval");
}

// A waiter that does not hear of its grant has the lock a second later, by asking. A busy machine
// may take as long: five tries.
TEST_P(OnCluster, WhoWaitsListensToTheLocksNewMaster) {
  auto servers = start_cluster({.masters = 2});
  const client redis{servers.url()};
  const client other{servers.url()};
  const auto name = names_of_each(servers, 2)[0];
  auto hears = [&, from = std::size_t{0}]() mutable {
    auto held = redis.mutex(name).acquire();
    auto waiting = std::async(std::launch::async, [&] { return other.mutex(name).acquire(); });
    EXPECT_TRUE(eventually([&] { return somebody_waits(redis, name); }));
    const auto& next = servers.node(1 - from);
    servers.move(slot_of(name), from, 1 - from);
    from = 1 - from;
    const auto before = scripts_run(next);
    (void)inspector{other}.status(name);
    EXPECT_TRUE(eventually([&] { return scripts_run(next) >= before + 2; }))
        << "to look, and to ask for the lock again";
    EXPECT_TRUE(held.release());
    const bool soon = waiting.wait_for(700ms) == std::future_status::ready;
    EXPECT_TRUE(waiting.get().held());
    return soon;
  };
  EXPECT_TRUE(hears() || hears() || hears() || hears() || hears());
}

TEST_P(OnCluster, OnlyTheLocksOfTheSlotThatMovedAreConfirmed) {
  auto servers = start_cluster({.masters = 2});
  const client redis{servers.url()};
  const auto names = names_of_each(servers, 2);
  std::string stays = "another";
  while (servers.master_of(slot_of(stays)) != 0 || slot_of(stays) == slot_of(names[0]))
    stays += '.';
  // Nothing is renewed within 20 s.
  auto moving = redis.mutex(names[0], {.lease = 60s}).acquire();
  const auto staying = redis.mutex(stays, {.lease = 60s}).acquire();
  const auto before = scripts_run(servers.node(0));
  // Counted before the move: the client may hear of it before it is sent on.
  const auto before_there = scripts_run(servers.node(1));
  servers.move(slot_of(names[0]), 0, 1);
  EXPECT_TRUE(moving.extend(60s));
  EXPECT_TRUE(eventually([&] { return scripts_run(servers.node(1)) >= before_there + 2; }))
      << "it was extended, and confirmed";
  EXPECT_EQ(redis.counter(stays).get(), 0);
  EXPECT_EQ(scripts_run(servers.node(0)), before);
  EXPECT_TRUE(staying.held());
}

TEST_P(OnCluster, AReplicaTakesTheLocksOfAMasterThatDied) {
  auto servers = start_cluster({.masters = 3, .replicas = 3});
  const client redis{servers.url(), impatient()};
  const auto names = names_of_each(servers);
  std::vector<fencing_token> before;
  for (const auto& name : names) {
    auto held = redis.mutex(name).acquire();
    before.push_back(held.token());
  }
  const auto replicated = [&] {
    return servers.node(3).command({"DBSIZE"}).number > 0;  // its fence counter
  };
  ASSERT_TRUE(eventually(replicated));
  auto held = redis.mutex(names[1]).acquire();
  servers.node(0).kill9();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == 1) continue;
    const auto next = redis.mutex(names[i]).try_acquire({.timeout = support::generous});
    ASSERT_TRUE(next) << next.error().what();
    EXPECT_GT(next->token(), before[i]);
  }
  EXPECT_TRUE(held.held()) << "its own master is fine";
  EXPECT_TRUE(eventually([&] { return servers.master_of(slot_of(names[0]), 1) == 3U; }))
      << "as its nodes tell each other";
}

TEST_P(OnCluster, LocksWorkAgainSoonAfterAReplicaHasBecomeMaster) {
  auto servers = start_cluster({.masters = 3, .replicas = 1});
  const client redis{servers.url()};
  const auto name = names_of_each(servers)[0];
  ASSERT_TRUE(redis.mutex(name).try_acquire());
  servers.node(0).kill9();
  const auto killed = net::now();
  auto writable = std::async(std::launch::async, [&] {
    const std::vector<std::string> probe{"SET", "probe{" + name + "}", "1"};
    EXPECT_TRUE(eventually([&] { return servers.node(3).command(probe).text == "OK"; }));
    return net::now();
  });
  const auto got = redis.mutex(name).try_acquire({.timeout = support::generous});
  const auto granted = net::now();
  ASSERT_TRUE(got) << got.error().what();
  const auto since = [granted](monotonic_time then) {
    return std::chrono::round<milliseconds>(granted - then);
  };
  const auto after_writable = since(writable.get());
  RecordProperty("after_it_was_killed_ms", std::to_string(since(killed).count()));
  RecordProperty("after_it_was_writable_ms", std::to_string(after_writable.count()));
  EXPECT_LT(after_writable, 5s);
}

TEST_P(OnCluster, AMasterThatComesBackEmptyIsFoundOutAtOnce) {
  auto servers = start_cluster();
  const client redis{servers.url(), impatient()};
  const auto name = names_of_each(servers)[2];
  auto held = redis.mutex(name, {.lease = 300s}).acquire();
  const auto lost = held.lost();
  servers.node(2).kill9();
  EXPECT_THROW((void)redis.counter(name).get(), failure);
  servers.node(2).restart();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); })) << "long before it is renewed";
  EXPECT_FALSE(held.held());
}

// The client has to log in to the node first that has the slot now, and hear its time.
TEST_P(OnCluster, IdsGrowWhenTheirSlotGoesToANodeThatIsNotKnown) {
  const auto servers = start_cluster({.masters = 2, .spare = 1});
  const client redis{servers.url()};
  const auto ids = redis.snowflake("orders", {.machines = 1});
  const std::string number = "orders:machine:0";
  servers.move(slot_of(number), servers.master_of(slot_of(number)), 2);
  // Asks there, which nobody need do for a lock that this client has.
  auto asks = std::async(std::launch::async, [&] { return redis.counter(number).get(); });
  std::int64_t last = 0;
  for (int after = 0; after < 1000;) {
    const auto next = ids.next();
    ASSERT_GT(next, last);
    last = next;
    if (asks.wait_for(0s) == std::future_status::ready) ++after;
  }
  EXPECT_EQ(asks.get(), 0);
}

TEST_P(OnCluster, ManyLocksAreRenewed) {
  constexpr int many = 10'000;
  const auto servers = start_cluster();
  const client redis{servers.url()};
  std::vector<lease> held;
  auto first_end = monotonic_time::max();
  for (int i = 0; i < many; ++i) {
    held.push_back(redis.mutex("one of many " + std::to_string(i), {.lease = 20s}).acquire());
    first_end = std::min(first_end, net::now() + held.back().remaining());
  }
  const auto all_are_later = [&] {
    return std::ranges::all_of(
        held, [&](const lease& one) { return net::now() + one.remaining() > first_end + 5s; });
  };
  EXPECT_TRUE(eventually(all_are_later, 60s));
}

TEST_P(OnCluster, SeveralLocksAreHeldTogether) {
  const auto servers = start_cluster();
  const client redis{servers.url()};
  const client other{servers.url()};
  const auto names = names_of_each(servers);
  const auto all = [&](const client& by) {
    std::vector<lock> locks;
    for (const auto& name : names) locks.push_back(by.mutex(name));
    return all_of(std::move(locks));
  };
  {
    auto held = all(redis).acquire();
    for (const auto& name : names) EXPECT_FALSE(other.mutex(name).try_acquire());
    EXPECT_EQ(all(other).try_acquire().error().reason(), errc::busy);
    EXPECT_TRUE(held.release());
  }
  auto last = other.mutex(names[2]).acquire();
  EXPECT_FALSE(all(redis).try_acquire());
  EXPECT_TRUE(other.mutex(names[0]).try_acquire({.timeout = 10s})) << "given back";
}

TEST_P(OnCluster, TheInspectorSeesAllMasters) {
  const auto servers = start_cluster();
  const client redis{servers.url()};
  std::vector<lease> held;
  for (const auto& name : names_of_each(servers)) held.push_back(redis.mutex(name).acquire());
  const client other{servers.url()};
  const auto listing = inspector{other}.list();
  EXPECT_TRUE(listing.complete);
  ASSERT_EQ(listing.locks.size(), 3U);
  for (const auto& one : listing.locks) {
    ASSERT_EQ(one.holders.size(), 1U);
    EXPECT_EQ(one.holders.front().who.pid, ::getpid());
  }
  (void)inspector{other}.break_lock(held[1].name(), "test");
  EXPECT_EQ(inspector{other}.list().locks.size(), 2U);
}

TEST_P(OnCluster, ValuesAreWhereTheirNamesAre) {
  const auto servers = start_cluster();
  const client redis{servers.url()};
  for (const auto& name : names_of_each(servers)) {
    EXPECT_EQ(redis.counter(name).add(3), 3);
    EXPECT_EQ(redis.counter(name).get(), 3);
    const auto permits = redis.semaphore(name + " permits", {.permits = 2});
    const auto one = permits.try_acquire();
    ASSERT_TRUE(one) << one.error().what();
  }
}

// The first request goes to another node, before that of the slot has said its time.
TEST_P(OnCluster, WhatCountsOnceIsNotRememberedForLong) {
  auto servers = start_cluster();
  for (const auto& name : names_of_each(servers)) {
    EXPECT_EQ(client{servers.url()}.counter(name).add(3), 3);
  }
  int remembered = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (const auto& key : servers.node(i).command({"KEYS", "hf:once:*"}).items) {
      ++remembered;
      EXPECT_LT(servers.node(i).command({"PTTL", key.text}).number, 10'000) << key.text;
    }
  }
  EXPECT_EQ(remembered, 3);
}

void expect_failure(const client& redis, errc code, const std::string& words) {
  const auto got = redis.mutex("a").try_acquire();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason(), code) << got.error().what();
  EXPECT_THAT(got.error().what(), HasSubstr(words));
}

// At every node, with exactly what is said to be needed.
client_options worker_of(cluster_servers& servers, std::size_t nodes) {
  for (std::size_t i = 0; i < nodes; ++i) {
    std::vector<std::string> words{"ACL",   "SETUSER", "worker",
                                   "reset", "on",      std::string(">") + password};
    const auto allowed = access_rights_for("*", {"cluster"}).needed;
    words.insert(words.end(), allowed.begin(), allowed.end());
    EXPECT_EQ(servers.node(i).command(words).text, "OK");
  }
  auto options = patient();
  options.username = "worker";
  options.password = password;
  return options;
}

std::vector<std::string> refused_at(const private_server& node) {
  std::vector<std::string> commands;
  for (const auto& entry : node.command({"ACL", "LOG", "128"}).items) {
    for (std::size_t i = 0; i + 1 < entry.items.size(); i += 2) {
      if (entry.items[i].text == "object") commands.push_back("+" + entry.items[i + 1].text);
    }
  }
  return commands;
}

TEST_P(OnCluster, TheRightsOfAClusterSuffice) {
  auto servers = start_cluster({.masters = 2});
  const auto options = worker_of(servers, 2);
  const client redis{servers.url(), options};
  const client other{servers.url(), options};
  const auto name = names_of_each(servers, 2)[0];
  auto held = redis.mutex(name).acquire();
  auto waiting = std::async(std::launch::async, [&] { return other.mutex(name).acquire(); });
  ASSERT_TRUE(eventually([&] { return somebody_waits(client{servers.url()}, name); }));
  servers.begin_to_move(slot_of(name), 0, 1);
  servers.move_keys(slot_of(name), 0, 1);
  EXPECT_TRUE(held.extend(60s)) << "it is asked for with ASKING";
  servers.end_to_move(slot_of(name), 0, 1);
  EXPECT_TRUE(held.release());
  ASSERT_EQ(waiting.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(waiting.get().held());
  const auto optional = access_rights_for("*", {"cluster"}).optional;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_THAT(refused_at(servers.node(i)), ::testing::Each(::testing::AnyOfArray(optional)));
  }
}

TEST_P(OnCluster, WithoutTheRightToKnowTheSlotsItSaysSo) {
  auto servers = start_cluster({.masters = 1});
  const auto options = worker_of(servers, 1);
  servers.node(0).command({"ACL", "SETUSER", "worker", "-cluster"});
  const auto got = client{servers.url(), options}.mutex("a").try_acquire();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason(), errc::permission_denied) << got.error().what();
}

TEST_P(OnCluster, EveryNodeIsToldThePasswordOfTheFile) {
  auto servers = start_cluster({.masters = 2});
  auto options = worker_of(servers, 2);
  options.password = "something else";
  options.password_file =
      std::filesystem::path(servers.node(0).socket()).parent_path() / "password";
  std::ofstream(options.password_file) << password << '\n';
  const client redis{servers.url(), options};
  for (const auto& name : names_of_each(servers, 2)) EXPECT_TRUE(redis.mutex(name).try_acquire());
}

TEST_P(OnCluster, TheDoctorLooksAtEachMaster) {
  const auto servers = start_cluster({.masters = 2});
  std::map<std::string, int> told;
  for (const auto& found : inspector{client{servers.url()}}.diagnose()) {
    EXPECT_NE(found.level, finding::severity::problem) << found.check << ": " << found.detail;
    ++told[found.check];
  }
  EXPECT_EQ(told["cluster"], 1);
  for (const auto* const each :
       {"version", "tls", "clock", "role", "persistence", "access", "replica", "full coverage"}) {
    EXPECT_EQ(told[each], 2) << each;
  }
  EXPECT_EQ(told["kinds"], 1);
}

TEST_P(OnCluster, WhatIsNoClusterSaysSo) {
  const auto alone = start({.tcp = true});
  expect_failure(client{"redis+cluster://127.0.0.1:" + std::to_string(alone.port())},
                 errc::unsupported, "no member of a cluster");
}

TEST_P(OnCluster, AMemberAloneSaysWhatToUse) {
  auto servers = start_cluster({.masters = 2});
  const auto other = 1 - servers.master_of(slot_of("a"));
  expect_failure(client{servers.node(other).tcp_url()}, errc::unsupported, "redis+cluster://");
}

TEST_P(OnCluster, WithoutAMasterForTheSlotItIsNotAvailable) {
  const auto lonely = start({.tcp = true,
                             .arguments = {"--cluster-enabled", "yes", "--cluster-port",
                                           std::to_string(support::free_port())}});
  const client redis{"redis+cluster://127.0.0.1:" + std::to_string(lonely.port())};
  expect_failure(redis, errc::unavailable, "CLUSTERDOWN");
  const auto waited = redis.mutex("a").try_acquire({.timeout = 200ms});
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().reason(), errc::timed_out) << waited.error().what();
  EXPECT_THAT(waited.error().what(), HasSubstr("these nodes have left their cluster"));
  const auto seen = inspector{redis}.diagnose();
  EXPECT_TRUE(std::ranges::any_of(seen, [](const finding& one) {
    return one.check == "cluster" && one.level == finding::severity::problem &&
           one.detail == "no node of the URL knows a master";
  }));
}

TEST_P(OnCluster, NobodyThereIsSaid) {
  expect_failure(client{"redis+cluster://127.0.0.1:1,127.0.0.1:2", impatient()}, errc::unavailable,
                 "127.0.0.1");
}

template <typename Act>
void expect_refused(const std::string& words, Act&& act) {
  try {
    act();
    ADD_FAILURE() << "not refused: " << words;
  } catch (const failure& why) {
    EXPECT_EQ(why.reason(), errc::unsupported) << why.what();
    EXPECT_THAT(why.what(), HasSubstr(words));
  }
}

TEST(Cluster, RefusesWhatNeedsOneServer) {
  const auto* const url = "redis+cluster://127.0.0.1:1";
  expect_refused("a quarantine after a failover is not supported for a cluster", [&] {
    client{url, {.quarantine = 1s}};
  });
  expect_refused("deadlocks cannot be detected over a cluster", [&] {
    client{url, {.detect_deadlocks = true}};
  });
  const client redis{url};
  const std::vector<std::string> further{"b"};
  for (const auto& other : {dialect::rueidislock(), dialect::python_redis_lock(),
                            dialect::redlock({.further_resources = further})}) {
    const auto words = "layout " + std::string(other.name()) + " have several hash slots";
    expect_refused(words.c_str(), [&] { (void)redis.mutex("a", {}, other); });
  }
  expect_refused("have several hash slots",
                 [&] { (void)inspector{redis}.status("a", dialect::rueidislock()); });
  expect_refused("a cluster cannot be a member of a quorum", [&] { quorum{{redis}}; });
}

}  // namespace
}  // namespace holdfast
