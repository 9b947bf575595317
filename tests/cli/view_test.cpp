// status, ls, release, doctor: what operators see.
#include <unistd.h>

#include <array>
#include <csignal>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

using nlohmann::json;

std::string host() {
  std::array<char, 256> name{};
  EXPECT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  return name.data();
}

TEST_P(CommandLine, StatusTellsWhoHolds) {
  const auto server = start();
  const holder one(server, "orders");
  const auto table = holdfast_at(server, {"status", "orders", "free one"});
  EXPECT_EQ(table.how, exited(0));
  EXPECT_THAT(table.output, HasSubstr("free one  free"));
  const auto locks =
      json::parse(holdfast_at(server, {"--json", "status", "orders", "free one"}).output)["locks"];
  const auto& owner = locks[0]["owner"];
  EXPECT_EQ(owner["host"], host());
  EXPECT_EQ(owner["pid"], one.pid());
  EXPECT_EQ(owner["program"], "holdfast");
  EXPECT_TRUE(locks[0]["token"].is_string());
  const std::string since = locks[0]["since"];
  EXPECT_THAT(since, ::testing::MatchesRegex("20..-..-..T..:..:..Z"));
  std::istringstream shown(table.output.substr(table.output.find('\n')));
  const words row{std::istream_iterator<std::string>(shown), {}};
  ASSERT_GT(row.size(), 9U);
  EXPECT_EQ(words(row.begin(), row.begin() + 9),
            (words{"orders", "held", "mutex", "1", host(), std::to_string(one.pid()), "holdfast",
                   since, locks[0]["token"]}));
  EXPECT_GT(locks[0]["remaining_ms"], 0);
  EXPECT_EQ(locks[1]["state"], "free");
}

TEST_P(CommandLine, NamesOfCommandsAndBracketsAreNames) {
  const auto server = start();
  const words odd = {"run", "[a,b]", "{}", "%%", "--json", "--", "-x", "--"};
  words arguments = {"status"};
  arguments.insert(arguments.end(), odd.begin(), odd.end());
  const auto locks = json::parse(holdfast_at(server, arguments).output)["locks"];
  std::vector<std::string> names;
  for (const auto& lock : locks) names.push_back(lock["name"]);
  EXPECT_EQ(names, (words{"run", "[a,b]", "{}", "%%", "-x", "--"}));
}

TEST_P(CommandLine, ListsInBounds) {
  const auto server = start();
  const holder a(server, "orders:1");
  const holder b(server, "orders:2");
  const holder c(server, "stock");
  const auto all = json::parse(holdfast_at(server, {"ls", "orders:*", "--json"}).output);
  EXPECT_EQ(all["complete"], true);
  ASSERT_EQ(all["locks"].size(), 2U);
  EXPECT_EQ(all["locks"][1]["name"], "orders:2");
  const auto some = holdfast_at(server, {"ls", "--limit", "2"});
  EXPECT_THAT(some.errors, HasSubstr("--limit"));
  EXPECT_THAT(some.output, Not(HasSubstr("stock")));
  const auto two = json::parse(holdfast_at(server, {"ls", "--limit", "2", "--json"}).output);
  EXPECT_EQ(two["complete"], false);
  EXPECT_EQ(two["locks"].size(), 2U);
  EXPECT_EQ(some.how, exited(3)) << "the list is not complete";
}

TEST_P(CommandLine, ALockThatCannotBeSeenHidesNoOther) {
  const auto server = start();
  const holder one(server, "mine");
  const holder other(server, "theirs");
  ASSERT_EQ(server
                .command({"ACL", "SETUSER", "some", "on", "nopass", "+@all", "&*", "~hf:{mine}*",
                          "~hf:[^{]*"})
                .text,
            "OK");
  const auto ask = [&](words arguments) {
    auto as_some = call_at(server, std::move(arguments));
    as_some.environment.emplace_back("HOLDFAST_USER=some");
    return support::run(as_some);
  };
  for (const auto& command : {words{"ls"}, words{"status", "theirs", "mine"}}) {
    const auto said = ask(command);
    EXPECT_EQ(said.how, exited(3)) << said.errors;
    EXPECT_THAT(said.output, HasSubstr("\nmine "));
    EXPECT_THAT(said.errors, HasSubstr("theirs cannot be seen: "));
  }
  EXPECT_EQ(ask({"ls", "theirs"}).how, exited(77)) << "nothing was seen";
}

