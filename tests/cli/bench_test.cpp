// holdfast bench: what it measures and what it leaves behind.
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "embedded/directories.hpp"
#include "support/found_server.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;

HOLDFAST_ON_EACH_SERVER(CommandLine);

// Fence counters stay after every lock, and a client's entry for a while.
void expect_no_locks_left(const private_server& server) {
  for (const auto& key : server.command({"KEYS", "*"}).items) {
    const bool stays = key.text.starts_with("hf:fence:") || key.text.starts_with("hf:client:") ||
                       key.text == "hf:held";
    EXPECT_TRUE(stays) << key.text;
  }
}

void expect_sane(const json& one) {
  EXPECT_GT(one["count"], 0);
  EXPECT_GT(one["per_second"], 0);
  EXPECT_LE(one["p50_us"], one["p99_us"]);
  EXPECT_LE(one["p99_us"], one["p999_us"]);
}

TEST_P(CommandLine, BenchMeasuresBesideTheLimitAndLeavesNothing) {
  const auto server = start();
  const auto done =
      holdfast_at(server, {"--json", "bench", "--seconds", "1", "--threads", "3", "--locks", "2"});
  ASSERT_EQ(done.how, exited(0)) << done.errors;
  const auto all = json::parse(done.output);
  EXPECT_EQ(all["threads"], 3);
  EXPECT_EQ(all["locks"], 2);
  for (const auto* what : {"ping", "plain_socket", "holdfast"}) expect_sane(all[what]);
  EXPECT_GT(all["rate_ratio"], 0);
  expect_no_locks_left(server);
}

TEST_P(CommandLine, BenchTakesItsLeaseAndNoSpin) {
  const auto server = start();
  child_process program(
      call_at(server, {"--json", "bench", "--seconds", "1", "--lease", "2h", "--no-spin"}));
  EXPECT_TRUE(eventually([&] {
    for (const auto& key : server.command({"KEYS", "hf:{*}"}).items) {
      if (server.command({"PTTL", key.text}).number > 3'600'000) return true;
    }
    return false;
  }));
  ASSERT_EQ(program.wait(), exited(0)) << program.errors();
  const auto all = json::parse(program.output());
  EXPECT_EQ(all["lease_ms"], 7'200'000);
  EXPECT_EQ(all["spin"], false);
}

TEST_P(CommandLine, BenchThatIsInterruptedLeavesNothing) {
  const auto server = start();
  // The keys come with the second of its three measurements.
  child_process program(call_at(server, {"bench", "--seconds", "3"}));
  EXPECT_TRUE(eventually([&] { return server.command({"DBSIZE"}).number > 0; }));
  program.signal(SIGINT);
  EXPECT_EQ(program.wait(), exited(128 + SIGINT));
  expect_no_locks_left(server);
}

TEST_P(CommandLine, BenchMeasuresASharedEmbeddedServer) {
  const support::found_server found(GetParam());
  const embedded::private_directory own;
  const auto url = "embedded:" + (own.path() / "server").string();
  const auto done = support::run(call({"bench", "--seconds", "1", "--url", url},
                                      {"HOLDFAST_EMBEDDED_LINGER=0", "PATH=" + found.path()}));
  EXPECT_EQ(done.how, exited(0)) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("Holdfast / plain socket"));
}

TEST_P(CommandLine, BenchTakesTheAddressesOfOneServerInAnyCase) {
  const auto server = start({.tcp = true});
  const auto at = server.tcp_url().substr(std::string("redis://").size());
  for (const auto& url : {"valkey://" + at, "Redis://" + at, "UNIX://" + server.socket()}) {
    const auto done = holdfast({"bench", "--seconds", "1", "--url", url});
    EXPECT_EQ(done.how, exited(0)) << url << done.errors;
  }
}

TEST(Bench, RefusesWhatItCannotMeasure) {
  const auto said = holdfast({"bench", "--url", "redis+cluster://127.0.0.1:1"});
  EXPECT_EQ(said.how, exited(78)) << said.errors;
  EXPECT_THAT(said.errors, HasSubstr("no TLS, sentinels or clusters"));
  EXPECT_EQ(holdfast({"bench", "--threads", "0"}).how, exited(64));
  EXPECT_EQ(holdfast({"bench", "--seconds", "3600"}).how, exited(64));
  EXPECT_EQ(holdfast({"bench", "--locks", "x"}).how, exited(64));
}

TEST(Bench, TellsThatThereIsNoServer) {
  const auto done = holdfast({"bench", "--url", "unix:///nowhere/at/all"});
  EXPECT_EQ(done.how, exited(69));
  EXPECT_THAT(done.errors, HasSubstr("/nowhere/at/all"));
}

}  // namespace
}  // namespace holdfast::cli_tests
