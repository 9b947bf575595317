// holdfast run and elect between a service manager and the command: who gets signals, sockets and
// orphans, and a server that comes later.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/time.hpp"
#include "cli/program.hpp"
#include "net/clock.hpp"
#include "support/fault_proxy.hpp"
#include "support/forked.hpp"
#include "support/listener.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

// The same arguments, from a shell that becomes the program.
program_call from_shell(const program_call& program, const std::string& before) {
  auto shell = program;
  shell.program = "sh";
  shell.arguments = {"-c", before + "; exec \"$0\" \"$@\"", program.program};
  shell.arguments.insert(shell.arguments.end(), program.arguments.begin(), program.arguments.end());
  return shell;
}

// As a server with workers, which it lets finish.
TEST_P(CommandLine, SignalsTheCommandAloneWhenToldTo) {
  const auto server = start();
  for (const auto* const verb : {"run", "elect"}) {
    child_process program(call_at(
        server, {verb, "--signal", "command", "a", "--", "sh", "-c",
                 "trap 'echo got it' TERM; sleep 600 & echo $!.; until read line; do :; done; "
                 "kill $!; exit 9"}));
    ASSERT_TRUE(program.wait_for_output("."));
    const pid_t worker = std::stoi(program.output());
    program.signal(SIGTERM);
    ASSERT_TRUE(program.wait_for_output("got it")) << program.errors();
    EXPECT_FALSE(support::is_gone(worker)) << verb;
    program.write("\n");
    EXPECT_EQ(program.wait(), exited(9)) << verb;
  }
  EXPECT_EQ(holdfast({"run", "--signal", "all", "a", "--", "true"}).how, exited(64));
}

TEST_P(CommandLine, EndsTheWholeGroupOfALostLockWhoeverGetsSignals) {
  const auto server = start();
  child_process program(
      call_at(server, {"run", "--signal", "command", "--lease", "600ms", "--grace", "100ms", "a",
                       "--", "sh", "-c", "sleep 600 & echo $!.; wait"}));
  ASSERT_TRUE(program.wait_for_output("."));
  const pid_t worker = std::stoi(program.output());
  holdfast_at(server, {"release", "a", "--force", "--reason", "a test"});
  EXPECT_EQ(program.wait(), exited(76));
  EXPECT_TRUE(support::is_gone(worker));
}

// As systemd passes sockets on: to the process that it has started.
TEST_P(CommandLine, PassesSocketsAndTheWatchdogOnToTheCommand) {
  const auto server = start();
  const std::string ours =
      "export LISTEN_FDS=1 LISTEN_PIDFDID=17 LISTEN_PID=$$ WATCHDOG_PID=$$; exec 3</dev/null";
  const std::string theirs =
      "export LISTEN_FDS=1 LISTEN_PIDFDID=17 LISTEN_PID=1 WATCHDOG_PID=1; exec 3</dev/null";
  const std::string show =
      "echo $LISTEN_FDS ${LISTEN_PIDFDID-none} $(readlink /proc/$$/fd/3); "
      "echo $$ $LISTEN_PID $WATCHDOG_PID";
  for (const auto* const verb : {"run", "elect"}) {
    const auto program = call_at(server, {verb, "a", "--", "sh", "-c", show});
    EXPECT_THAT(support::run(from_shell(program, ours)).output,
                ::testing::MatchesRegex("1 none /dev/null\n([0-9]+) [0-9]+ [0-9]+\n"));
    const auto told = support::run(from_shell(program, ours)).output;
    const auto numbers = told.substr(told.find('\n') + 1);
    const auto pid = numbers.substr(0, numbers.find(' '));
    EXPECT_EQ(numbers, pid + " " + pid + " " + pid + "\n") << verb;
    EXPECT_THAT(support::run(from_shell(program, theirs)).output,
                ::testing::MatchesRegex("1 17 /dev/null\n[0-9]+ 1 1\n"))
        << verb;
  }
}

