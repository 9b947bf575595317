// A quorum as operators see it.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "embedded/directories.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;

class QuorumCommandLine : public CommandLine {
 protected:
  void make(std::size_t members) {
    for (std::size_t i = 0; i < members; ++i) {
      servers_.push_back(start());
      members_.push_back(servers_.back().url());
    }
  }
  const private_server& server(std::size_t i) const { return servers_[i]; }
  // All know the hash slot of `q`, which somebody has used, and have no vote for it: who was asked
  // last may have missed that.
  void settle() const {
    std::string fence;
    for (const auto& each : servers_) {
      const auto keys = each.command({"KEYS", "hf:q:fence:*"}).items;
      if (!keys.empty()) fence = keys.front().text;
    }
    ASSERT_FALSE(fence.empty());
    const auto out = "hf:q:out:" + fence.substr(fence.find('{'));
    for (const auto& each : servers_) {
      each.command({"SET", fence, "1795240014867674"});
      each.command({"DEL", out, "hf:q:{q}"});
    }
  }
  void replace(std::size_t member, const std::string& url) { members_[member] = url; }

  program_call call_of(words arguments) const {
    auto command = arguments.begin() + 1;
    for (const auto& each : members_) {
      command = arguments.insert(command, {"--member", each}) + 2;
    }
    return call(std::move(arguments));
  }
  finished of_the_quorum(words arguments) const {
    return support::run(call_of(std::move(arguments)));
  }

 private:
  std::vector<private_server> servers_;
  words members_;
};
HOLDFAST_ON_EACH_SERVER(QuorumCommandLine);

TEST_P(QuorumCommandLine, DoesNotWaitForItself) {
  make(3);
  const auto inner = call_of({"run", "q", "--", "echo", "in"});
  words outer = {"run", "q", "--", HOLDFAST_PROGRAM};
  outer.insert(outer.end(), inner.arguments.begin(), inner.arguments.end());
  const auto said = of_the_quorum(outer);
  EXPECT_EQ(said.how, exited(70)) << said.errors;
  EXPECT_THAT(said.errors, HasSubstr("each would wait for the other"));
  EXPECT_THAT(said.output, IsEmpty());
}

TEST_P(QuorumCommandLine, DoctorLooksAtAllMembersAndAtTheWhole) {
  make(3);
  const auto healthy = of_the_quorum({"doctor"});
  EXPECT_EQ(healthy.how, exited(0)) << healthy.output << healthy.errors;
  for (int i = 0; i < 3; ++i) EXPECT_THAT(healthy.output, HasSubstr(server(i).url() + ": "));
  EXPECT_THAT(healthy.output, ::testing::ContainsRegex("majority +ok +3 of 3 members answer"));
  replace(1, "unix:///nowhere/a");
  const auto sick = of_the_quorum({"doctor", "--json"});
  EXPECT_EQ(sick.how, exited(1));
  EXPECT_THAT(sick.output, HasSubstr("2 of 3 members answer"));
  EXPECT_TRUE(json::parse(sick.output)["findings"].is_array());
  replace(0, "unix:///nowhere/b");
  replace(2, "unix:///nowhere/c");
  EXPECT_EQ(of_the_quorum({"doctor"}).how, exited(69)) << "as with one server";
  replace(2, "unix:///nowhere/b");
  const auto twice = of_the_quorum({"doctor"});
  EXPECT_THAT(twice.errors, HasSubstr("are the same server"));
}

