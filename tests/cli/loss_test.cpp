// The end of the command when its lock is lost.
#include <csignal>

#include "base/time.hpp"
#include "cli/program.hpp"
#include "net/clock.hpp"
#include "support/forked.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

// Prints the ids of itself and of a grandchild; neither minds SIGTERM.
constexpr const char* stubborn = "trap '' TERM; sleep 600 & echo $$ $!. ; wait; wait; sleep 600";

std::pair<pid_t, pid_t> ids(const std::string& output) {
  const auto space = output.find(' ');
  return {std::stoi(output), std::stoi(output.substr(space))};
}

// A server that has not answered renewals will not answer the release: with two response timeouts
// (for the release, and for closing) the end would come four seconds later.
constexpr std::chrono::seconds without_the_server{3};

void expect_quick_end(child_process& program) {
  ASSERT_TRUE(program.wait_for_errors("the command is terminated")) << program.errors();
  const auto told = net::now();
  EXPECT_EQ(program.wait(), exited(76));
  EXPECT_LT(net::now() - told, without_the_server);
}

TEST_P(CommandLine, TerminatesTheWholeGroupBeforeTheLeaseCanEnd) {
  auto server = start();
  child_process program(call_at(
      server, {"run", "--lease", "2s", "--grace", "500ms", "a", "--", "sh", "-c", stubborn}));
  ASSERT_TRUE(program.wait_for_output("."));
  const auto [child, grandchild] = ids(program.output());
  // The lease was granted or renewed before the server died: it cannot end later than this.
  server.kill9();
  const auto lease_end = net::now() + std::chrono::seconds{2};
  EXPECT_TRUE(eventually(
      [&, c = child, g = grandchild] { return support::is_gone(c) && support::is_gone(g); }));
  EXPECT_LT(net::now(), lease_end);
  EXPECT_EQ(program.wait(), exited(76));
  EXPECT_THAT(program.errors(), HasSubstr("could not be renewed"));
}

TEST_P(CommandLine, ABrokenLockEndsTheCommand) {
  const auto server = start();
  child_process program(call_at(
      server, {"run", "--lease", "600ms", "--grace", "100ms", "a", "--", "sh", "-c", stubborn}));
  ASSERT_TRUE(program.wait_for_output("."));
  const auto [child, grandchild] = ids(program.output());
  const auto broken = holdfast_at(server, {"release", "a", "--force", "--reason", "a test"});
  EXPECT_EQ(broken.how, exited(0)) << broken.errors;
  expect_quick_end(program);
  EXPECT_TRUE(support::is_gone(child));
  EXPECT_TRUE(support::is_gone(grandchild));
  EXPECT_EQ(holdfast_at(server, {"release", "a", "--force", "--reason", "again"}).how, exited(1));
}

TEST_P(CommandLine, ACommandThatLostItsLockMayCleanUpWithinTheGrace) {
  const auto server = start();
  child_process program(call_at(
      server, {"run", "--lease", "3s", "--grace", "1500ms", "a", "--", "sh", "-c",
               "trap 'sleep 0.3; echo cleaned.; exit 3' TERM; echo in.; sleep 600 & wait"}));
  ASSERT_TRUE(program.wait_for_output("in."));
  holdfast_at(server, {"release", "a", "--force", "--reason", "a test"});
  EXPECT_EQ(program.wait(), exited(76));
  EXPECT_THAT(program.output(), HasSubstr("cleaned."));
}

TEST_P(CommandLine, EndsWithTheCommandWhenTheServerIsFrozen) {
  for (const auto* const grace : {"0s", "500ms"}) {
    auto server = start();
    child_process program(call_at(server, {"run", "--lease", "1500ms", "--grace", grace, "a", "--",
                                           "sh", "-c", "echo in.; exec sleep 600"}));
    ASSERT_TRUE(program.wait_for_output("in."));
    server.freeze();
    expect_quick_end(program);
    server.thaw();
  }
}

TEST_P(CommandLine, EndsWithTheCommandWhenTheServerIsGone) {
  auto server = start();
  child_process program(call_at(server, {"run", "--lease", "1500ms", "--grace", "500ms", "a", "--",
                                         "sh", "-c", "echo in.; exec sleep 600"}));
  ASSERT_TRUE(program.wait_for_output("in."));
  server.kill9();
  expect_quick_end(program);
}

// Its lease is over, so nobody can say what the release would have found.
TEST_P(CommandLine, EndsWithACommandThatOutlivedItsLease) {
  auto server = start();
  child_process program(call_at(server, {"run", "--lease", "500ms", "--on-lost", "warn", "a", "--",
                                         "sh", "-c", "echo in.; read line; exit 5"}));
  ASSERT_TRUE(program.wait_for_output("in."));
  server.freeze();
  ASSERT_TRUE(program.wait_for_errors("goes on without it"));
  const auto told = net::now();
  program.write("\n");
  EXPECT_EQ(program.wait(), exited(5));
  EXPECT_LT(net::now() - told, without_the_server);
  server.thaw();
}