TEST_P(CommandLine, NamesCannotSteerTheTerminal) {
  const auto server = start();
  const std::string evil =
      "\x1b]0;owned\x07\r\n\xe2\x80\xae"
      "gnp\xff\xc2\x9b"
      "2J\\ \xc3\xa9";
  const holder one(server, evil);
  const auto table = holdfast_at(server, {"ls"}).output;
  EXPECT_THAT(table, HasSubstr(R"(\x1b]0;owned\x07\r\n\u{202e}gnp\xff\u{9b}2J\\ )"
                               "\xc3\xa9"));
  const auto text = holdfast_at(server, {"ls", "--json"}).output;
  for (const unsigned char byte : table + text)
    EXPECT_TRUE(byte >= ' ' || byte == '\n') << int{byte};
  for (const unsigned char byte : text) EXPECT_LT(byte, 0x7f);
  EXPECT_THAT(std::string(json::parse(text)["locks"][0]["name_hex"]), HasSubstr("1b5d303b"));
  const auto busy = holdfast_at(server, {"run", "--nonblock", evil, "--", "true"});
  EXPECT_EQ(busy.how, exited(75));
  EXPECT_THAT(busy.errors, Not(HasSubstr("\x1b")));
}

TEST_P(CommandLine, ForeignKeysAreShownAsSuch) {
  const auto server = start();
  server.command({"SET", "hf:{theirs}", "\x1b[31mred"});
  const auto said = holdfast_at(server, {"status", "theirs"});
  EXPECT_THAT(said.output, HasSubstr("not a Holdfast lock"));
  EXPECT_THAT(said.output, Not(HasSubstr("\x1b")));
  for (const auto& arguments : {words{"run", "--nonblock", "theirs", "--", "true"},
                                words{"run", "--shared", "theirs", "--", "true"},
                                words{"run", "--permits", "1/2", "theirs", "--", "true"},
                                words{"release", "theirs", "--force", "--reason", "a test"}}) {
    const auto refused = holdfast_at(server, arguments);
    EXPECT_EQ(refused.how, exited(65)) << arguments.front();
    EXPECT_THAT(refused.errors, HasSubstr("the key hf:{theirs} holds something else"));
  }
}

TEST_P(CommandLine, DoctorFindsAProblem) {
  const auto server = start();
  EXPECT_EQ(holdfast_at(server, {"doctor"}).how, exited(0));
  server.command({"CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru"});
  const auto sick = holdfast_at(server, {"doctor", "--json"});
  EXPECT_EQ(sick.how, exited(1));
  EXPECT_THAT(sick.output, HasSubstr("noeviction"));
  EXPECT_TRUE(json::parse(sick.output)["findings"].is_array());
}

TEST_P(CommandLine, DoctorWatchesForWhatChanges) {
  const auto server = start();
  server.command({"CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru"});
  child_process watching(call_at(server, {"doctor", "--watch", "--interval", "1s", "--json"}));
  ASSERT_TRUE(watching.wait_for_output(R"("check":"eviction","result":"problem")"));
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  ASSERT_TRUE(watching.wait_for_output(R"("check":"eviction","result":"ok")"));
  ::kill(watching.pid(), SIGTERM);
  EXPECT_EQ(watching.wait(), exited(128 + SIGTERM));
  std::size_t of_scripts = 0;
  std::istringstream lines(watching.output());
  for (std::string line; std::getline(lines, line);) {
    of_scripts += json::parse(line)["check"] == "scripts" ? 1 : 0;
  }
  EXPECT_EQ(of_scripts, 1U) << "what does not change is told once";
}

// A server that goes is a finding. One that never was there is an error.
TEST_P(CommandLine, DoctorWatchesAServerThatGoesAndComesBack) {
  EXPECT_EQ(holdfast({"doctor", "--watch", "--url", "redis://127.0.0.1:1"}).how, exited(69));
  auto server = start();
  child_process watching(call_at(server, {"doctor", "--watch", "--interval", "1s"}));
  ASSERT_TRUE(watching.wait_for_output("  ok  connect: "));
  server.kill9();
  ASSERT_TRUE(watching.wait_for_output("  problem  connect: ")) << watching.output();
  ::kill(watching.pid(), SIGINT);
  EXPECT_EQ(watching.wait(), exited(128 + SIGINT));
}

