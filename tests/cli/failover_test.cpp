// The program's options for grants that survive a failover.
#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

using namespace std::chrono_literals;

words run_true(words options) {
  options.insert(options.begin(), "run");
  options.insert(options.end(), {"a", "--", "true"});
  return options;
}

TEST_P(CommandLine, GrantsCountWhenSoManyReplicasHaveThemAsAskedFor) {
  const auto server = start();
  const auto said = holdfast_at(server, run_true({"--json", "--nonblock", "--min-replicas", "1",
                                                  "--response-timeout", "400ms"}));
  EXPECT_EQ(said.how, exited(69));
  EXPECT_THAT(said.errors, HasSubstr("\"code\":\"no_replicas\""));
  EXPECT_EQ(holdfast_at(server, run_true({"--min-replicas", "0"})).how, exited(0));
}

TEST_P(CommandLine, ReplicasMustHaveItOnTheirDisksAsAskedFor) {
  const auto server = start({.tcp = true, .arguments = {"--repl-diskless-sync-delay", "0"}});
  const auto follow = [&](const char* keeps) {
    return start({.tcp = true,
                  .arguments = {"--replicaof", "127.0.0.1", std::to_string(server.port()),
                                "--appendonly", keeps, "--appendfsync", "always"}});
  };
  const auto in_memory = follow("no");
  const auto one = [](words more) {
    more.insert(more.end(), {"--nonblock", "--min-replicas", "1"});
    return run_true(more);
  };
  const auto is_done = [&](words more) {
    return holdfast_at(server, one(std::move(more))).how == exited(0);
  };
  ASSERT_TRUE(eventually([&] { return is_done({}); }));
  const auto said = holdfast_at(server, one({"--replicas-fsync", "--response-timeout", "400ms"}));
  if (server.command({"WAITAOF", "0", "0", "0"}).is(resp::type::error)) {
    EXPECT_EQ(said.how, exited(78)) << said.errors;
    EXPECT_THAT(said.errors, HasSubstr("WAITAOF"));
    return;
  }
  EXPECT_EQ(said.how, exited(69)) << said.errors;
  const auto on_disk = follow("yes");
  EXPECT_TRUE(eventually([&] { return is_done({"--replicas-fsync"}); }));
}

// A program that has waited has seen the old server, and one that comes later has not.
TEST_P(CommandLine, NothingIsGrantedWhileTheQuarantineLasts) {
  auto server = start();
  child_process holds(
      call_at(server, {"run", "--lease", "3s", "a", "--", "sh", "-c", "echo in.; exec cat"}));
  ASSERT_TRUE(holds.wait_for_output("in."));
  child_process waits(call_at(server, run_true({"--quarantine", "1s"})));
  ASSERT_TRUE(eventually([&] {
    return holdfast_at(server, {"status", "--json", "a"}).output.find("\"waiting\": 1") !=
           std::string::npos;
  }));
  const auto begin = net::now();
  server.restart();
  EXPECT_EQ(holdfast_at(server, run_true({"--quarantine", "24h"})).how, exited(0));
  EXPECT_EQ(waits.wait(), exited(0)) << waits.errors();
  EXPECT_GE(net::now() - begin, 1s);
  EXPECT_EQ(holds.wait(), exited(76));
}

TEST(FailoverOptions, AreRefusedWhereTheyWouldDoNothing) {
  const auto refusal = [](words options, const char* url) {
    return holdfast(run_true(std::move(options)), {std::string("HOLDFAST_URL=") + url});
  };
  constexpr const char* nowhere = "unix:///nowhere/a";
  for (const words& more : {words{}, words{"--min-replicas", "0"}}) {
    auto options = more;
    options.emplace_back("--replicas-fsync");
    const auto said = refusal(options, nowhere);
    EXPECT_EQ(said.how, exited(64));
    EXPECT_THAT(said.errors, HasSubstr("--replicas-fsync needs --min-replicas"));
  }
  const auto too_long = refusal({"--quarantine", "25h"}, nowhere);
  EXPECT_EQ(too_long.how, exited(64));
  EXPECT_THAT(too_long.errors, HasSubstr("must be 0ms to 24h"));
  const auto over_cluster = refusal({"--quarantine", "1s"}, "redis+cluster://127.0.0.1:1");
  EXPECT_EQ(over_cluster.how, exited(78));
  EXPECT_THAT(over_cluster.errors, HasSubstr("is not supported for a cluster"));
}

}  // namespace
}  // namespace holdfast::cli_tests
