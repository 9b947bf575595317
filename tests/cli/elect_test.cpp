// holdfast elect: who leads, who is next, and what a lost lead ends.
#include <csignal>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

TEST_P(CommandLine, ALeadersExitCodeIsPassedOn) {
  const auto server = start();
  const auto led =
      holdfast_at(server, {"elect", "a", "--", "sh", "-c", "echo $HOLDFAST_NAME; exit 7"});
  EXPECT_EQ(led.how, exited(7));
  EXPECT_EQ(led.output, "a\n");
  EXPECT_THAT(led.errors, HasSubstr("leads 'a' with token "));
  EXPECT_EQ(holdfast_at(server, {"elect", "a", "--", "no-such-program"}).how, exited(127));
  EXPECT_EQ(server.command({"EXISTS", "hf:{a}"}).number, 0) << "who has ended has resigned";
}

TEST_P(CommandLine, TheNextCandidateLeadsWhenTheFirstHasEnded) {
  const auto server = start();
  const words lead = {"elect", "a", "--", "sh", "-c", "echo leads; exec cat"};
  child_process first(call_at(server, lead));
  ASSERT_TRUE(first.wait_for_output("leads"));
  child_process second(call_at(server, lead));
  ASSERT_TRUE(eventually([&] { return server.command({"ZCARD", "hf:{a}:w"}).number == 1; }));
  EXPECT_THAT(second.output(), IsEmpty());
  first.close_input();
  EXPECT_EQ(first.wait(), exited(0));
  ASSERT_TRUE(second.wait_for_output("leads"));
  second.close_input();
  EXPECT_EQ(second.wait(), exited(0));
}

TEST_P(CommandLine, ALostLeadEndsTheCommandAndItCampaignsAgain) {
  const auto server = start();
  child_process program(call_at(server, {"elect", "--lease", "600ms", "--grace", "100ms", "a", "--",
                                         "sh", "-c", "echo $PPID leads; exec cat"}));
  ASSERT_TRUE(program.wait_for_output("leads\n"));
  const auto line = program.output();
  server.command({"DEL", "hf:{a}"});
  ASSERT_TRUE(program.wait_for_errors("the command is terminated")) << program.errors();
  ASSERT_TRUE(program.wait_for_output(line + line)) << "it leads again";
  program.close_input();
  EXPECT_EQ(program.wait(), exited(0));
}

TEST_P(CommandLine, ALeadIsLostOnlyOnceWhenToldSo) {
  const auto server = start();
  child_process program(call_at(server, {"elect", "--once", "--lease", "600ms", "--grace", "100ms",
                                         "a", "--", "sh", "-c", "echo leads; exec cat"}));
  ASSERT_TRUE(program.wait_for_output("leads"));
  server.command({"DEL", "hf:{a}"});
  EXPECT_EQ(program.wait(), exited(76));
}

TEST_P(CommandLine, ASignalEndsTheLeaderAndTheCandidate) {
  const auto server = start();
  const words lead = {"elect", "a", "--", "sh", "-c", "echo leads; exec cat"};
  child_process leader(call_at(server, lead));
  ASSERT_TRUE(leader.wait_for_output("leads"));
  child_process candidate(call_at(server, lead));
  ASSERT_TRUE(eventually([&] { return server.command({"ZCARD", "hf:{a}:w"}).number == 1; }));
  candidate.signal(SIGTERM);
  EXPECT_EQ(candidate.wait(), exited(128 + SIGTERM));
  EXPECT_THAT(candidate.errors(), HasSubstr("signal 15 ended the waiting"));
  leader.signal(SIGTERM);
  EXPECT_EQ(leader.wait(), exited(128 + SIGTERM));
  EXPECT_EQ(server.command({"EXISTS", "hf:{a}"}).number, 0);
}

// So that a log is opened anew, for example.
TEST_P(CommandLine, ASignalThatTheLeaderHandlesDoesNotEndTheCandidacy) {
  const auto server = start();
  constexpr const char* script =
      "trap 'echo reloaded' HUP; echo leads; until read line && test \"$line\" = end; do :; done";
  child_process program(call_at(
      server, {"elect", "--lease", "600ms", "--grace", "100ms", "a", "--", "sh", "-c", script}));
  ASSERT_TRUE(program.wait_for_output("leads\n"));
  program.signal(SIGHUP);
  ASSERT_TRUE(program.wait_for_output("reloaded\n"));
  server.command({"DEL", "hf:{a}"});
  ASSERT_TRUE(program.wait_for_output("reloaded\nleads\n")) << program.errors();
  program.write("end\n");
  EXPECT_EQ(program.wait(), exited(0));
}

TEST_P(CommandLine, AnElectionNeedsACommand) {
  EXPECT_EQ(holdfast({"elect", "a"}).how, exited(64));
  EXPECT_EQ(holdfast({"elect", "--", "true"}).how, exited(64));
}

}  // namespace
}  // namespace holdfast::cli_tests
