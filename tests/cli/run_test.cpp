// holdfast run: the lock, the command, signals, exit codes.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cli/program.hpp"
#include "support/forked.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

TEST_P(CommandLine, PassesTheExitCodeOn) {
  const auto server = start();
  EXPECT_EQ(holdfast_at(server, {"run", "a", "--", "true"}).how, exited(0));
  EXPECT_EQ(holdfast_at(server, {"run", "a", "--", "sh", "-c", "exit 7"}).how, exited(7));
  EXPECT_EQ(holdfast_at(server, {"run", "a", "--", "sh", "-c", "kill -9 $$"}).how, exited(137));
}

TEST_P(CommandLine, SaysWhyACommandCannotRun) {
  const auto server = start();
  const auto missing = holdfast_at(server, {"run", "a", "--", "no-such-program"});
  EXPECT_EQ(missing.how, exited(127));
  EXPECT_THAT(missing.errors, HasSubstr("no-such-program"));
  EXPECT_EQ(holdfast_at(server, {"run", "a", "--", "/etc/passwd"}).how, exited(126));
  EXPECT_EQ(holdfast_at(server, {"run", "--nonblock", "a", "--", "true"}).how, exited(0))
      << "a command that cannot run must not keep the lock";
}

TEST_P(CommandLine, TellsTheCommandNameAndToken) {
  const auto server = start();
  const auto one = holdfast_at(server, {"run", "a b", "--", "sh", "-c", "echo $HOLDFAST_NAME:"});
  EXPECT_EQ(one.output, "a b:\n");
  const words token = {"run", "a b", "--", "sh", "-c", "echo $HOLDFAST_TOKEN"};
  const auto first = std::stoull(holdfast_at(server, token).output);
  EXPECT_LT(first, std::stoull(holdfast_at(server, token).output));
}

TEST_P(CommandLine, TellsTheCommandOfItsOwnLockAndOfThoseAroundIt) {
  const auto server = start();
  const std::string show = "env | grep -E '^HOLDFAST_(NAME|TOKEN|HELD)' | LC_ALL=C sort";
  auto nested = call_at(server, {"run", "--all-of", "x,y", "--", HOLDFAST_PROGRAM, "run", "inner",
                                 "--", "sh", "-c", show});
  nested.environment.emplace_back("HOLDFAST_NAME=of somebody else");
  const auto said = support::run(nested);
  ASSERT_EQ(said.how, exited(0)) << said.errors;
  EXPECT_THAT(said.output, ::testing::MatchesRegex("HOLDFAST_HELD=x=[0-9]+,y=[0-9]+,inner=[0-9]+\n"
                                                   "HOLDFAST_NAME=inner\n"
                                                   "HOLDFAST_TOKEN=[0-9]+\n"
                                                   "HOLDFAST_TOKENS=inner=[0-9]+\n"));
}

// The command has no business with the server; and in an error report its environment is shown.
TEST_P(CommandLine, GivesTheCommandNoPasswords) {
  const auto server = start({.tcp = true, .arguments = {"--requirepass", "hunter2"}});
  const auto place = server.tcp_url().substr(std::string("redis://").size());
  const std::string with_password = "HOLDFAST_URL=redis://:hunter2@" + place;
  const words by_url = {with_password, "HOLDFAST_SENTINEL_PASSWORD=hunter2"};
  const words by_name = {"HOLDFAST_URL=redis://" + place, "HOLDFAST_PASSWORD=hunter2"};
  for (const auto* const verb : {"run", "elect"}) {
    for (const auto& variables : {by_url, by_name}) {
      const auto said = holdfast({verb, "a", "--", "env"}, variables);
      ASSERT_EQ(said.how, exited(0)) << said.errors;
      EXPECT_THAT(said.output, HasSubstr("HOLDFAST_TOKEN="));
      EXPECT_THAT(said.output, Not(HasSubstr("hunter2"))) << verb;
      const auto asked = holdfast({verb, "--pass-passwords", "a", "--", "env"}, variables);
      for (const auto& variable : variables) EXPECT_THAT(asked.output, HasSubstr(variable + "\n"));
    }
    EXPECT_THAT(holdfast({verb, "a", "--", "env"}, by_name).output,
                HasSubstr("HOLDFAST_URL=redis://" + place + "\n"))
        << "which has no password";
  }
}

