// holdfast run under every kind of lock: what holds for a mutex holds for each.
#include <csignal>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

struct kind {
  words chosen;    // on the command line
  words excluded;  // a choice that cannot be there at the same time
  std::string name = "a";
  words key = {"hf:{a}"};
};

const std::vector<kind>& kinds() {
  static const std::vector<kind> all = {
      {{"--shared", "a"}, {"--exclusive", "a"}},
      {{"--exclusive", "a"}, {"--shared", "a"}},
      {{"--exclusive", "a"}, {"--exclusive", "a"}},
      {{"--permits", "2/3", "a"}, {"--permits", "2/3", "a"}},
      {{"--fair", "a"}, {"a"}},
      {{"--all-of", "a,b"}, {"b"}, "a,b", {"hf:{a}", "hf:{b}"}},
      {{"--all-of", "a,b"}, {"--all-of", "c,b"}, "a,b", {"hf:{a}", "hf:{b}"}},
  };
  return all;
}

words run_with(words options, const words& chosen, const words& command) {
  options.insert(options.begin(), "run");
  options.insert(options.end(), chosen.begin(), chosen.end());
  options.emplace_back("--");
  options.insert(options.end(), command.begin(), command.end());
  return options;
}

const words wait_inside = {"sh", "-c", "echo in.; exec cat"};

void expect_nothing_left(const private_server& server, const kind& one) {
  for (const auto& key : one.key) EXPECT_EQ(server.command({"EXISTS", key}).number, 0) << key;
}

TEST_P(CommandLine, EveryKindTellsNameAndTokenAndPassesTheExitCodeOn) {
  const auto server = start();
  for (const auto& one : kinds()) {
    const auto show = "echo $HOLDFAST_NAME; echo $HOLDFAST_TOKEN; echo $HOLDFAST_TOKENS; exit 7";
    const auto first = holdfast_at(server, run_with({}, one.chosen, {"sh", "-c", show}));
    EXPECT_EQ(first.how, exited(7)) << first.errors;
    std::istringstream lines(first.output);
    std::string name;
    std::uint64_t token = 0;
    std::string tokens;
    lines >> name >> token >> tokens;
    EXPECT_EQ(name, one.name);
    EXPECT_THAT(tokens, HasSubstr("a="));
    EXPECT_THAT(tokens, HasSubstr("=" + std::to_string(token)));
    const auto again =
        holdfast_at(server, run_with({}, one.chosen, {"sh", "-c", "echo $HOLDFAST_TOKEN"}));
    EXPECT_LT(token, std::stoull(again.output)) << ::testing::PrintToString(one.chosen);
    expect_nothing_left(server, one);
  }
}

TEST_P(CommandLine, EveryKindExcludesWhatItShouldAndSaysWhoHasIt) {
  const auto server = start();
  for (const auto& one : kinds()) {
    child_process holder(call_at(server, run_with({}, one.chosen, wait_inside)));
    ASSERT_TRUE(holder.wait_for_output("in.")) << holder.errors();
    const auto busy = holdfast_at(server, run_with({"--nonblock"}, one.excluded, {"true"}));
    EXPECT_EQ(busy.how, exited(75)) << ::testing::PrintToString(one.excluded);
    EXPECT_THAT(busy.errors, HasSubstr(std::to_string(holder.pid())));
    const auto late = holdfast_at(server, run_with({"--wait", "50ms"}, one.excluded, {"true"}));
    EXPECT_EQ(late.how, exited(75)) << ::testing::PrintToString(one.excluded);

    child_process next(call_at(server, run_with({}, one.excluded, {"echo", "next"})));
    const auto queue = one.key.back() + ":w";
    ASSERT_TRUE(eventually([&] { return server.command({"ZCARD", queue}).number == 1; }));
    holder.close_input();
    EXPECT_EQ(holder.wait(), exited(0));
    EXPECT_EQ(next.wait(), exited(0)) << next.errors();
    EXPECT_EQ(next.output(), "next\n");
  }
}

TEST_P(CommandLine, ReadersAndPermitsAreHeldTogether) {
  const auto server = start();
  const std::vector<words> together = {{"--shared", "a"}, {"--permits", "1/2", "b"}};
  for (const auto& chosen : together) {
    child_process holder(call_at(server, run_with({}, chosen, wait_inside)));
    ASSERT_TRUE(holder.wait_for_output("in."));
    EXPECT_EQ(holdfast_at(server, run_with({"--nonblock"}, chosen, {"true"})).how, exited(0));
  }
}

