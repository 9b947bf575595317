// A Redis Cluster all of whose connections are over TLS, those among its nodes too.
#include <gtest/gtest.h>

#include <future>

#include <holdfast/holdfast.hpp>

#include "base/lock_key.hpp"
#include "support/cluster_servers.hpp"
#include "support/each_server.hpp"
#include "support/eventually.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::cluster_servers;
using support::eventually;

class ClusterOverTls : public support::server_test {
 protected:
  cluster_servers start_cluster() {
    return cluster_servers{
        {.program = GetParam(),
         .masters = 2,
         .tls = support::server_tls{.own = authority_.issue(), .authority = authority_.file()}}};
  }

  support::certificate_authority authority_;
};
HOLDFAST_ON_EACH_SERVER(ClusterOverTls);

std::string name_at(const cluster_servers& servers, std::size_t master) {
  for (int i = 0;; ++i) {
    auto name = "lock " + std::to_string(i);
    if (servers.master_of(lock_key{name}.slot()) == master) return name;
  }
}

TEST_P(ClusterOverTls, IsEachMasterReached) {
  const auto servers = start_cluster();
  client_options options;
  options.tls.ca_file = authority_.file();
  const client redis{servers.url(), options};
  const client other{servers.url(), options};
  for (const std::size_t master : {0, 1}) {
    const auto name = name_at(servers, master);
    auto held = redis.mutex(name).acquire();
    auto waiting = std::async(std::launch::async, [&] { return other.mutex(name).acquire(); });
    ASSERT_TRUE(eventually([&] { return inspector{redis}.status(name).waiting == 1; }));
    EXPECT_TRUE(held.release());
    ASSERT_EQ(waiting.wait_for(10s), std::future_status::ready);
    EXPECT_TRUE(waiting.get().held());
  }
}

TEST_P(ClusterOverTls, ASlotMovesFromNodeToNode) {
  const auto servers = start_cluster();
  client_options options;
  options.tls.ca_file = authority_.file();
  const client redis{servers.url(), options};
  const auto name = name_at(servers, 0);
  const auto slot = lock_key{name}.slot();
  auto held = redis.mutex(name).acquire();
  servers.begin_to_move(slot, 0, 1);
  servers.move_keys(slot, 0, 1);
  EXPECT_TRUE(held.extend(60s)) << "sent on by ASK";
  servers.end_to_move(slot, 0, 1);
  EXPECT_TRUE(held.extend(60s)) << "sent on by MOVED";
}

TEST_P(ClusterOverTls, NoNodeIsBelievedWithoutItsAuthority) {
  const auto servers = start_cluster();
  client_options options;
  options.connect_timeout = options.response_timeout = support::generous;
  const auto got = client{servers.url(), options}.mutex("a").try_acquire();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason(), errc::untrusted_server) << got.error().what();
}

}  // namespace
}  // namespace holdfast