TEST_P(QuorumCommandLine, StatusTellsTheVotesAndReleaseTakesThem) {
  make(3);
  child_process holds(
      call_of({"run", "--lease", "3s", "q", "--", "sh", "-c", "echo in.; exec cat"}));
  ASSERT_TRUE(holds.wait_for_output("in."));
  const auto seen = [&] {
    return json::parse(of_the_quorum({"status", "q", "--json"}).output)["locks"][0];
  };
  ASSERT_TRUE(eventually([&] { return seen()["votes"] == 3; }));
  const auto lock = seen();
  EXPECT_EQ(lock["state"], "held");
  EXPECT_EQ(lock["owner"]["pid"], holds.pid());
  EXPECT_GT(lock["remaining_ms"], 0);
  EXPECT_EQ(lock["members"][2]["member"], server(2).url());
  EXPECT_EQ(lock["members"][2]["vote"]["state"], "held");
  const auto table = of_the_quorum({"status", "q", "other"});
  EXPECT_EQ(table.how, exited(0));
  EXPECT_THAT(table.output, ::testing::ContainsRegex("q +held +3/3 "));
  EXPECT_THAT(table.output, HasSubstr("other  free"));
  EXPECT_THAT(table.output, ::testing::ContainsRegex(server(1).url() + " +voted "));
  EXPECT_THAT(of_the_quorum({"status", "q", "--dialect", "redlock"}).output,
              ::testing::ContainsRegex("q +free"))
      << "a lock of another library's";

  const words release = {"release", "q", "--force", "--reason", "a test"};
  const auto broken = of_the_quorum(release);
  EXPECT_EQ(broken.how, exited(0)) << broken.errors;
  EXPECT_THAT(broken.output, ::testing::ContainsRegex(" at [23] of 3 members"))
      << "a holder that finds a majority gone gives back the last vote itself";
  EXPECT_THAT(broken.output, HasSubstr(":" + std::to_string(holds.pid()) + " holdfast"));
  EXPECT_EQ(holds.wait(), exited(76)) << "its next renewal tells it";
  const auto again = of_the_quorum(release);
  EXPECT_EQ(again.how, exited(1));
  EXPECT_EQ(again.output, "nobody held q\n");

  server(2).command({"SET", "hf:q:{q}", "1:77:somebody", "PX", "60000"});
  EXPECT_THAT(of_the_quorum({"status", "q"}).output, HasSubstr("q     free\n"));
  replace(1, "unix:///nowhere/a");
  const auto unsure = of_the_quorum({"status", "q"});
  EXPECT_EQ(unsure.how, exited(3));
  EXPECT_THAT(unsure.output, HasSubstr("q     unknown\n"));
  EXPECT_THAT(unsure.output, HasSubstr("no answer: "));
  EXPECT_THAT(unsure.errors, HasSubstr("q may be held: too few members answer"));
  const auto single = of_the_quorum(release);
  EXPECT_EQ(single.how, exited(1));
  EXPECT_EQ(single.output, "no majority held q; the votes of 1 of 3 members were taken away\n");
  EXPECT_THAT(single.errors, HasSubstr("unix:///nowhere/a keeps its vote"));
  replace(2, "unix:///nowhere/b");
  EXPECT_EQ(of_the_quorum(release).how, exited(69));
}

// A member without memory stays out for as long as it is told.
TEST_P(QuorumCommandLine, LongestLeaseIsThatOfTheFleet) {
  make(3);
  const auto run = [&](words how) {
    words all = {"run"};
    all.insert(all.end(), how.begin(), how.end());
    for (const auto* word : {"q", "--", "echo", "in"}) all.emplace_back(word);
    return of_the_quorum(all);
  };
  const auto refused = run({"--lease", "31s"});
  EXPECT_EQ(refused.how, exited(64));
  EXPECT_THAT(refused.errors, HasSubstr("--longest-lease, 30.0s"));
  EXPECT_EQ(run({"--lease", "31s", "--longest-lease", "5m"}).output, "in\n");
  settle();
  server(1).command({"FLUSHALL"});
  const auto stays_out = [&] {
    EXPECT_EQ(run({"--longest-lease", "5m"}).output, "in\n");
    const auto votes = of_the_quorum({"status", "q", "--json"}).output;
    return json::parse(votes)["locks"][0]["members"][1].value("stays_out_ms", 0) > 200'000;
  };
  EXPECT_TRUE(eventually(stays_out));
  const auto alone = holdfast_at(server(0), {"run", "--longest-lease", "5m", "q", "--", "true"});
  EXPECT_EQ(alone.how, exited(64));
  EXPECT_THAT(alone.errors, HasSubstr("--member"));
}

