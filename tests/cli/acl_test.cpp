// holdfast acl: the line that makes a user.
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

// The words of the line as the server takes them; without a password, as it is printed.
words made_with(const std::string& line, const std::string& password) {
  words all;
  std::istringstream text(line);
  for (std::string word; text >> word;) {
    all.push_back(word == "#SHA256-OF-PASSWORD" && !password.empty() ? ">" + password : word);
  }
  return all;
}

TEST_P(CommandLine, LineOfAclMakesAUserWhoCanLockAndDoNothingElse) {
  const auto server = start();
  const auto said = holdfast({"acl", "orders:*", "--user", "shop"});
  ASSERT_EQ(said.how, exited(0)) << said.errors;
  EXPECT_THAT(said.output, ::testing::StartsWith("ACL SETUSER shop reset on #"));
  EXPECT_THAT(said.output, HasSubstr(" ~hf:{orders:*}* "));
  EXPECT_TRUE(server.command(made_with(said.output, {})).text.starts_with("ERR"))
      << "no password, no user";
  ASSERT_EQ(server.command(made_with(said.output, "s3cret")).text, "OK");
  const words as_shop = {"HOLDFAST_URL=unix://" + server.socket(), "HOLDFAST_USER=shop",
                         "HOLDFAST_PASSWORD=s3cret"};
  EXPECT_EQ(holdfast({"run", "orders:1", "--", "true"}, as_shop).how, exited(0));
  EXPECT_EQ(holdfast({"run", "--shared", "orders:1", "--", "true"}, as_shop).how, exited(0));
  const words of_a_quorum = {"run",      "--member", "unix://" + server.socket(),
                             "orders:1", "--",       "true"};
  EXPECT_EQ(holdfast(of_a_quorum, as_shop).how, exited(0));
  EXPECT_EQ(holdfast({"run", "others", "--", "true"}, as_shop).how, exited(77));
  EXPECT_EQ(holdfast({"counter", "orders:1", "add", "1"}, as_shop).how, exited(77));
  EXPECT_EQ(holdfast({"status", "orders:1"}, as_shop).how, exited(77));
}

// Nothing but the locks of the tenant, and they are none of anybody else's of the same name.
TEST_P(CommandLine, LineOfAclOfATenantIsForItsLocksAlone) {
  const auto server = start();
  const auto said = holdfast({"acl", "--tenant", "blue", "orders:*", "--user", "shop", "--kind",
                              "mutex", "--kind", "operator", "--kind", "counter"});
  ASSERT_EQ(said.how, exited(0)) << said.errors;
  EXPECT_THAT(said.output, HasSubstr(" ~hf:@blue:{orders:*}* "));
  EXPECT_THAT(said.output, HasSubstr(" &hf:@blue:c:* "));
  EXPECT_THAT(said.output, Not(HasSubstr("hf:{")));
  ASSERT_EQ(server.command(made_with(said.output, "s3cret")).text, "OK");
  const words as_shop = {"HOLDFAST_URL=unix://" + server.socket(), "HOLDFAST_USER=shop",
                         "HOLDFAST_PASSWORD=s3cret"};
  const auto as_blue = [&] {
    auto all = as_shop;
    all.emplace_back("HOLDFAST_TENANT=blue");
    return all;
  }();
  EXPECT_EQ(holdfast({"run", "orders:1", "--", "true"}, as_blue).how, exited(0));
  EXPECT_EQ(holdfast({"run", "--tenant", "blue", "orders:1", "--", "true"}, as_shop).how,
            exited(0));
  EXPECT_EQ(holdfast({"run", "orders:1", "--", "true"}, as_shop).how, exited(77));
  EXPECT_EQ(holdfast({"run", "--tenant", "green", "orders:1", "--", "true"}, as_blue).how,
            exited(77));
  // Within the command the same lock is taken, and anybody else's of that name is free.
  const auto inside = [&](const words& tries) {
    words all{"run", "--pass-passwords", "orders:1", "--", HOLDFAST_PROGRAM};
    all.insert(all.end(), tries.begin(), tries.end());
    return holdfast(all, as_blue);
  };
  EXPECT_EQ(inside({"run", "--nonblock", "orders:1", "--", "true"}).how, exited(75));
  EXPECT_THAT(inside({"status", "orders:1"}).output, HasSubstr("orders:1"));
  EXPECT_THAT(inside({"ls", "orders:*"}).output, HasSubstr("orders:1"));
  EXPECT_THAT(holdfast_at(server, {"ls"}).output, Not(HasSubstr("orders:1")));
  EXPECT_EQ(inside({"release", "orders:1", "--force", "--reason", "a test"}).how, exited(76));
  EXPECT_EQ(holdfast({"counter", "orders:1", "add", "5"}, as_blue).output, "5\n");
  EXPECT_EQ(holdfast_at(server, {"counter", "orders:1"}).output, "0\n");
  const auto checked = holdfast({"doctor"}, as_blue);
  EXPECT_EQ(checked.how, exited(0)) << checked.output;
  EXPECT_THAT(server.command({"KEYS", "hf:[^@]*"}).items, IsEmpty());
}

