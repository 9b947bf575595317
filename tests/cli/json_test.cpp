// What the program says with --json, beside what it shows: that is tested where it is shown.
#include <nlohmann/json.hpp>
#include <set>

#include "cli/help.hpp"
#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;

HOLDFAST_ON_EACH_SERVER(CommandLine);

TEST_P(CommandLine, RefusalsAndNotesAreJsonWhenAskedFor) {
  const auto server = start();
  const auto leads = holdfast_at(server, {"--json", "elect", "a", "--", "true"});
  EXPECT_EQ(leads.how, exited(0));
  EXPECT_EQ(json::parse(leads.errors)["note"]["code"], "leads");

  child_process held(call_at(server, {"--json", "run", "--lease", "600ms", "--grace", "100ms", "a",
                                      "--", "sh", "-c", "echo in.; exec sleep 600"}));
  ASSERT_TRUE(held.wait_for_output("in."));
  const auto late = holdfast_at(server, {"--json", "run", "--wait", "50ms", "a", "--", "true"});
  EXPECT_EQ(late.how, exited(75));
  EXPECT_EQ(json::parse(late.errors)["error"]["code"], "timed_out");

  const words break_it{"--json", "release", "a", "--force", "--reason", "a test"};
  const auto broken = json::parse(holdfast_at(server, break_it).output);
  EXPECT_EQ(broken["broken"], true);
  EXPECT_EQ(broken["was"]["owner"]["pid"], held.pid());
  EXPECT_EQ(held.wait(), exited(76));
  EXPECT_EQ(json::parse(held.errors())["note"]["code"], "lost");
  EXPECT_EQ(json::parse(holdfast_at(server, break_it).output)["broken"], false);
}

// What `run` and `elect` print is their command's; `serve` prints nothing, and goes on; tests of
// their own read what `demo` prints.
TEST_P(CommandLine, EveryResultIsOneDocumentWhenAskedFor) {
  const auto server = start();
  const std::vector<words> all = {{"status", "a"},
                                  {"ls"},
                                  {"watch", "a", "--count", "1"},
                                  {"audit", "a"},
                                  {"release", "a", "--force", "--reason", "a test"},
                                  {"counter", "a", "get"},
                                  {"semaphore", "get", "a"},
                                  {"capabilities"},
                                  {"doctor"},
                                  {"acl", "*"},
                                  {"completion", "bash"},
                                  {"bench", "--seconds", "1"}};
  std::set<std::string> tried = {"run", "elect", "demo", "serve"};
  for (auto arguments : all) {
    const auto command = arguments.front();
    tried.insert(command);
    arguments.emplace_back("--json");
    const auto said = holdfast_at(server, arguments);
    EXPECT_TRUE(json::accept(said.output)) << command << ": " << said.output;
    EXPECT_THAT(said.errors, IsEmpty()) << command;
  }
  for (const auto& command : commands()) EXPECT_TRUE(tried.contains(command)) << command;
  EXPECT_TRUE(json::parse(holdfast({"--json", "--version"}).output)["version"].is_string());
  const auto script = json::parse(holdfast({"--json", "completion", "zsh"}).output);
  EXPECT_EQ(script["script"], holdfast({"completion", "zsh"}).output);
}

}  // namespace
}  // namespace holdfast::cli_tests
