// What can be done with the locks of a hash slot while it is being moved to another node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "net/clock.hpp"
#include "on_cluster.hpp"
#include "support/eventually.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using ::testing::HasSubstr;

HOLDFAST_ON_EACH_SERVER(OnCluster);

// At node 0.
std::vector<std::string> names_of_one_slot(const support::cluster_servers& servers, std::size_t n) {
  std::vector<std::string> names{names_of_each(servers, 2)[0]};
  for (int i = 0; names.size() < n; ++i) {
    const auto name = "another " + std::to_string(i);
    if (slot_of(name) == slot_of(names[0])) names.push_back(name);
  }
  return names;
}

// Also where a command with the key would be sent on.
bool is_at(const support::private_server& node, const std::string& key) {
  const auto slot = std::to_string(hash_slot(key));
  const auto keys = node.command({"CLUSTER", "GETKEYSINSLOT", slot, "1000"}).items;
  return std::ranges::find(keys, key, &resp::value::text) != keys.end();
}

TEST_P(OnCluster, AHeldLockIsRenewedInTheMiddleOfAMove) {
  const auto servers = start_cluster({.masters = 2});
  const client redis{servers.url(), patient()};
  const auto name = names_of_each(servers, 2)[0];
  const auto slot = slot_of(name);
  auto held = redis.mutex(name, {.lease = 6s}).acquire();
  const auto first_end = net::now() + held.remaining();
  servers.begin_to_move(slot, 0, 1);
  EXPECT_TRUE(eventually([&] { return net::now() + held.remaining() > first_end + 500ms; }))
      << "its key has not moved yet";
  servers.move_keys(slot, 0, 1);
  const auto second_end = net::now() + held.remaining();
  EXPECT_TRUE(eventually([&] { return net::now() + held.remaining() > second_end + 500ms; }))
      << "it is asked for with ASKING";
  EXPECT_TRUE(held.extend(10s));
  EXPECT_TRUE(held.held());
}

// The server lets at most one batch with keys of both nodes fail: they are asked for one by one.
TEST_P(OnCluster, LocksOfASlotAreRenewedWhileTheyAreAtTwoNodes) {
  const auto servers = start_cluster({.masters = 2});
  const client redis{servers.url()};
  const auto names = names_of_one_slot(servers, 6);
  std::vector<lease> held;
  for (const auto& name : names) held.push_back(redis.mutex(name, {.lease = 6s}).acquire());
  servers.begin_to_move(slot_of(names[0]), 0, 1);
  for (std::size_t i = 0; i < names.size(); i += 2) {
    servers.move_key(lock_key{names[i]}.value_key(), 0, 1);
  }
  auto last_end = net::now();
  for (const auto& one : held) last_end = std::max(last_end, net::now() + one.remaining());
  EXPECT_TRUE(eventually([&] {
    return std::ranges::all_of(
        held, [&](const lease& one) { return net::now() + one.remaining() > last_end + 1s; });
  })) << "they are due together";
  for (auto& one : held) EXPECT_TRUE(one.held());
}

// Of each form of release.
std::vector<lock> some_locks(const client& redis, const std::string& name) {
  return {redis.mutex(name, {.lease = 300s}),
          redis.mutex(name, {.lease = 300s, .fencing = fencing::off}),
          redis.read_write_lock(name, {.lease = 300s}).exclusive(),
          redis.semaphore(name, {.permits = 3, .lease = 300s})};
}

TEST_P(OnCluster, LocksAreReleasedInTheMiddleOfAMove) {
  auto servers = start_cluster({.masters = 2});
  const client redis{servers.url(), patient()};
  const auto name = names_of_each(servers, 2)[0];
  const auto slot = slot_of(name);
  const auto key = lock_key{name}.value_key();
  std::size_t from = 0;
  for (const bool key_has_moved : {false, true}) {
    for (const auto& one : some_locks(redis, name)) {
      auto held = one.acquire();
      const auto token = held.token();
      servers.begin_to_move(slot, from, 1 - from);
      if (key_has_moved) servers.move_key(key, from, 1 - from);
      const auto released = held.release();
      EXPECT_TRUE(released) << released.error().what();
      EXPECT_FALSE(is_at(servers.node(from), key) || is_at(servers.node(1 - from), key));
      servers.move_keys(slot, from, 1 - from);
      servers.end_to_move(slot, from, 1 - from);
      from = 1 - from;
      auto next = one.try_acquire({.timeout = support::generous});
      ASSERT_TRUE(next) << next.error().what();
      EXPECT_TRUE(token == fencing_token{} || next->token() > token);
      EXPECT_TRUE(next->release());
    }
  }
}

