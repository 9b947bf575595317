// A wait that ends although no server has answered, or each has refused: nobody knows then whether
// another has the lock.
#include "cli/program.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

// Waits for less time than an attempt to be answered may take.
words run_briefly(words more = {}) {
  words all = {"run",  "--wait", "100ms", "--connect-timeout", "600ms", "--response-timeout",
               "600ms"};
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), {"a", "--", "echo", "never"});
  return all;
}

void expect_no_server(const finished& said, const std::string& why) {
  EXPECT_EQ(said.how, exited(69)) << said.errors;
  EXPECT_THAT(said.errors, HasSubstr(why));
  EXPECT_THAT(said.output, IsEmpty());
}

TEST_P(CommandLine, WaitsAtAFrozenServerEndAsAtNone) {
  auto server = start();
  server.freeze();
  expect_no_server(holdfast_at(server, run_briefly()), "does not answer");
  expect_no_server(holdfast_at(server, run_briefly({"--busy-exit-code", "9", "--json"})),
                   "\"unavailable\"");
  server.thaw();
}

TEST_P(CommandLine, WaitsForADeadMasterEndAsAtNoServer) {
  auto master = start({.tcp = true});
  const auto sentinel = support::start_sentinel_of(GetParam(), master.port());
  const auto address = "127.0.0.1:" + std::to_string(master.port());
  master.kill9();
  expect_no_server(holdfast(run_briefly(), {"HOLDFAST_URL=redis+sentinel://127.0.0.1:" +
                                            std::to_string(sentinel.port()) + "/locks"}),
                   address);
}

TEST_P(CommandLine, WaitsForASilentMajorityEndAsAtNoServer) {
  const auto answers = start();
  auto one = start(), other = start();
  const words members = {"--member", answers.url(), "--member", one.url(), "--member", other.url()};
  one.freeze();
  other.freeze();
  expect_no_server(holdfast(run_briefly(members)), "does not answer");
  auto of_another = members;
  of_another.insert(of_another.end(), {"--dialect", "redlock"});
  expect_no_server(holdfast(run_briefly(of_another)), "does not answer");
  one.thaw();
  other.thaw();
}

TEST_P(CommandLine, WaitsAtAServerThatRefusesEndAsAnAttemptDoes) {
  const auto full = start();
  full.command({"CONFIG", "SET", "maxmemory", "1"});
  expect_no_server(holdfast_at(full, run_briefly()), "memory limit");
  const auto alone = start();
  alone.command({"CONFIG", "SET", "min-replicas-to-write", "3"});
  expect_no_server(holdfast_at(alone, run_briefly({"--permits", "1/2"})), "replicas");
  expect_no_server(holdfast_at(alone, run_briefly({"--dialect", "token"})), "replicas");
}

TEST_P(CommandLine, WaitsForAMajorityThatRefusesEndAsAnAttemptDoes) {
  const auto works = start();
  const auto one = start(), other = start();
  for (const auto* const each : {&one, &other}) each->command({"CONFIG", "SET", "maxmemory", "1"});
  expect_no_server(holdfast(run_briefly(
                       {"--member", works.url(), "--member", one.url(), "--member", other.url()})),
                   "memory limit");
}

// Its holder is known then.
TEST_P(CommandLine, WaitsForAHeldLockEndAsBusy) {
  const auto server = start();
  const holder has(server, "a");
  const auto said = holdfast_at(
      server, {"run", "--wait", "100ms", "--response-timeout", "30s", "a", "--", "echo", "never"});
  EXPECT_EQ(said.how, exited(75)) << said.errors;
  EXPECT_THAT(said.errors, HasSubstr(std::to_string(has.pid())));
}

}  // namespace
}  // namespace holdfast::cli_tests
