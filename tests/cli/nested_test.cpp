// A command that takes a lock under which it runs already: nobody waits for itself.
#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

// One within the other: `outer -- holdfast inner -- echo in`.
finished nested(const private_server& server, words outer, const words& inner) {
  outer.insert(outer.end(), {"--", HOLDFAST_PROGRAM});
  outer.insert(outer.end(), inner.begin(), inner.end());
  outer.insert(outer.end(), {"--", "echo", "in"});
  return holdfast_at(server, outer);
}

// With the usual patience of a minute, of an election for ever: who waited would fail by time.
TEST_P(CommandLine, DoesNotWaitForItself) {
  const auto server = start();
  const std::vector<std::pair<words, words>> all = {
      {{"run", "a"}, {"run", "a"}},
      {{"run", "--fair", "a"}, {"run", "--", "a"}},
      {{"elect", "a"}, {"elect", "a"}},
      {{"elect", "a"}, {"run", "a"}},
      {{"run", "--all-of", "a,b"}, {"run", "--all-of", "b,c"}},
      {{"run", "--all-of", "a,b"}, {"run", "a"}},
      {{"run", "a=,%"}, {"run", "a=,%"}},
      {{"run", "--exclusive", "s"}, {"run", "--shared", "s"}},
      {{"run", "--shared", "s"}, {"run", "--exclusive", "s"}},
      {{"run", "--permits", "2/3", "p"}, {"run", "--permits", "2/3", "p"}},
      {{"run", "--dialect", "redisson", "r"}, {"run", "--dialect", "redisson", "r"}},
      {{"run", "--dialect", "go_zero", "g"}, {"run", "--dialect", "go_zero", "g"}},
      {{"run", "--tenant", "t", "a"}, {"run", "--tenant", "t", "a"}},
      {{"run", "a"}, {"run", "b", "--", HOLDFAST_PROGRAM, "run", "a"}},
  };
  for (const auto& [outer, inner] : all) {
    const auto said = nested(server, outer, inner);
    EXPECT_EQ(said.how, exited(70)) << ::testing::PrintToString(inner) << said.errors;
    EXPECT_THAT(said.errors, HasSubstr("each would wait for the other"));
    EXPECT_THAT(said.output, IsEmpty());
  }
  const auto said = nested(server, {"run", "a"}, {"run", "--json", "a"});
  EXPECT_THAT(said.errors,
              HasSubstr("{\"error\":{\"code\":\"would_deadlock\",\"message\":\"'a' is held "
                        "by "));
}

TEST_P(CommandLine, TakesWithinALockWhatIsNotThatLock) {
  const auto server = start();
  const auto other = start();
  const std::vector<std::pair<words, words>> all = {
      {{"run", "a"}, {"run", "b"}},
      {{"run", "a"}, {"run", "--tenant", "t", "a"}},
      {{"run", "a"}, {"run", "--url", other.url(), "a"}},
      {{"run", "a"}, {"run", "--dialect", "redisson", "a"}},
      {{"run", "--shared", "s"}, {"run", "--shared", "s"}},
      {{"run", "--permits", "1/3", "p"}, {"run", "--permits", "2/3", "p"}},
  };
  for (const auto& [outer, inner] : all) {
    const auto said = nested(server, outer, inner);
    EXPECT_EQ(said.how, exited(0)) << ::testing::PrintToString(inner) << said.errors;
    EXPECT_EQ(said.output, "in\n");
  }
}

// Of the same name, and held by somebody else.
TEST_P(CommandLine, WaitsWithinALockForTheSameNameElsewhere) {
  const auto server = start();
  const auto other = start();
  child_process holder(call_at(other, {"run", "a", "--", "sh", "-c", "echo in.; exec cat"}));
  ASSERT_TRUE(holder.wait_for_output("in."));
  child_process program(call_at(server, {"run", "a", "--", HOLDFAST_PROGRAM, "run", "--url",
                                         other.url(), "a", "--", "echo", "in"}));
  ASSERT_TRUE(eventually([&] {
    return other.command({"ZCARD", "hf:{a}:w"}).number == 1;
  })) << program.errors();
  holder.close_input();
  EXPECT_EQ(program.wait(), exited(0)) << program.errors();
  EXPECT_EQ(program.output(), "in\n");
}

// One call that does not wait can wait for nobody, and what was held is no reason any more.
TEST_P(CommandLine, WaitsForAnEarlierLockOfItsOwnOnlyWhileThatIsHeld) {
  const auto server = start();
  EXPECT_EQ(nested(server, {"run", "a"}, {"run", "--nonblock", "a"}).how, exited(75));
  const auto lost = "hf:{a}";
  const words outer = {
      "run",  "--on-lost",
      "warn", "a",
      "--",   "sh",
      "-c",   "read line; exec " + std::string(HOLDFAST_PROGRAM) + " run a -- echo in"};
  child_process program(call_at(server, outer));
  ASSERT_TRUE(eventually([&] { return server.command({"EXISTS", lost}).number == 1; }));
  server.command({"DEL", lost});
  program.write("\n");
  ASSERT_TRUE(program.wait_for_output("in")) << program.errors();
  EXPECT_EQ(program.wait(), exited(0));
}

// Of a service that is started under a lock and outlives the command.
TEST_P(CommandLine, WaitsForTheLockAroundItWhenToldTo) {
  const auto server = start();
  const words outer = {"run",
                       "a",
                       "--",
                       "sh",
                       "-c",
                       "env -u HOLDFAST_HELD " + std::string(HOLDFAST_PROGRAM) +
                           " run a -- echo in & echo started; read line"};
  child_process program(call_at(server, outer));
  ASSERT_TRUE(program.wait_for_output("started"));
  ASSERT_TRUE(eventually([&] { return server.command({"ZCARD", "hf:{a}:w"}).number == 1; }));
  program.write("\n");
  ASSERT_TRUE(program.wait_for_output("in")) << program.errors();
  EXPECT_EQ(program.wait(), exited(0));
}

}  // namespace
}  // namespace holdfast::cli_tests