TEST_P(OnCluster, WhoEndsInTheMiddleOfAMoveLeavesNoLockBehind) {
  auto servers = start_cluster({.masters = 2});
  const auto name = names_of_each(servers, 2)[0];
  {
    const client redis{servers.url()};
    const auto held = redis.mutex(name, {.lease = 300s}).acquire();
    servers.begin_to_move(slot_of(name), 0, 1);
  }
  EXPECT_FALSE(is_at(servers.node(0), lock_key{name}.value_key()));
}

// The waiter is not notified, and asks by itself: every two seconds if it is the first, and when
// the slot leaves.
TEST_P(OnCluster, WhoWaitsGetsALockThatWasReleasedInTheMiddleOfAMove) {
  const auto servers = start_cluster({.masters = 2});
  const client redis{servers.url()}, other{servers.url()};
  const auto name = names_of_each(servers, 2)[0];
  const auto slot = slot_of(name);
  for (const bool it_is_given_up : {true, false}) {
    auto held = redis.mutex(name, {.lease = 300s}).acquire();
    auto waiting = std::async(std::launch::async, [&] { return other.mutex(name).acquire(); });
    ASSERT_TRUE(eventually([&] { return somebody_waits(client{servers.url()}, name); }));
    servers.begin_to_move(slot, 0, 1);
    servers.move_key(lock_key{name}.value_key() + ":w", 0, 1);
    const auto released = held.release();
    EXPECT_TRUE(released) << released.error().what();
    EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout) << "its place is elsewhere";
    if (it_is_given_up) {
      servers.give_up_to_move(slot, 0, 1);
    } else {
      servers.move_keys(slot, 0, 1);
      servers.end_to_move(slot, 0, 1);
    }
    ASSERT_EQ(waiting.wait_for(10s), std::future_status::ready);
    const auto next = waiting.get();
    EXPECT_TRUE(next.held());
    EXPECT_GT(next.token(), held.token());
  }
}

TEST_P(OnCluster, WhatIsAskedForInTheMiddleOfAMoveIsHadAtItsEnd) {
  const auto servers = start_cluster({.masters = 2});
  const client redis{servers.url()};
  const auto name = names_of_each(servers, 2)[0];
  const auto slot = slot_of(name);
  servers.begin_to_move(slot, 0, 1);
  auto acquiring = std::async(std::launch::async, [&] { return redis.mutex(name).acquire(); });
  auto counting = std::async(std::launch::async, [&] { return redis.counter(name).add(1); });
  EXPECT_EQ(acquiring.wait_for(200ms), std::future_status::timeout);
  EXPECT_EQ(counting.wait_for(0s), std::future_status::timeout);
  servers.move_keys(slot, 0, 1);
  servers.end_to_move(slot, 0, 1);
  ASSERT_EQ(acquiring.wait_for(support::generous), std::future_status::ready);
  EXPECT_TRUE(acquiring.get().held());
  EXPECT_EQ(counting.get(), 1);
}

// Both ask for as long, each for itself.
TEST_P(OnCluster, ACounterOrABreakWhoseSlotStaysOpenSaysSo) {
  const auto servers = start_cluster({.masters = 2});
  // It asks for seven seconds; a node may take a second and a half for each answer.
  const client redis{servers.url(), {.connect_timeout = 4s, .response_timeout = 1500ms}};
  const auto name = names_of_each(servers, 2)[0];
  EXPECT_EQ(redis.counter(name).add(1), 1);
  const auto held = redis.mutex(name, {.lease = 300s}).acquire();
  servers.begin_to_move(slot_of(name), 0, 1);
  const auto expect_refusal = [](const auto& change) {
    try {
      change();
      ADD_FAILURE() << "it was done";
    } catch (const failure& why) {
      EXPECT_EQ(why.reason(), errc::server_busy) << why.what();
      EXPECT_THAT(why.what(), HasSubstr("is being moved to another node"));
    }
  };
  auto breaking = std::async(std::launch::async, [&] {
    expect_refusal([&] { inspector{redis}.break_lock(name, "a test"); });
  });
  expect_refusal([&] { redis.counter(name).add(1); });
  breaking.get();
  EXPECT_TRUE(held.held());
}

}  // namespace
}  // namespace holdfast