TEST_P(QuorumCommandLine, MembersOfAFileMayHavePasswordsOfTheirOwn) {
  make(1);
  server(0).command({"ACL", "SETUSER", "shop", "on", ">secret-1", "~*", "&*", "+@all"});
  const auto second = start({.arguments = {"--requirepass", "secret-2"}});
  const auto third = start({.arguments = {"--requirepass", "secret-3"}});
  const embedded::private_directory folder;
  const auto file = folder.path() / "members";
  std::ofstream(file) << "# all of them\n\n  " << logged_in(server(0).url(), "shop:secret-1")
                      << "\r\n"
                      << logged_in(second.url(), ":secret-2") << "\n"
                      << third.url();
  EXPECT_THAT(holdfast({"status", "q", "--members-file", file.string()}).errors,
              HasSubstr("can be read by every user"));
  std::filesystem::permissions(file, std::filesystem::perms(0640));
  const auto ask = [&](words arguments, const std::string& password) {
    arguments.insert(arguments.begin() + 1, {"--members-file", file.string()});
    const auto said =
        holdfast(arguments, {"HOLDFAST_USER=default", "HOLDFAST_PASSWORD=" + password});
    EXPECT_THAT(said.output + said.errors, Not(HasSubstr("secret")));
    return said;
  };
  const auto ran = ask({"run", "q", "--", "sh", "-c", "echo $HOLDFAST_TOKEN"}, "secret-3");
  EXPECT_EQ(ran.how, exited(0)) << ran.errors;
  EXPECT_THAT(ran.output, ::testing::MatchesRegex("[0-9]+\n"));
  EXPECT_EQ(ask({"status", "q"}, "secret-3").how, exited(0));
  EXPECT_EQ(ask({"release", "q", "--force", "--reason", "a test"}, "secret-3").how, exited(1));
  EXPECT_THAT(ask({"doctor"}, "secret-3").output, HasSubstr("3 of 3 members answer"));
  EXPECT_THAT(ask({"doctor"}, "wrong").output, HasSubstr("2 of 3 members answer"));
}

TEST(QuorumOfCommandLine, RefusesLinesOfAFileByTheirNumber) {
  const embedded::private_directory folder;
  const auto file = (folder.path() / "members").string();
  const auto refusal = [&](const std::string& text, const words& more = {}) {
    std::ofstream(file) << text;
    std::filesystem::permissions(file, std::filesystem::perms(0600));
    words all = {"status", "q", "--members-file", file};
    all.insert(all.end(), more.begin(), more.end());
    return holdfast(all);
  };
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"# all\n\nunix:///nowhere/a\nredis://me:secret@a:x\n",
       "line 4 of the members file '" + file},
      {"redis://me:secret@a  # the first\n", "line 1 of the members file '" + file},
      {"me:secret@a\n", "line 1 of the members file '" + file},
      {"# none\n\n", "names no member"}};
  for (const auto& [text, why] : wrong) {
    const auto said = refusal(text);
    EXPECT_EQ(said.how, exited(78)) << text;
    EXPECT_THAT(said.errors, HasSubstr(why));
    EXPECT_THAT(said.errors, Not(HasSubstr("secret")));
  }
  EXPECT_EQ(refusal("", {"--member", "unix:///nowhere/a"}).how, exited(64));
  for (const auto* name : {"/nowhere/members", "", "/tmp"}) {
    const auto said = holdfast({"status", "q", "--members-file", name});
    EXPECT_EQ(said.how, exited(78)) << name;
    EXPECT_THAT(said.errors, HasSubstr(std::string("members file '") + name));
  }
  const auto on_line = holdfast({"status", "q", "--member", "redis://:secret@a"});
  EXPECT_EQ(on_line.how, exited(64));
  EXPECT_THAT(on_line.errors, HasSubstr("--members-file"));
  EXPECT_THAT(holdfast({"status", "q", "--member", "redis://a", "--quarantine", "1s"}).errors,
              HasSubstr("--quarantine has no effect on the votes"));
}

TEST(QuorumOfCommandLine, RefusesWhatMembersCannotDecideAndSaysWhy) {
  const std::vector<std::pair<words, std::string>> all = {
      {{"--fair"}, "--fair: not possible over a quorum: each member would have a queue of its own"},
      {{"--shared"}, "--shared: not possible over a quorum: a member votes for one holder"},
      {{"--exclusive"}, "--exclusive: not possible over a quorum: a member votes for one holder"},
      {{"--permits", "1/2"}, "--permits: not possible over a quorum: of two permits three could"}};
  for (const auto& [option, why] : all) {
    words command = {"run", "--member", "unix:///nowhere/a", "--member", "unix:///nowhere/b"};
    command.insert(command.end(), option.begin(), option.end());
    command.insert(command.end(), {"x", "--", "true"});
    const auto refused = support::run(call(command));
    EXPECT_EQ(refused.how, exited(64));
    EXPECT_THAT(refused.errors, HasSubstr(why));
  }
}

}  // namespace
}  // namespace holdfast::cli_tests