// A stopped program cannot watch its lease: the command runs on, and ends when the program goes on.
TEST_P(CommandLine, HolderStoppedPastTheLeaseTerminatesTheGroupWhenItGoesOn) {
  const auto server = start();
  child_process program(call_at(
      server, {"run", "--lease", "500ms", "--grace", "100ms", "a", "--", "sh", "-c", stubborn}));
  ASSERT_TRUE(program.wait_for_output("."));
  const auto [child, grandchild] = ids(program.output());
  support::freeze(program.pid());
  EXPECT_EQ(holdfast_at(server, {"run", "--wait", "30s", "a", "--", "true"}).how, exited(0))
      << "the lease ends at the server";
  EXPECT_FALSE(support::is_gone(child));
  program.signal(SIGCONT);
  EXPECT_EQ(program.wait(), exited(76));
  EXPECT_THAT(program.errors(), HasSubstr("is lost; the command is terminated"));
  EXPECT_TRUE(support::is_gone(child));
  EXPECT_TRUE(support::is_gone(grandchild));
}

TEST_P(CommandLine, WarnLetsTheCommandGoOn) {
  const auto server = start();
  child_process program(call_at(server, {"run", "--lease", "300ms", "--on-lost", "warn", "a", "--",
                                         "sh", "-c", "echo in.; read line; exit 5"}));
  ASSERT_TRUE(program.wait_for_output("."));
  holdfast_at(server, {"release", "a", "--force", "--reason", "a test"});
  EXPECT_TRUE(program.wait_for_errors("goes on without it"));
  program.write("\n");
  EXPECT_EQ(program.wait(), exited(5));
}

TEST_P(CommandLine, CommandDoesNotOutliveAKilledGuard) {
  const auto server = start();
  child_process program(
      call_at(server, {"run", "a", "--", "sh", "-c", "echo $$.; exec sleep 600"}));
  ASSERT_TRUE(program.wait_for_output("."));
  const pid_t child = std::stoi(program.output());
  program.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return support::is_gone(child); }));
}

// As with sudo: nobody may signal a command that has become another user.
class CommandOfAnotherUser : public CommandLine {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "Only root can start a command of another user's.";
    CommandLine::SetUp();
  }

  // The program may start it, but no longer signal it.
  static program_call powerless_call(const private_server& server, words arguments) {
    auto it = call_at(server, std::move(arguments));
    const words before = {"--bounding-set", "-kill", it.program};
    it.arguments.insert(it.arguments.begin(), before.begin(), before.end());
    it.program = "setpriv";
    return it;
  }

  static words as_nobody(const std::string& script) {
    return {"setpriv", "--reuid", "65534", "--clear-groups", "sh", "-c", script};
  }

  static words run(const words& command) {
    words all = {"run", "--lease", "600ms", "--grace", "100ms", "a", "--"};
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }

  static void break_lock(const private_server& server) {
    holdfast_at(server, {"release", "a", "--force", "--reason", "a test"});
  }
};
HOLDFAST_ON_EACH_SERVER(CommandOfAnotherUser);

constexpr const char* goes_on =
    "the command belongs to another user and cannot be ended: it goes on without the lock";

TEST_P(CommandOfAnotherUser, IsNotSaidToBeTerminated) {
  const auto server = start();
  child_process program(
      powerless_call(server, run(as_nobody("echo $$.; read line; echo written"))));
  ASSERT_TRUE(program.wait_for_output("."));
  break_lock(server);
  EXPECT_TRUE(program.wait_for_errors(goes_on)) << program.errors();
  EXPECT_THAT(program.errors(), Not(HasSubstr("terminated")));
  EXPECT_FALSE(support::is_gone(std::stoi(program.output())));
  program.write("\n");
  EXPECT_EQ(program.wait(), exited(76));
  EXPECT_THAT(program.output(), HasSubstr("written"));
}

TEST_P(CommandOfAnotherUser, IsToldOfWhenItWasBehindAScript) {
  const auto server = start();
  child_process program(powerless_call(
      server,
      run({"sh", "-c",
           "setpriv --reuid 65534 --clear-groups sh -c 'echo $$.; exec sleep 600'; true"})));
  ASSERT_TRUE(program.wait_for_output("."));
  const pid_t left = std::stoi(program.output());
  break_lock(server);
  EXPECT_EQ(program.wait(), exited(76));
  EXPECT_THAT(program.errors(), HasSubstr(goes_on));
  EXPECT_FALSE(support::is_gone(left));
  ::kill(left, SIGKILL);
}

}  // namespace
}  // namespace holdfast::cli_tests