TEST_P(CommandLine, DoctorTellsWhatIsThereAndWhatIsMissing) {
  const auto server = start();
  const auto healthy = holdfast_at(server, {"doctor"}).output;
  EXPECT_THAT(healthy, ::testing::ContainsRegex("connect +ok +.*, round trip [0-9]+ us\n"));
  EXPECT_THAT(healthy, ::testing::ContainsRegex("version +ok +(Redis|Valkey) [0-9]+\\.[0-9]+"));
  EXPECT_THAT(healthy, ::testing::ContainsRegex("tls +ok +(no TLS through|TLSv1)"));
  EXPECT_THAT(healthy, ::testing::ContainsRegex("scripts +ok +acquire, renew, "));
  EXPECT_THAT(healthy,
              HasSubstr("\n                      -> a server that comes back within a lease"));

  const words rules = {"ACL", "SETUSER", "poor", "on", "nopass", "~*", "&*", "+@all", "-pexpire"};
  ASSERT_EQ(server.command(rules).text, "OK");
  auto as_poor = call_at(server, {"doctor"});
  as_poor.environment.emplace_back("HOLDFAST_USER=poor");
  const auto poor = support::run(as_poor);
  EXPECT_EQ(poor.how, exited(1));
  EXPECT_THAT(poor.output,
              ::testing::ContainsRegex("scripts +problem +note of a grant: the server said"));
  EXPECT_THAT(poor.output, HasSubstr("-> give this user the rights that `holdfast acl '*' --kind "
                                     "operator` prints"));
}

TEST_P(CommandLine, DoctorShowsTheSentinelsOfADeadMaster) {
  const auto sentinel =
      support::start_sentinel(GetParam(), {"sentinel monitor locks 127.0.0.1 1 1"});
  const auto asked = [&](const std::string& service) {
    const auto url =
        "redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/" + service;
    return holdfast({"doctor", "--url", url, "--connect-timeout", "3s"});
  };
  const auto said = asked("locks");
  EXPECT_EQ(said.how, exited(1)) << said.errors;
  EXPECT_THAT(said.output, ::testing::ContainsRegex("connect +problem +"));
  EXPECT_THAT(said.output, HasSubstr("the master of \"locks\" is 127.0.0.1:1\n"));
  const auto unknown = asked("other");
  EXPECT_EQ(unknown.how, exited(78));
  EXPECT_THAT(unknown.output, ::testing::IsEmpty());
}

json status_of(const private_server& server, const std::string& name) {
  return json::parse(holdfast_at(server, {"--json", "status", name}).output)["locks"][0];
}

TEST_P(CommandLine, StatusTellsWhoWaitsAndWatchTellsWhatChanges) {
  const auto server = start();
  const holder first(server, "orders");
  child_process second(call_at(server, {"run", "orders", "--", "true"}));
  ASSERT_TRUE(eventually([&] { return status_of(server, "orders")["waiting"] == 1; }));
  child_process third(call_at(server, {"run", "orders", "--", "true"}));
  ASSERT_TRUE(eventually([&] { return status_of(server, "orders")["waiting"] == 2; }));
  const auto queue = status_of(server, "orders")["queue"];
  EXPECT_EQ(queue[0]["pid"], second.pid());
  EXPECT_EQ(queue[1]["pid"], third.pid());
  EXPECT_FALSE(queue[0]["since"].get<std::string>().empty());
  const auto table = holdfast_at(server, {"status", "orders"});
  EXPECT_THAT(table.output, HasSubstr("orders: 2 waiting"));
  const auto row = [](const char* place, pid_t who) {
    return "\n" + std::string(place) + " +all +[^ ]+ +" + std::to_string(who) +
           " .*20..-..-..T..:..:..Z";
  };
  EXPECT_THAT(table.output, ::testing::ContainsRegex(row("1", second.pid())));
  EXPECT_THAT(table.output, ::testing::ContainsRegex(row("2", third.pid())));
  third.signal(SIGTERM);
  (void)third.wait();

  child_process watching(
      call_at(server, {"watch", "orders", "--interval", "50ms", "--count", "2"}));
  ASSERT_TRUE(watching.wait_for_output("1 waiting"));
  second.signal(SIGTERM);
  (void)second.wait();
  EXPECT_EQ(watching.wait(), exited(0));
  EXPECT_THAT(watching.output(), HasSubstr("0 waiting"));
}