TEST_P(CommandLine, TellsTokensOfNamesWithEveryByte) {
  const auto server = start();
  const auto said =
      holdfast_at(server, {"run", "a=1,b", "--", "sh", "-c", "echo $HOLDFAST_TOKENS"});
  EXPECT_THAT(said.output, ::testing::MatchesRegex("a%3D1%2Cb=[0-9]+\n")) << said.errors;
  for (const auto& [name, written] :
       {std::pair{"c%d", "c%25d"}, std::pair{"e\nf g", "e%0Af%20g"}}) {
    const auto one = holdfast_at(server, {"run", name, "--", "sh", "-c", "echo $HOLDFAST_TOKENS"});
    EXPECT_THAT(one.output, ::testing::MatchesRegex(std::string(written) + "=[0-9]+\n"));
  }
}

// The peer at the other end of one would not see us go while the command runs.
TEST_P(CommandLine, GivesTheCommandNoDescriptorOfItsOwn) {
  const auto server = start();
  const words show = {"-c", "ls /proc/$$/fd"};
  const auto alone = support::run({.program = "sh", .arguments = show});
  words arguments = {"run", "a", "--", "sh"};
  arguments.insert(arguments.end(), show.begin(), show.end());
  const auto locked = holdfast_at(server, arguments);
  EXPECT_EQ(locked.how, exited(0)) << locked.errors;
  EXPECT_EQ(locked.output, alone.output);
}

// Of a process: how many children it has, and those that have ended and were not reaped.
std::size_t count_children(pid_t parent) {
  const auto pid = std::to_string(parent);
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  return static_cast<std::size_t>(
      std::distance(std::istream_iterator<pid_t>(children), std::istream_iterator<pid_t>{}));
}

TEST_P(CommandLine, ReapsOrphansOfTheCommand) {
  const auto server = start();
  const std::string orphans =
      "i=0; while [ $i -lt 30 ]; do (true &); i=$((i+1)); done; echo ready; read line";
  child_process running(call_at(server, {"run", "a", "--", "sh", "-c", orphans}));
  ASSERT_TRUE(running.wait_for_output("ready")) << running.errors();
  EXPECT_TRUE(eventually([&] { return count_children(running.pid()) == 1; }))
      << count_children(running.pid()) << " children, and one is the command";
  running.write("\n");
  EXPECT_EQ(running.wait(), exited(0)) << running.errors();
}

TEST_P(CommandLine, EndsWhereThereAreTooFewDescriptors) {
  const auto server = start();
  for (int descriptors = 5; descriptors <= 14; ++descriptors) {
    const std::string limited = "ulimit -n " + std::to_string(descriptors) + "; exec " +
                                HOLDFAST_PROGRAM + " run l --wait 200ms -- true";
    auto one = call_at(server, {"-c", limited});
    one.program = "sh";
    const auto ended = support::run(one);
    EXPECT_EQ(ended.how.signal, 0) << descriptors << ": " << ended.errors;
    EXPECT_TRUE(ended.how.exit_code == 0 || !ended.errors.empty()) << descriptors;
  }
}

