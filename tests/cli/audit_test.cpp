// holdfast audit, and what run and elect write for it.
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;

HOLDFAST_ON_EACH_SERVER(CommandLine);

json records(const private_server& server, const std::string& pattern) {
  const auto said = holdfast_at(server, {"audit", pattern, "--json"});
  EXPECT_EQ(said.how, exited(0)) << said.errors;
  return json::parse(said.output)["records"];
}

TEST_P(CommandLine, ARunIsInTheTrail) {
  const auto server = start();
  const auto run = holdfast_at(server, {"run", "--audit", "night*", "nightly", "--", "true"});
  EXPECT_EQ(run.how, exited(0)) << run.errors;
  const auto all = records(server, "nightly");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["name"], "nightly");
  EXPECT_EQ(all[0]["how"], "released");
  EXPECT_TRUE(all[0]["token"].is_string());
  EXPECT_EQ(all[0]["owner"]["program"], "holdfast");
  for (const auto* const time : {"granted", "ended"}) {
    EXPECT_THAT(all[0][time].get<std::string>(), ::testing::MatchesRegex("20..-..-..T..:..:..Z"));
  }
  const auto table = holdfast_at(server, {"audit", "night*", "--since", "1h"});
  EXPECT_EQ(table.how, exited(0));
  EXPECT_THAT(table.output,
              ::testing::MatchesRegex("NAME +HOST [^\n]*REASON\nnightly .*released\n"));
  EXPECT_EQ(table.errors, "");
}

TEST_P(CommandLine, TheVariableIsForRunAndElectAlone) {
  const auto server = start();
  const auto with = [&](words arguments) {
    return support::run(
        call(std::move(arguments), {"HOLDFAST_URL=" + server.url(), "HOLDFAST_AUDIT=a*"}));
  };
  EXPECT_EQ(with({"run", "b", "--", "true"}).how, exited(0));
  EXPECT_EQ(with({"counter", "a", "add", "1"}).how, exited(0));
  EXPECT_EQ(server.command({"EXISTS", "hf:trail"}).number, 0);
  EXPECT_EQ(with({"run", "a1", "--", "true"}).how, exited(0));
  EXPECT_EQ(with({"elect", "a2", "--", "true"}).how, exited(0));
  EXPECT_EQ(records(server, "a?").size(), 2U);
}

TEST_P(CommandLine, ABreakTellsByWhomAndWhy) {
  const auto server = start();
  const holder one(server, "nightly");
  EXPECT_EQ(
      holdfast_at(server, {"release", "nightly", "--force", "--reason", "it \x1b[2J hangs"}).how,
      exited(0));
  const auto all = records(server, "nightly");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["how"], "broken");
  EXPECT_EQ(all[0]["reason"], "it \x1b[2J hangs");
  EXPECT_THAT(all[0]["by"].get<std::string>(), HasSubstr("@"));
  const auto table = holdfast_at(server, {"audit", "nightly"}).output;
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_THAT(table, HasSubstr("hangs"));
}

TEST_P(CommandLine, AnAuditThatFindsNothingOrNotAllSaysSo) {
  const auto server = start();
  const auto none = holdfast_at(server, {"audit", "nightly"});
  EXPECT_EQ(none.how, exited(0));
  EXPECT_THAT(none.errors, HasSubstr("--audit"));
  server.command({"EVAL", "for i = 1, 10001 do redis.call('XADD', KEYS[1], '*', 'event', 'x') end",
                  "1", "hf:trail"});
  const auto cut = holdfast_at(server, {"audit", "nightly"});
  EXPECT_EQ(cut.how, exited(3));
  EXPECT_THAT(cut.errors, HasSubstr("does not reach back"));
  EXPECT_EQ(holdfast_at(server, {"audit", "nightly", "--json"}).how, exited(3));
}

TEST(Audit, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(holdfast({"audit"}).how, exited(64));
  EXPECT_EQ(holdfast({"audit", "a", "--since", "yesterday"}).how, exited(64));
  EXPECT_EQ(holdfast({"audit", "a", "b"}).how, exited(64));
  const auto theirs = holdfast({"run", "--audit", "*", "--dialect", "redisson", "a", "--", "true"});
  EXPECT_EQ(theirs.how, exited(64));
  EXPECT_THAT(theirs.errors, HasSubstr("--audit"));
  EXPECT_EQ(holdfast({"audit", "a"}, {"HOLDFAST_URL=redis://127.0.0.1:1"}).how, exited(69));
}

}  // namespace
}  // namespace holdfast::cli_tests