TEST_P(CommandLine, ATenantHasANameAndNoLocksOfOtherLibraries) {
  const auto server = start();
  for (const words& arguments :
       {words{"acl", "a*", "--tenant", "a:b"}, words{"status", "a", "--tenant", "a:b"}}) {
    const auto said = holdfast_at(server, arguments);
    EXPECT_EQ(said.how, exited(64)) << said.errors;
    EXPECT_THAT(said.errors, HasSubstr("'a:b' must be 1 to 64 letters"));
  }
  for (const words& arguments :
       {words{"run", "--dialect", "redisson", "a", "--", "true"},
        words{"status", "--dialect", "redisson", "a"}, words{"ls", "--all-dialects"}}) {
    auto of_blue = arguments;
    of_blue.insert(of_blue.begin() + 1, {"--tenant", "blue"});
    const auto said = holdfast_at(server, of_blue);
    EXPECT_EQ(said.how, exited(78)) << said.errors;
    EXPECT_THAT(said.errors, HasSubstr("not for a client of a tenant ('blue')"));
  }
}

// The keys that these two keep for themselves are the tenant's as well.
TEST_P(CommandLine, DemoAndBenchLeaveAndUseNothingOfOthers) {
  const auto server = start();
  ASSERT_EQ(server
                .command({"ACL", "SETUSER", "shop", "reset", "on", ">s3cret", "~hf:@blue:*",
                          "resetchannels", "&hf:@blue:*", "+@all"})
                .text,
            "OK");
  const words as_blue = {"HOLDFAST_URL=unix://" + server.socket(), "HOLDFAST_USER=shop",
                         "HOLDFAST_PASSWORD=s3cret", "HOLDFAST_TENANT=blue"};
  for (const words& arguments :
       {words{"demo", "--story", "orders", "--processes", "2", "--threads", "5"},
        words{"bench", "--seconds", "1", "--threads", "1"}}) {
    const auto said = holdfast(arguments, as_blue);
    EXPECT_EQ(said.how, exited(0)) << arguments.front() << said.errors;
  }
}

TEST(Acl, TakesOnlyWhatIsChosenAndTellsWhatIsOptional) {
  const auto said =
      holdfast({"acl", "a*", "--kind", "counter", "--kind", "rate limiter", "--json"});
  ASSERT_EQ(said.how, exited(0)) << said.errors;
  const auto json = nlohmann::json::parse(said.output);
  EXPECT_EQ(json["user"], "holdfast");
  const auto rule = json["rule"].get<std::string>();
  EXPECT_THAT(rule, HasSubstr("~hf:counter:{a*} "));
  EXPECT_THAT(rule, HasSubstr("~hf:rate:{a*} "));
  EXPECT_THAT(rule, Not(HasSubstr("+zadd")));
  EXPECT_THAT(rule, Not(HasSubstr("+client|setname")));
  EXPECT_THAT(json["optional"].dump(), HasSubstr("+client|setname"));
}

// The keys of fenced writes are the user's own, and named as they are.
TEST_P(CommandLine, LineOfAclForFencedWritesNamesKeysAsTheyAre) {
  const auto server = start();
  const auto said = holdfast({"acl", "{50%}\x1b:*", "--kind", "fenced write", "--user", "shop"});
  ASSERT_EQ(said.how, exited(0)) << said.errors;
  EXPECT_THAT(said.output, HasSubstr("~{50%}?:* "));
  ASSERT_EQ(server.command(made_with(said.output, "s3cret")).text, "OK");
  const auto may_set = [&](const std::string& key) {
    return server.command({"ACL", "DRYRUN", "shop", "SET", key, "v"}).text;
  };
  if (!may_set("{50%}\x1b:1").starts_with("ERR")) {  // Redis 6.2 does not know the question
    EXPECT_EQ(may_set("{50%}\x1b:1"), "OK");
    EXPECT_NE(may_set("{50%}:1"), "OK");
  }
  const auto lock = holdfast({"acl", "{50%}\x1b:*", "--user", "shop"}).output;
  EXPECT_THAT(lock, HasSubstr("~hf:{%7B50%25%7D%1B:*}* "));
}

TEST(Acl, PrintsNoControlBytes) {
  for (const auto* const user : {"a\x1b[2J", "a\nb", "a\xc2\x9b", "a b"}) {
    const auto said = holdfast({"acl", "a*", "--user", user});
    EXPECT_EQ(said.how, exited(64));
    EXPECT_THAT(said.output + said.errors, Not(HasSubstr(user)));
  }
  EXPECT_EQ(holdfast({"acl", "a*", "--user", "j\xc3\xbcrgen"}).how, exited(0));
}

TEST(Acl, KnowsWhatIsNeededBesideLocks) {
  const auto rule = holdfast({"acl", "a*", "--kind", "deadlocks"}).output;
  EXPECT_THAT(rule, HasSubstr("~hf:waits "));
  EXPECT_THAT(rule, HasSubstr("~hf:{a*}* ")) << "beside all locks";
}

TEST(Acl, SaysWhatItDoesNotKnow) {
  for (const words& wrong : {words{"acl"}, words{"acl", ""}, words{"acl", "a", "--kind", "lock"},
                             words{"acl", "a", "b"}}) {
    EXPECT_EQ(holdfast(wrong).how, exited(64)) << wrong.back();
  }
  EXPECT_THAT(holdfast({"acl", "--", "-x*"}).output, HasSubstr(" ~hf:{-x*"));
  EXPECT_EQ(holdfast({"acl", "a", "--", "-x"}).how, exited(64));
  EXPECT_THAT(holdfast({"acl", "a", "--kind", "lock"}).errors, HasSubstr("'lock'"));
  const auto theirs = holdfast({"acl", "a", "--kind", "Redisson's RLock"});
  EXPECT_EQ(theirs.how, exited(64));
  EXPECT_THAT(theirs.errors, HasSubstr("another library"));
}

}  // namespace
}  // namespace holdfast::cli_tests