TEST_P(CommandLine, StatusSaysHowManyWaitBeyondThoseThatItShows) {
  const auto server = start();
  const holder first(server, "orders");
  std::vector<std::string> waiting{"ZADD", "hf:{orders}:w"};
  for (int i = 1; i <= 150; ++i) {
    const auto ticket = std::to_string(i);
    waiting.insert(waiting.end(), {ticket, std::string(31, '0') + "1:" + ticket + "r:1000:-"});
  }
  server.command(waiting);
  const auto table = holdfast_at(server, {"status", "orders"});
  EXPECT_THAT(table.output, HasSubstr("orders: 150 waiting"));
  EXPECT_THAT(table.output, HasSubstr("\n100 "));
  EXPECT_THAT(table.output, ::testing::EndsWith("and 50 more\n"));
}

TEST_P(CommandLine, WatchTellsWhoGotTheLock) {
  const auto server = start();
  const auto holds = call_at(server, {"run", "orders", "--", "sh", "-c", "echo in.; read line"});
  child_process first(holds);
  ASSERT_TRUE(first.wait_for_output("in."));
  child_process second(holds);
  ASSERT_TRUE(eventually([&] { return status_of(server, "orders")["waiting"] == 1; }));
  child_process watching(call_at(server, {"--json", "watch", "orders", "--interval", "50ms"}));
  ASSERT_TRUE(watching.wait_for_output("\"waiting\":1"));
  first.write("\n");
  ASSERT_TRUE(second.wait_for_output("in."));
  ASSERT_TRUE(watching.wait_for_output("\"waiting\":0,\"owner\"")) << watching.output();
  second.write("\n");
  ASSERT_TRUE(watching.wait_for_output("\"state\":\"free\"")) << watching.output();
  const auto handed_over = watching.output().find("\"waiting\":0,\"owner\"");
  EXPECT_NE(watching.output().find(std::to_string(second.pid()), handed_over), std::string::npos);
}

// Long before it would look again.
TEST_P(CommandLine, WatchIsToldWhoGotTheLock) {
  const auto server = start();
  child_process watching(call_at(server, {"watch", "orders", "--interval", "1m", "--count", "3"}));
  ASSERT_TRUE(watching.wait_for_output("free"));
  child_process one(call_at(server, {"run", "orders", "--", "sh", "-c", "read line"}));
  ASSERT_TRUE(watching.wait_for_output("held")) << watching.output();
  one.write("\n");
  EXPECT_EQ(watching.wait(), exited(0));
  EXPECT_THAT(watching.output(), ::testing::EndsWith("free, 0 waiting\n"));
}

TEST_P(CommandLine, WatchIsToldOfAMutexWithoutTokens) {
  const auto server = start();
  child_process watching(call_at(server, {"watch", "orders", "--interval", "1m", "--count", "4"}));
  ASSERT_TRUE(watching.wait_for_output("free"));
  const auto give_to = [&server](char who) {
    const auto owner = std::string(32, who) + "-1";
    server.command({"SET", "hf:{orders}", "1:0:" + owner, "PX", "60000"});
  };
  give_to('a');
  ASSERT_TRUE(watching.wait_for_output("id aaaaaaaaaaaaaaaa-1")) << watching.output();
  give_to('b');
  ASSERT_TRUE(watching.wait_for_output("id bbbbbbbbbbbbbbbb-1")) << watching.output();
  server.command({"DEL", "hf:{orders}"});
  EXPECT_EQ(watching.wait(), exited(0));
  EXPECT_THAT(watching.output(), ::testing::EndsWith("free, 0 waiting\n"));
}