// Between two dashes any name may stand, so that a script need not look at its name.
TEST_P(CommandLine, EveryNameMayStandBetweenDashes) {
  const auto server = start();
  const words tell = {"sh", "-c", "printf '%s %s' \"$HOLDFAST_NAME\" $1", "sh", "--"};
  const auto take = [&](words arguments, const std::string& name) {
    arguments.insert(arguments.end(), tell.begin(), tell.end());
    const auto said = holdfast_at(server, arguments);
    EXPECT_EQ(said.how, exited(0)) << ::testing::PrintToString(arguments) << said.errors;
    EXPECT_EQ(said.output, name + " --") << ::testing::PrintToString(arguments);
  };
  for (const auto* const name : {"nightly", "run", "help", "-", "a=b", "[a,b]", "{}", "a b", "%%",
                                 "\xff\xfe", "a\nb", "'", "+x", "/x"}) {
    take({"run", "--", name, "--"}, name);
    take({"run", name, "--"}, name);
    take({"run", "--lease", "9s", name, "--json", "--"}, name);
  }
  for (const auto* const name : {"-x", "--help", "--lease=1s", "--"}) {
    take({"run", "--", name, "--"}, name);
  }
  take({"elect", "--", "--json", "--"}, "--json");
  take({"elect", "--", "nightly", "--"}, "nightly");
  take({"run", "--all-of", "a,b", "--"}, "a,b");
  EXPECT_EQ(holdfast_at(server, {"run", "--all-of", "a,b", "--", "echo", "--", "c"}).output,
            "-- c\n");
}

TEST_P(CommandLine, PassesArgumentsAndBytesUntouched) {
  const auto server = start();
  std::string bytes;
  for (int i = 0; i < 70'000; ++i) bytes += static_cast<char>(i * 7);
  EXPECT_EQ(support::run(call_at(server, {"run", "a", "--", "cat"}), bytes).output, bytes);
  const words odd = {"run", "a", "--", "printf", "<%s>", "[a,b]", "{}", "%%", "", "--", "--json"};
  EXPECT_EQ(holdfast_at(server, odd).output, "<[a,b]><{}><%%><><--><--json>");
}

TEST_P(CommandLine, SaysWhoHasTheLock) {
  const auto server = start();
  child_process holder(call_at(server, {"run", "a", "--", "sh", "-c", "echo in; exec cat"}));
  ASSERT_TRUE(holder.wait_for_output("in"));
  const auto once = holdfast_at(server, {"run", "--nonblock", "a", "--", "true"});
  EXPECT_EQ(once.how, exited(75));
  EXPECT_THAT(once.errors, HasSubstr(std::to_string(holder.pid())));
  EXPECT_EQ(holdfast_at(server, {"run", "--wait", "50ms", "a", "--", "true"}).how, exited(75));
  holder.close_input();
  EXPECT_EQ(holder.wait(), exited(0));
  EXPECT_EQ(holdfast_at(server, {"run", "--nonblock", "a", "--", "true"}).how, exited(0));
}

TEST_P(CommandLine, ForwardsSignalsToTheGroup) {
  const auto server = start();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH}) {
    const auto number = std::to_string(signal);
    child_process program(call_at(
        server, {"run", "a", "--", "sh", "-c",
                 "trap 'echo got; kill $!; exit 9' " + number + "; sleep 600 & echo in; wait"}));
    ASSERT_TRUE(program.wait_for_output("in"));
    program.signal(signal);
    EXPECT_EQ(program.wait(), exited(9)) << "signal " << signal;
    EXPECT_THAT(program.output(), HasSubstr("got"));
  }
}

TEST_P(CommandLine, ReportsTheSignalThatEndedTheCommand) {
  const auto server = start();
  child_process program(call_at(server, {"run", "a", "--", "sh", "-c", "echo in; exec sleep 600"}));
  ASSERT_TRUE(program.wait_for_output("in"));
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), exited(128 + SIGTERM));
}

TEST_P(CommandLine, EndsWaitingOnASignal) {
  const auto server = start();
  child_process holder(call_at(server, {"run", "a", "--", "sh", "-c", "echo in; exec cat"}));
  ASSERT_TRUE(holder.wait_for_output("in"));
  child_process waiter(call_at(server, {"run", "a", "--", "echo", "never"}));
  // Its client is registered at the server once it asks.
  ASSERT_TRUE(eventually([&] {
    const auto clients = server.command({"CLIENT", "LIST"}).text;
    return clients.find(" name=holdfast") != clients.rfind(" name=holdfast");
  }));
  waiter.signal(SIGTERM);
  EXPECT_EQ(waiter.wait(), exited(128 + SIGTERM));
  EXPECT_THAT(waiter.output(), IsEmpty());
}

