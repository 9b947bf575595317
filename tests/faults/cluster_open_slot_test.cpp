// What can be done with the locks of a hash slot while it is being moved to another node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include <holdfast/holdfast.hpp>

#include "net/clock.hpp"
#include "on_cluster.hpp"
#include "support/eventually.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;

HOLDFAST_ON_EACH_SERVER(OnCluster);

TEST_P(OnCluster, AHeldLockIsRenewedInTheMiddleOfAMove) {
  const auto servers = start_cluster({.masters = 2});
  const client redis{servers.url()};
  const auto name = names_of_each(servers, 2)[0];
  const auto slot = slot_of(name);
  auto held = redis.mutex(name, {.lease = 2s}).acquire();
  const auto first_end = net::now() + held.remaining();
  servers.begin_to_move(slot, 0, 1);
  EXPECT_TRUE(eventually([&] { return net::now() + held.remaining() > first_end + 500ms; }))
      << "its key has not moved yet";
  servers.move_keys(slot, 0, 1);
  const auto second_end = net::now() + held.remaining();
  EXPECT_TRUE(eventually([&] { return net::now() + held.remaining() > second_end + 500ms; }))
      << "it is asked for with ASKING";
  EXPECT_TRUE(held.extend(3s));
  EXPECT_TRUE(held.held());
}

TEST_P(OnCluster, WhatIsAskedInTheMiddleOfAMoveIsDoneAtItsEnd) {
  const auto servers = start_cluster({.masters = 2});
  const client redis{servers.url()};
  const client other{servers.url()};
  const auto name = names_of_each(servers, 2)[0];
  const auto slot = slot_of(name);
  auto held = redis.mutex(name).acquire();
  servers.begin_to_move(slot, 0, 1);
  auto releasing = std::async(std::launch::async, [&] { return held.release(); });
  auto acquiring = std::async(std::launch::async, [&] { return other.mutex(name).acquire(); });
  EXPECT_EQ(releasing.wait_for(200ms), std::future_status::timeout);
  servers.move_keys(slot, 0, 1);
  servers.end_to_move(slot, 0, 1);
  ASSERT_EQ(releasing.wait_for(support::generous), std::future_status::ready);
  ASSERT_EQ(acquiring.wait_for(support::generous), std::future_status::ready);
  EXPECT_TRUE(acquiring.get().held());
}

}  // namespace
}  // namespace holdfast