TEST_P(CommandLine, WatchLooksOnWhenTheServerComesBack) {
  auto server = start();
  child_process watching(call_at(server, {"--json", "watch", "orders", "--interval", "50ms"}));
  ASSERT_TRUE(watching.wait_for_output("\"state\":\"free\""));
  server.kill9();
  ASSERT_TRUE(watching.wait_for_errors("{\"note\":{\"code\":\"unavailable\""));
  server.restart();
  const holder one(server, "orders");
  EXPECT_TRUE(watching.wait_for_output("\"state\":\"held\"")) << watching.errors();
  watching.signal(SIGINT);
  EXPECT_EQ(watching.wait(), exited(128 + SIGINT));
}

// Runs a script in which "$0" is the program.
auto in_a_shell(const private_server& server, const char* script) {
  auto call = call_at(server, {"-c", script});
  call.arguments.emplace_back(std::exchange(call.program, "/bin/sh"));
  return support::run(call);
}

// Nothing changes after its first line.
TEST_P(CommandLine, WatchEndsWithItsReader) {
  const auto server = start();
  const auto seen = in_a_shell(server, R"("$0" watch a --interval 1m | head -n 1)");
  EXPECT_EQ(seen.how, exited(0));
  EXPECT_THAT(seen.output, HasSubstr("free, 0 waiting"));
}

// Else the connection would get the number of standard output, and the server the result.
TEST_P(CommandLine, WhoseOutputIsClosedSaysSo) {
  const auto server = start();
  const auto said = in_a_shell(server, R"(exec "$0" status a >&-)");
  EXPECT_EQ(said.how, exited(74)) << said.errors;
  EXPECT_THAT(said.errors, HasSubstr("Bad file descriptor"));
  const auto full = in_a_shell(server, R"("$0" status a --json >/dev/full)");
  EXPECT_EQ(full.how, exited(74));
  EXPECT_THAT(full.errors, HasSubstr("\"output\""));
}

// The keys as docs/wire/holdfast.md says.
TEST_P(CommandLine, EveryKindIsShown) {
  const auto server = start();
  const std::vector<std::pair<words, std::string>> held = {
      {{"a mutex"}, "mutex"},
      {{"--shared", "a reader"}, "mode lock"},
      {{"--permits", "2/3", "seats"}, "semaphore 2"},
  };
  std::vector<std::unique_ptr<child_process>> holders;
  for (const auto& [chosen, kind] : held) {
    words arguments = {"run"};
    arguments.insert(arguments.end(), chosen.begin(), chosen.end());
    for (const auto* const word : {"--", "sh", "-c", "echo in.; exec cat"}) {
      arguments.emplace_back(word);
    }
    holders.push_back(std::make_unique<child_process>(call_at(server, arguments)));
    ASSERT_TRUE(holders.back()->wait_for_output("in."));
  }
  server.command({"SET", "hf:{ready}", "1l:3"});
  server.command({"SET", "hf:{round}", "1b:5:0"});
  const auto listed = holdfast_at(server, {"ls"}).output;
  for (const auto& [chosen, kind] : held) EXPECT_THAT(listed, HasSubstr(kind)) << listed;
  EXPECT_THAT(listed, HasSubstr("ready     shut   latch 3"));
  EXPECT_THAT(listed, HasSubstr("round     shut   barrier 0/5"));
  const auto told = json::parse(holdfast_at(server, {"--json", "status", "ready", "round"}).output);
  EXPECT_EQ(told["locks"][0]["state"], "shut");
  EXPECT_EQ(told["locks"][0]["kind"], "latch");
  EXPECT_EQ(told["locks"][0]["to_count_down"], 3);
  EXPECT_EQ(told["locks"][1]["parties"], 5);

  child_process watching(call_at(server, {"watch", "ready", "--interval", "50ms", "--count", "3"}));
  ASSERT_TRUE(watching.wait_for_output("latch 3, 0 waiting"));
  server.command({"SET", "hf:{ready}", "1l:2"});
  ASSERT_TRUE(watching.wait_for_output("latch 2, 0 waiting"));
  server.command({"DEL", "hf:{ready}"});
  EXPECT_EQ(watching.wait(), exited(0));
  EXPECT_THAT(watching.output(), HasSubstr("free, 0 waiting"));
}

}  // namespace
}  // namespace holdfast::cli_tests