TEST_P(CommandLine, StoppedCommandGoesOn) {
  const auto server = start();
  child_process program(
      call_at(server, {"run", "a", "--", "sh", "-c", "echo $$; read line; echo $line"}));
  ASSERT_TRUE(program.wait_for_output("\n"));
  const auto state = [](pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto name_end = text.rfind(") ");
    return name_end == std::string::npos ? '?' : text[name_end + 2];
  };
  const pid_t command = std::stoi(program.output());
  program.signal(SIGTSTP);
  EXPECT_TRUE(eventually([&] { return state(command) == 'T' && state(program.pid()) == 'T'; }));
  program.signal(SIGCONT);
  program.write("again\n");
  EXPECT_TRUE(program.wait_for_output("again"));
  EXPECT_EQ(program.wait(), exited(0));
}

// It cannot end while it is stopped, and the lock would be held as long as that.
TEST_P(CommandLine, StoppedCommandIsEndedBySignals) {
  const auto server = start();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    child_process program(
        call_at(server, {"run", "a", "--", "sh", "-c", "echo in; kill -STOP $$; sleep 600"}));
    ASSERT_TRUE(program.wait_for_output("in"));
    program.signal(signal);
    EXPECT_EQ(program.wait(), exited(128 + signal));
  }
}

// The connection to it is closed in vain for as long as an answer may take.
TEST_P(CommandLine, SaysAtOnceThatTheServerIsGone) {
  auto server = start();
  child_process first(call_at(server, {"run", "a", "--", "sh", "-c", "echo in.; exec cat"}));
  ASSERT_TRUE(first.wait_for_output("in."));
  child_process second(
      call_at(server, {"run", "--wait", "15s", "--response-timeout", "30s", "a", "--", "true"}));
  ASSERT_TRUE(eventually([&] {
    return holdfast_at(server, {"status", "a"}).output.find("1 waiting") != std::string::npos;
  }));
  server.kill9();
  EXPECT_TRUE(second.wait_for_errors("cannot be reached", std::chrono::seconds{30}));
}

// It needs more rights than either of the locks, to be taken together.
TEST_P(CommandLine, SeveralLocksAreReleasedOneByOneWhereTheyMayNotBeTogether) {
  const auto server = start();
  const auto printed =
      holdfast_at(server, {"acl", "*", "--user", "worker", "--kind", "mutex", "--kind", "operator"})
          .output;
  std::istringstream words(printed);
  std::vector<std::string> rule{std::istream_iterator<std::string>(words), {}};
  std::replace(rule.begin(), rule.end(), std::string("#SHA256-OF-PASSWORD"),
               std::string(">secret"));
  ASSERT_EQ(server.command(rule).text, "OK");
  const auto said = holdfast(
      {"run", "--all-of", "a,b", "--", "echo", "in"},
      {"HOLDFAST_URL=" + server.url(), "HOLDFAST_USER=worker", "HOLDFAST_PASSWORD=secret"});
  EXPECT_EQ(said.how, exited(0)) << said.errors;
  EXPECT_EQ(said.errors, "");
  for (const auto* name : {"a", "b"}) {
    EXPECT_EQ(holdfast_at(server, {"run", "--nonblock", name, "--", "true"}).how, exited(0));
  }
}

TEST_P(CommandLine, HundredAtOnceCountExactly) {
  const auto server = start();
  const auto file = std::filesystem::path(server.socket()).parent_path() / "counter";
  std::ofstream(file) << 0 << std::endl;
  const auto add = "n=$(cat '" + file.string() + "'); echo $((n + 1)) > '" + file.string() + "'";
  std::vector<std::unique_ptr<child_process>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(std::make_unique<child_process>(
        call_at(server, {"run", "counter", "--", "sh", "-c", add})));
  }
  for (const auto& one : all) EXPECT_EQ(one->wait(std::chrono::minutes{1}), exited(0));
  int counted = 0;
  std::ifstream(file) >> counted;
  EXPECT_EQ(counted, 100);
}

}  // namespace
}  // namespace holdfast::cli_tests