TEST_P(CommandLine, EveryKindTerminatesTheCommandWhenItIsLost) {
  const auto server = start();
  for (const auto& one : kinds()) {
    child_process program(call_at(
        server, run_with({"--lease", "600ms", "--grace", "100ms"}, one.chosen,
                         {"sh", "-c", "trap '' TERM; echo in.; while :; do sleep 1; done"})));
    ASSERT_TRUE(program.wait_for_output("in."));
    server.command({"DEL", one.key.back()});
    EXPECT_EQ(program.wait(), exited(76)) << ::testing::PrintToString(one.chosen);
    EXPECT_THAT(program.errors(),
                HasSubstr("'" + one.name + "' is lost; the command is terminated"));
    expect_nothing_left(server, one);
  }
}

TEST_P(CommandLine, EveryKindEndsWithTheCommandWhenTheServerIsGone) {
  for (const auto& one : kinds()) {
    auto server = start();
    child_process program(
        call_at(server, run_with({"--lease", "600ms", "--grace", "100ms"}, one.chosen,
                                 {"sh", "-c", "echo in.; exec cat"})));
    ASSERT_TRUE(program.wait_for_output("in."));
    server.kill9();
    EXPECT_EQ(program.wait(), exited(76)) << ::testing::PrintToString(one.chosen);
    EXPECT_EQ(holdfast_at(server, run_with({}, one.chosen, {"true"})).how, exited(69));
  }
}

TEST_P(CommandLine, EveryKindGivesBackWhenASignalEndsTheCommandOrTheWaiting) {
  const auto server = start();
  for (const auto& one : kinds()) {
    child_process holder(call_at(server, run_with({}, one.chosen, wait_inside)));
    ASSERT_TRUE(holder.wait_for_output("in."));
    child_process next(call_at(server, run_with({}, one.excluded, {"echo", "next"})));
    const auto queue = one.key.back() + ":w";
    ASSERT_TRUE(eventually([&] { return server.command({"ZCARD", queue}).number == 1; }));
    next.signal(SIGTERM);
    EXPECT_EQ(next.wait(), exited(128 + SIGTERM));
    EXPECT_THAT(next.output(), IsEmpty());
    EXPECT_EQ(server.command({"ZCARD", queue}).number, 0);
    holder.signal(SIGTERM);
    EXPECT_EQ(holder.wait(), exited(128 + SIGTERM));
    expect_nothing_left(server, one);
  }
}

TEST(RunKinds, RefusesWhatContradicts) {
  const std::vector<words> wrong = {
      {"--shared", "--exclusive", "a"},
      {"--shared", "--fair", "a"},
      {"--exclusive", "--permits", "1/2", "a"},
      {"--fair", "--permits", "1/2", "a"},
      {"--all-of", "a,b", "--shared"},
      {"--all-of", "a,b", "--fair"},
      {"--all-of", "a,b", "c"},
      {"--all-of", "a,a"},
      {"--all-of", "a,,b"},
      {"--all-of", ""},
      {"--all-of", "a," + std::string(513, 'x')},
      {"--all-of"},
      {"--shared"},
      {"--permits", "1/2"},
      {"--permits", "a"},
      {"--permits", "2", "a"},
      {"--permits", "3/2", "a"},
      {"--permits", "0/2", "a"},
      {"--permits", "1/0", "a"},
      {"--permits", "-1/2", "a"},
      {"--permits", "1/1000001", "a"},
      {"--permits", "1/2/3", "a"},
      {"--permits", "1/", "a"},
      {"--permits", "/2", "a"},
      {"--permits", "", "a"},
      {"--permits", "1/2", "--permits", "1/3", "a"},
      {"--permits", "4294967297/4294967297", "a"},
  };
  for (const auto& chosen : wrong) {
    const auto said = holdfast(run_with({}, chosen, {"true"}));
    EXPECT_EQ(said.how, exited(64)) << ::testing::PrintToString(chosen) << said.errors;
    EXPECT_THAT(said.errors, HasSubstr("holdfast: ")) << ::testing::PrintToString(chosen);
  }
}

TEST_P(CommandLine, AKeyOfAnotherKindIsToldAndNotWaitedFor) {
  const auto server = start();
  child_process holder(call_at(server, {"run", "a", "--", "sh", "-c", "echo in.; exec cat"}));
  ASSERT_TRUE(holder.wait_for_output("in."));
  for (const auto& chosen : std::vector<words>{{"--shared", "a"}, {"--permits", "1/2", "a"}}) {
    const auto said = holdfast_at(server, run_with({}, chosen, {"true"}));
    EXPECT_EQ(said.how, exited(65)) << said.errors;
  }
}

}  // namespace
}  // namespace holdfast::cli_tests