std::size_t count_children(pid_t parent) {
  const auto pid = std::to_string(parent);
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  return static_cast<std::size_t>(
      std::distance(std::istream_iterator<pid_t>(children), std::istream_iterator<pid_t>{}));
}

// Of a leader that was deposed, or of a container of which it is the first process.
TEST_P(CommandLine, ReapsOrphansWhileItWaits) {
  const auto server = start();
  child_process holder(call_at(server, {"run", "a", "--", "sh", "-c", "echo in.; exec cat"}));
  ASSERT_TRUE(holder.wait_for_output("in."));
  for (const auto* const verb : {"run", "elect"}) {
    child_process waiter(from_shell(call_at(server, {verb, "a", "--", "true"}),
                                    "sleep 600 >/dev/null 2>&1 & echo $!."));
    ASSERT_TRUE(waiter.wait_for_output("."));
    ASSERT_TRUE(eventually([&] { return server.command({"ZCARD", "hf:{a}:w"}).number == 1; }));
    EXPECT_EQ(count_children(waiter.pid()), 1U);
    ::kill(std::stoi(waiter.output()), SIGKILL);
    EXPECT_TRUE(eventually([&] { return count_children(waiter.pid()) == 0; })) << verb;
    waiter.signal(SIGTERM);
    EXPECT_EQ(waiter.wait(), exited(128 + SIGTERM));
    ASSERT_TRUE(eventually([&] { return server.command({"ZCARD", "hf:{a}:w"}).number == 0; }));
  }
}

// As at boot, when all is started together.
TEST_P(CommandLine, WaitsForAServerThatIsNotThereYetWhenToldTo) {
  auto server = start();
  server.kill9();
  for (const auto* const verb : {"run", "elect"}) {
    child_process program(call_at(server, {verb, "--wait-for-server", "a", "--", "echo", "in"}));
    ASSERT_TRUE(program.wait_for_errors("waiting for the server: ")) << program.errors();
    server.restart();
    EXPECT_EQ(program.wait(), exited(0)) << verb << program.errors();
    EXPECT_EQ(program.output(), "in\n");
    server.kill9();
  }
}

TEST(Parent, WaitsForAServerNoLongerThanForTheLock) {
  const auto closed = "redis://127.0.0.1:" + std::to_string(support::free_port());
  const auto begin = net::now();
  const auto said = holdfast(
      {"run", "--url", closed, "--wait", "300ms", "--wait-for-server", "a", "--", "echo", "never"});
  EXPECT_EQ(said.how, exited(69)) << said.errors;
  EXPECT_GE(net::now() - begin, milliseconds{300});
  EXPECT_THAT(said.errors, HasSubstr("waiting for the server: "));
  EXPECT_THAT(said.output, IsEmpty());
}

TEST(Parent, CanBeEndedWhileItWaitsForAServer) {
  const auto closed = "redis://127.0.0.1:" + std::to_string(support::free_port());
  child_process program(call({"elect", "--url", closed, "--wait-for-server", "a", "--", "true"}));
  ASSERT_TRUE(program.wait_for_errors("waiting for the server: "));
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), exited(128 + SIGTERM));
}

// As a router does that has forgotten an idle connection. The library asks again over another one.
TEST_P(CommandLine, WarnsOfNoReleaseThatWasCarriedOutAfterAll) {
  const auto server = start();
  support::fault_proxy network{net::unix_endpoint{server.socket()}};
  child_process program(call({"run", "--url", network.url(), "--response-timeout", "500ms",
                              "--lease", "60s", "a", "--", "sh", "-c", "echo in.; read line"}));
  ASSERT_TRUE(program.wait_for_output("in."));
  network.swallow(support::toward::server);
  const auto before = network.received(support::toward::server);
  program.write("\n");
  ASSERT_TRUE(eventually([&] { return network.received(support::toward::server) > before; }));
  network.heal();
  EXPECT_EQ(program.wait(), exited(0));
  EXPECT_THAT(program.errors(), IsEmpty());
  EXPECT_EQ(server.command({"EXISTS", "hf:{a}"}).number, 0);
}

}  // namespace
}  // namespace holdfast::cli_tests
