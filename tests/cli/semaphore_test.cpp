// holdfast semaphore.
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

nlohmann::json told(const private_server& server, words arguments) {
  arguments.insert(arguments.begin(), {"--json", "semaphore"});
  return nlohmann::json::parse(holdfast_at(server, std::move(arguments)).output);
}

TEST_P(CommandLine, SetsPermitsForEverybodyWhileTheyAreInUse) {
  const auto server = start();
  EXPECT_EQ(
      told(server, {"get", "seats"}),
      nlohmann::json::parse(R"({"name": "seats", "permits": null, "in_use": 0, "waiting": 0})"));
  EXPECT_EQ(told(server, {"set", "seats", "2"})["permits"], 2);
  child_process first(call_at(
      server, {"run", "--permits", "2/5", "seats", "--", "sh", "-c", "echo in.; exec cat"}));
  ASSERT_TRUE(first.wait_for_output("in."));
  child_process second(call_at(server, {"run", "--permits", "1/5", "seats", "--", "echo", "in."}));
  ASSERT_TRUE(eventually([&] { return told(server, {"get", "seats"})["waiting"] == 1; }));
  EXPECT_EQ(told(server, {"get", "seats"})["in_use"], 2);
  EXPECT_THAT(holdfast_at(server, {"semaphore", "get", "seats"}).output,
              HasSubstr("seats  2        2       1\n"));
  EXPECT_EQ(told(server, {"set", "seats", "3"})["permits"], 3);
  EXPECT_EQ(second.wait(), exited(0));
  EXPECT_EQ(second.output(), "in.\n");
  EXPECT_EQ(told(server, {"set", "seats", "0"})["permits"], nullptr);
  first.close_input();
  EXPECT_EQ(first.wait(), exited(0));
}

TEST_P(CommandLine, OtherKindsAreNoSemaphores) {
  const auto server = start();
  child_process holder(call_at(server, {"run", "a", "--", "sh", "-c", "echo in.; exec cat"}));
  ASSERT_TRUE(holder.wait_for_output("in."));
  const auto said = holdfast_at(server, {"semaphore", "get", "a"});
  EXPECT_EQ(said.how, exited(65));
  EXPECT_THAT(said.errors, HasSubstr("'a' is not a semaphore"));
  EXPECT_EQ(holdfast_at(server, {"semaphore", "set", "a", "3"}).how, exited(65));
  server.command({"SET", "hf:{theirs}", "text"});
  EXPECT_EQ(holdfast_at(server, {"semaphore", "get", "theirs"}).how, exited(65));
  EXPECT_EQ(holdfast_at(server, {"semaphore", "get", "--", "-x"}).how, exited(0));
}

TEST(Semaphore, RefusesWrongWords) {
  for (const auto& wrong : std::vector<words>{{},
                                              {"get"},
                                              {"seats"},
                                              {"set", "seats"},
                                              {"set", "seats", "many"},
                                              {"set", "seats", "1.5"},
                                              {"set", "seats", "1000001"},
                                              {"set", "seats", "4294967296"},
                                              {"set", "seats", "--", "-1"},
                                              {"set", "", "1"},
                                              {"get", "a", "b"}}) {
    auto arguments = wrong;
    arguments.insert(arguments.begin(), "semaphore");
    const auto said = holdfast(arguments);
    EXPECT_EQ(said.how, exited(64)) << ::testing::PrintToString(arguments) << said.errors;
  }
}

}  // namespace
}  // namespace holdfast::cli_tests
