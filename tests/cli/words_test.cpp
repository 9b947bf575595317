// Messages about words in the wrong place, and where help is to be found.
#include "cli/help.hpp"
#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

TEST(Words, AForgottenDashIsNamed) {
  for (const std::string command : {"run", "elect"}) {
    const auto refused = [&](words arguments) {
      arguments.insert(arguments.begin(), command);
      const auto said = holdfast(arguments);
      EXPECT_EQ(said.how, exited(64)) << said.errors;
      return said.errors;
    };
    EXPECT_THAT(refused({"w", "echo", "hi"}),
                HasSubstr("the command stands after --: holdfast " + command + " NAME -- echo hi"));
    EXPECT_THAT(refused({"w", "echo hi"}), HasSubstr("NAME -- sh -c 'echo hi'"));
    EXPECT_THAT(refused({"w", "-c", "echo hi"}), HasSubstr("NAME -- sh -c 'echo hi'"));
    EXPECT_THAT(refused({"w"}), HasSubstr("a command after -- is required"));
    EXPECT_THAT(refused({"w", "--wiat", "3s", "--", "true"}), HasSubstr("not expected: --wiat 3s"));
    EXPECT_THAT(refused({"--", "true"}), HasSubstr("NAME is required"));
  }
  EXPECT_THAT(holdfast({"ls", "a", "b", "c"}).errors, HasSubstr("not expected: b c ("));
}

TEST_P(CommandLine, ACommandForAShellIsNamedSo) {
  const auto server = start();
  const auto refused = [&](words command) {
    command.insert(command.begin(), {"run", "w", "--"});
    const auto said = holdfast_at(server, command);
    EXPECT_EQ(said.how, exited(127)) << said.errors;
    return said.errors;
  };
  EXPECT_THAT(refused({"a && b"}), HasSubstr("sh -c 'a && b'"));
  EXPECT_THAT(refused({"cd", "/tmp"}), HasSubstr("sh -c 'cd /tmp'"));
  EXPECT_THAT(refused({"A=1", "env"}), HasSubstr("sh -c 'A=1 env'"));
  EXPECT_THAT(refused({"no-such-program"}), Not(HasSubstr("sh -c")));
  const auto made =
      holdfast_at(server, {"run", "w", "--", "sh", "-c",
                           "f=$(mktemp) && echo '#!/no/such/shell' >$f && chmod +x $f && echo $f"});
  const auto script = made.output.substr(0, made.output.find('\n'));
  EXPECT_THAT(refused({script}), HasSubstr("not the interpreter that its first line names"));
  ::unlink(script.c_str());
}

TEST(Words, WhoKnowsNoNameIsToldToListThem) {
  for (const auto& arguments :
       {words{"status"}, words{"watch"}, words{"release", "--force", "--reason", "r"}}) {
    const auto said = holdfast(arguments);
    EXPECT_EQ(said.how, exited(64));
    EXPECT_THAT(said.errors, HasSubstr("NAME is required; `holdfast ls` lists the locks"));
  }
}

TEST(Words, EveryHelpShowsTheOptionsOfAllCommands) {
  const auto common = options_of("");
  ASSERT_GT(common.size(), 15U);
  for (const auto& command : commands()) {
    const auto shown = entries(help_of(command), "Options of every command:");
    for (const auto& option : common) {
      if (option == "--version") continue;
      EXPECT_THAT(shown, ::testing::Contains(option)) << command;
    }
  }
}

TEST_P(CommandLine, WhoseLockItIsAndWhatCameOfItAreSaidOnce) {
  const auto server = start();
  const holder has(server, "a");
  const auto said = [&](words how) {
    how.insert(how.begin(), {"run", "a"});
    how.insert(how.end(), {"--", "true"});
    return holdfast_at(server, how).errors;
  };
  const auto held = "holdfast: 'a' is held by [^']*:" + std::to_string(has.pid()) + " holdfast";
  EXPECT_THAT(said({"--nonblock"}),
              ::testing::MatchesRegex(held + "; ask again later or wait for it\n"));
  EXPECT_THAT(said({"--wait", "50ms"}),
              ::testing::MatchesRegex(held + ": the lock was not obtained in time\n"));
}

}  // namespace
}  // namespace holdfast::cli_tests
