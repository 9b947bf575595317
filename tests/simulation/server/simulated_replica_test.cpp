// A demoted master does as replicas of real servers do.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "simulation/server/simulated_server.hpp"
#include "simulation/server/two_servers.hpp"

namespace holdfast::simulation {
namespace {

class SimulatedReplica : public testing::Test {
 protected:
  SimulatedReplica() {
    run(old_client_, {"SUBSCRIBE", "c"});
    run(old_client_, {"SET", "key", "old"});
    server_.be_succeeded(server_.copy_of_keys());
    new_client_ = server_.connect();
  }

  resp::value run(int connection, const std::vector<std::string>& command) {
    return server_.execute(connection, bytes_of(command));
  }
  std::vector<std::string> repeated() {
    std::vector<std::string> texts;
    for (const auto& [to, push] : server_.let_replica_catch_up()) {
      EXPECT_EQ(to, old_client_);
      texts.push_back(push.items.at(2).text);
    }
    return texts;
  }

  simulated_server server_;
  int old_client_ = server_.connect(), new_client_ = 0;
};

TEST_F(SimulatedReplica, ReadsWhatItHasHeardAndRefusesWrites) {
  run(new_client_, {"SET", "key", "new"});
  EXPECT_EQ(run(old_client_, {"GET", "key"}).text, "old");
  EXPECT_TRUE(run(old_client_, {"SET", "key", "mine"}).text.starts_with("READONLY"));
  server_.let_replica_catch_up();
  EXPECT_EQ(run(old_client_, {"GET", "key"}).text, "new");
}

// The master does not count those who listen there.
TEST_F(SimulatedReplica, RepeatsWhatItsMasterPublishes) {
  EXPECT_EQ(run(new_client_, {"PUBLISH", "c", "hello"}).number, 0);
  EXPECT_TRUE(server_.take_told().empty());
  EXPECT_EQ(repeated(), std::vector<std::string>{"hello"});
  EXPECT_TRUE(repeated().empty());
}

TEST_F(SimulatedReplica, IsNotSentWhatAScriptKeepsFromIt) {
  run(new_client_, {"EVAL",
                    "redis.set_repl(redis.REPL_NONE) redis.call('PUBLISH', 'c', 'a') "
                    "redis.set_repl(redis.REPL_ALL) redis.call('PUBLISH', 'c', 'b')",
                    "0"});
  EXPECT_EQ(repeated(), std::vector<std::string>{"b"});
}

TEST_F(SimulatedReplica, IsSentAllInACluster) {
  server_.join_a_cluster(true);
  run(new_client_,
      {"EVAL", "redis.set_repl(redis.REPL_NONE) redis.call('PUBLISH', 'c', 'a')", "0"});
  EXPECT_EQ(repeated(), std::vector<std::string>{"a"});
  EXPECT_TRUE(run(old_client_, {"EVAL", "return 1", "0"}).text.starts_with("MOVED"));
}

TEST_F(SimulatedReplica, IsForgottenWithItsConnections) {
  server_.drop_replica();
  EXPECT_FALSE(server_.has_replica());
  EXPECT_THROW(run(old_client_, {"PING"}), std::logic_error);
  EXPECT_EQ(run(new_client_, {"PUBLISH", "c", "hello"}).number, 0);
}

}  // namespace
}  // namespace holdfast::simulation
