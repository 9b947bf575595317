// holdfast counter.
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

TEST_P(CommandLine, CountsAndTellsTheNumber) {
  const auto server = start();
  const auto expect = [&](words arguments, int code, const std::string& output) {
    arguments.insert(arguments.begin(), "counter");
    const auto said = holdfast_at(server, arguments);
    EXPECT_EQ(said.how, exited(code)) << ::testing::PrintToString(arguments) << said.errors;
    EXPECT_EQ(said.output, output) << ::testing::PrintToString(arguments);
  };
  expect({"stock"}, 0, "0\n");
  expect({"stock", "set", "5"}, 0, "5\n");
  expect({"stock", "add", "2"}, 0, "7\n");
  expect({"stock", "sub", "6"}, 0, "1\n");
  expect({"stock", "sub", "6"}, 1, "1\n");
  expect({"stock", "cas", "2", "9"}, 1, "1\n");
  expect({"stock", "cas", "1", "9"}, 0, "9\n");
  expect({"stock", "get"}, 0, "9\n");
  expect({"--", "-stock", "add", "-3"}, 0, "-3\n");
  expect({"stock", "add", "--", "-10"}, 0, "-1\n");
}

TEST_P(CommandLine, CountsInJson) {
  const auto server = start();
  const auto told = nlohmann::json::parse(
      holdfast_at(server, {"counter", "stock", "add", "9007199254740993", "--json"}).output);
  EXPECT_EQ(told["name"], "stock");
  EXPECT_EQ(told["changed"], true);
  EXPECT_EQ(told["value"].get<std::int64_t>(), 9007199254740993);
}

TEST_P(CommandLine, CounterThatIsNoneIsSaid) {
  const auto server = start();
  server.command({"SET", "hf:counter:{stock}", "text"});
  const auto said = holdfast_at(server, {"counter", "stock", "add", "1"});
  EXPECT_EQ(said.how, exited(65));
  EXPECT_THAT(said.errors, HasSubstr("is not a counter"));
  EXPECT_EQ(server.command({"GET", "hf:counter:{stock}"}).text, "text");
}

}  // namespace
}  // namespace holdfast::cli_tests
