// --password-command: a program that prints the password.
#include <filesystem>
#include <fstream>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

constexpr const char* secret = "hunter2-correct-horse";

class PasswordCommand : public support::server_test {
 protected:
  private_server locked() const { return start({.arguments = {"--requirepass", secret}}); }
  static std::string file_beside(const private_server& server, const char* name) {
    return (std::filesystem::path(server.socket()).parent_path() / name).string();
  }
  static finished status(const private_server& server, words more, words environment = {}) {
    words arguments{"status", "a", "--url", server.url()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto said = holdfast(arguments, std::move(environment));
    EXPECT_THAT(said.output + said.errors, Not(HasSubstr(secret)));
    return said;
  }
};
HOLDFAST_ON_EACH_SERVER(PasswordCommand);

TEST_P(PasswordCommand, ItsFirstLineIsThePassword) {
  const auto server = locked();
  const auto echo = "echo " + std::string(secret);
  const auto in_environment = "HOLDFAST_PASSWORD_COMMAND=" + echo;
  const auto wrong = std::string("HOLDFAST_PASSWORD=wrong");
  const auto file = file_beside(server, "password");
  std::ofstream(file) << secret << '\n';
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  for (const auto& said :
       {status(server, {"--password-command", echo + "; echo and more"}),
        status(server, {"--password-command", "printf '" + std::string(secret) + "\\r\\n'"}),
        status(server, {}, {in_environment}), status(server, {}, {in_environment, wrong}),
        status(server, {"--password-command", echo}, {"HOLDFAST_PASSWORD_COMMAND=false"}),
        status(server, {"--password-file", file}, {"HOLDFAST_PASSWORD_COMMAND=false"})}) {
    EXPECT_EQ(said.how, exited(0)) << said.errors;
  }
}

TEST_P(PasswordCommand, ThatFailsIsTold) {
  const auto server = locked();
  const auto said = [&](const std::string& command) {
    return status(server, {"--password-command", command, "--connect-timeout", "100ms"});
  };
  const auto print = "echo " + std::string(secret);
  const std::vector<std::pair<std::string, std::string>> commands = {
      {print + "; echo 'no token here' >&2; exit 3", "failed with exit status 3"},
      {"kill -9 $$", "failed with exit status 137"},
      {"kill -9 $PPID", "was killed"},
      {"/nowhere/at/all", "failed with exit status 127"},
      {"cat", "has printed no password in its first line"},  // its input is empty
      {"echo; " + print, "has printed no password in its first line"},
      {"yes | head -c 100000", "prints more than 64 KiB"},
      {print + "; sleep 1000", "has not ended within 1.0s"},
      {"echo wrong", "WRONGPASS"},
  };
  for (const auto& [command, why] : commands) {
    const auto seen = said(command);
    EXPECT_EQ(seen.how, exited(77)) << command;
    EXPECT_THAT(seen.errors, HasSubstr(why)) << command;
  }
  EXPECT_THAT(said(commands.front().first).errors, HasSubstr("no token here\n")) << "by itself";
}

TEST_P(PasswordCommand, DoesNotGoWithOtherOptions) {
  const auto server = locked();
  for (const auto& more :
       {words{"--password-command", "true", "--password-file", "/dev/null"},
        words{"--password-valid-for", "15m"}, words{"--password-valid-for", "0"}}) {
    const auto said = status(server, more);
    EXPECT_EQ(said.how, exited(64)) << said.errors;
  }
}

// The command of `run` is reaped by the same process: neither takes the other's end for its own.
TEST_P(PasswordCommand, RunsAgainWhileTheLockIsHeld) {
  const auto server = start();
  server.command(
      {"ACL", "SETUSER", "worker", "on", ">" + std::string(secret), "~*", "&*", "+@all"});
  const auto count = file_beside(server, "count");
  child_process program(
      call({"run", "a", "--url", server.url(), "--user", "worker", "--password-command",
            "echo >>" + count + "; echo " + secret, "--password-valid-for", "1s", "--", "sh", "-c",
            "echo in; read line; exit 7"}));
  ASSERT_TRUE(program.wait_for_output("in"));
  EXPECT_TRUE(eventually([&] { return server.calls("auth") >= 2; }));
  EXPECT_GE(std::filesystem::file_size(count), 3U);
  program.write("\n");
  EXPECT_EQ(program.wait(), exited(7)) << program.errors();
  EXPECT_THAT(program.errors(), IsEmpty());
}

TEST_P(PasswordCommand, IsNotForTheCommandUnderTheLock) {
  const auto server = locked();
  const auto environment = words{"HOLDFAST_PASSWORD_COMMAND=echo " + std::string(secret)};
  const auto seen = [&](words more) {
    words arguments{"run", "a", "--url", server.url()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", "echo ${HOLDFAST_PASSWORD_COMMAND-none}"});
    return holdfast(arguments, environment).output;
  };
  EXPECT_EQ(seen({}), "none\n");
  EXPECT_EQ(seen({"--pass-passwords"}), "echo " + std::string(secret) + "\n");
}

}  // namespace
}  // namespace holdfast::cli_tests
