#include "support/child_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>

#include "support/forked.hpp"

namespace holdfast::support {
namespace {

using ::testing::HasSubstr;

program_call shell(const std::string& script) {
  return {.program = "sh", .arguments = {"-c", script}};
}

TEST(ChildProcess, TellsOutputAndExitCode) {
  const auto done = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(done.how, (ending{3, 0}));
  EXPECT_EQ(done.output, "out\n");
  EXPECT_EQ(done.errors, "err\n");
}

TEST(ChildProcess, PassesArgumentsUnchanged) {
  const program_call call{.program = "printf", .arguments = {"%s|", "a b", "", "*"}};
  EXPECT_EQ(run(call).output, "a b||*|");
}

TEST(ChildProcess, PassesInputOfAnySize) {
  const std::string big(1'000'000, 'x');
  EXPECT_EQ(run({.program = "wc", .arguments = {"-c"}}, big).output, "1000000\n");
}

TEST(ChildProcess, PassesInputWhileItTakesOutput) {
  const std::string big(1'000'000, 'x');
  EXPECT_EQ(run({.program = "cat"}, big).output, big);
}

TEST(ChildProcess, NeedNotReadItsInput) {
  EXPECT_EQ(run({.program = "true"}, std::string(1'000'000, 'x')).how, (ending{0, 0}));
}

TEST(ChildProcess, TakesOutputOfAnySize) {
  EXPECT_EQ(run(shell("head -c 1000000 /dev/zero")).output.size(), 1'000'000U);
}

TEST(ChildProcess, ChangesTheEnvironment) {
  auto call = shell("echo \"$HOLDFAST_ONE-${HOME-unset}\"");
  call.environment = {"HOLDFAST_ONE=1", "HOME"};
  EXPECT_EQ(run(call).output, "1-unset\n");
}

TEST(ChildProcess, WorksInADirectory) {
  auto call = shell("pwd");
  call.directory = "/usr";
  EXPECT_EQ(run(call).output, "/usr\n");
}

TEST(ChildProcess, TellsWhichSignalKilledIt) {
  EXPECT_EQ(run(shell("kill -TERM $$")).how, (ending{-1, SIGTERM}));
}

TEST(ChildProcess, IsDrivenStepByStep) {
  child_process child(shell(
      "trap 'echo caught >&2' TERM; echo ready; until read line; do :; done; echo \"$line\""));
  ASSERT_TRUE(child.wait_for_output("ready\n"));
  child.signal(SIGTERM);
  ASSERT_TRUE(child.wait_for_errors("caught"));
  child.write("hello\n");
  EXPECT_EQ(child.wait(), (ending{0, 0}));
  EXPECT_THAT(child.output(), HasSubstr("hello\n"));
  EXPECT_FALSE(child.wait_for_output("never"));
}

TEST(ChildProcess, HasAGroupWhenAsked) {
  auto call = shell("sleep 600 & echo $!; wait");
  call.own_group = true;
  child_process child(call);
  ASSERT_TRUE(child.wait_for_output("\n"));
  const auto grandchild = std::stoi(child.output());
  child.signal_group(SIGINT);
  child.signal_group(SIGTERM);
  EXPECT_NE(child.wait().signal, 0);
  EXPECT_TRUE(eventually([&] { return is_gone(grandchild); }));
}

TEST(ChildProcess, GivesUpOnWhatDoesNotEnd) {
  child_process child(shell("echo stuck; exec sleep 600"));
  ASSERT_TRUE(child.wait_for_output("stuck"));
  EXPECT_THROW(child.wait(milliseconds(20)), std::runtime_error);
  EXPECT_FALSE(child.wait_for_output("never", milliseconds(20)));
}

TEST(ChildProcess, IsKilledWithItsObject) {
  pid_t pid = 0;
  {
    const child_process child(shell("exec sleep 600"));
    pid = child.pid();
  }
  EXPECT_TRUE(is_gone(pid));
}

TEST(ChildProcess, SaysWhenThereIsNoSuchProgram) {
  try {
    run({.program = "no-such-program"});
    FAIL() << "it ran";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot run no-such-program: No such file"));
  }
}

}  // namespace
}  // namespace holdfast::support
