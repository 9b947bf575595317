// Wrong arguments, addresses, servers and rights: the exit code, the message, and no secret in it.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "embedded/directories.hpp"
#include "support/fake_server.hpp"
#include "support/listener.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

constexpr const char* secret = "s3cr3t-pa55word";

std::string at_port(std::uint16_t port) { return "redis://127.0.0.1:" + std::to_string(port); }

TEST(Refusals, AWordIsTakenForACommandOnlyWhenItIsLikeOne) {
  EXPECT_THAT(holdfast({"stauts", "a"}).errors, HasSubstr("did you mean 'status'?"));
  EXPECT_THAT(holdfast({"lss"}).errors, HasSubstr("did you mean 'ls'?"));
  EXPECT_THAT(holdfast({"hold"}).errors, Not(HasSubstr("did you mean")));
  EXPECT_THAT(holdfast({"x"}).errors, Not(HasSubstr("did you mean")));
}

TEST(Help, IsThatOfTheOption) {
  EXPECT_EQ(holdfast({"help"}).output, holdfast({"--help"}).output);
  EXPECT_EQ(holdfast({"help", "run"}).output, holdfast({"run", "--help"}).output);
  EXPECT_EQ(holdfast({"help", "rum"}).how, exited(64));
}

TEST(Refusals, WrongArguments) {
  const std::vector<words> wrong = {
      {},
      {"stauts", "a"},
      {"status"},
      {"run", "a"},
      {"run", "a", "--"},
      {"run", "--", "true"},
      {"run", "a", "b", "--", "true"},
      {"run", "--wait", "-1s", "a", "--", "true"},
      {"run", "--wait", "10", "a", "--", "true"},
      {"run", "--wait", "9999999h", "a", "--", "true"},
      {"run", "--wait", "1e3s", "a", "--", "true"},
      {"run", "--wait", "s", "a", "--", "true"},
      {"run", "--wait", "0.0001ms", "a", "--", "true"},
      {"run", "--lease", "1ms", "a", "--", "true"},
      {"run", "--lease", "25h", "a", "--", "true"},
      {"run", "--nonblock", "--wait", "1s", "a", "--", "true"},
      {"run", "--on-lost", "panic", "a", "--", "true"},
      {"run", "", "--", "true"},
      {"run", std::string(513, 'x'), "--", "true"},
      {"release", "a", "--reason", "r"},
      {"release", "a", "--force"},
      {"ls", "--limit", "0"},
      {"ls", "a", "--", "b"},
      {"ls", "--", "-a", "-b"},
      {"completion", "tcsh"},
      {"counter"},
      {"counter", ""},
      {"counter", "a", "increase"},
      {"counter", "a", "add"},
      {"counter", "a", "add", "1.5"},
      {"counter", "a", "add", "9223372036854775808"},
      {"counter", "a", "get", "1"},
      {"counter", "a", "cas", "1"},
      {"counter", "a", "cas", "1", "2", "3"},
      {"status", "a", "--connect-timeout", "0s"},
      {"status", "a", "--passwrod", "x"},
  };
  for (const auto& arguments : wrong) {
    const auto said = holdfast(arguments);
    EXPECT_EQ(said.how, exited(64)) << ::testing::PrintToString(arguments);
    EXPECT_THAT(said.errors, HasSubstr("holdfast: ")) << ::testing::PrintToString(arguments);
    EXPECT_THAT(said.output, IsEmpty());
  }
  EXPECT_THAT(holdfast({"stauts"}).errors, HasSubstr("did you mean 'status'?"));
}

// Of what only binary fractions have exactly, decimal ones must do.
TEST(Refusals, DurationsAreAnyWholeNumberOfMilliseconds) {
  const auto refusal = [](const char* option, const char* text) {
    return holdfast({"run", option, text, "a", "--", "true"}, {"HOLDFAST_URL=nonsense"});
  };
  for (const auto* text : {"16.1s", "4.1m", "1.1h", "2.2h", "1.001s", "100ms"}) {
    EXPECT_EQ(refusal("--lease", text).how, exited(78)) << text << ": it is the address";
  }
  for (const auto* text : {"1.0001s", "0.5ms", "1", "s", "1d", "-1s", "1e3s"}) {
    EXPECT_EQ(refusal("--wait", text).how, exited(64)) << text;
  }
  EXPECT_THAT(refusal("--wait", "8761h").errors, HasSubstr("must be 0ms to 8760h"));
  EXPECT_THAT(refusal("--wait", "99999999999999999999h").errors, HasSubstr("must be"));
}

TEST(Refusals, WrongAddresses) {
  for (const auto* url : {"http://host", "redis://", "redis://host:0", "redis://host:x", "unix://a",
                          "embedded:relative", "rediss://", "redis://host/x", "nonsense"}) {
    const auto said = holdfast({"status", "a"}, {std::string("HOLDFAST_URL=") + url});
    EXPECT_EQ(said.how, exited(78)) << url << said.errors;
  }
}

TEST(Refusals, NoServer) {
  const auto closed = at_port(support::free_port());
  for (const auto& command :
       {words{"status", "a"}, words{"ls"}, words{"doctor"}, words{"run", "a", "--", "true"},
        words{"release", "a", "--force", "--reason", "r"}, words{"watch", "a"},
        words{"elect", "a", "--", "true"}, words{"counter", "a", "get"},
        words{"semaphore", "get", "a"}}) {
    const auto said = holdfast(command, {"HOLDFAST_URL=" + closed});
    EXPECT_EQ(said.how, exited(69)) << command.front();
    EXPECT_THAT(said.errors, Not(HasSubstr("embedded:")));
  }
  EXPECT_EQ(holdfast({"status", "a", "--url", "redis://no-such-host.invalid"}).how, exited(69));
}

// One connects and never says anything, one can be logged in to and no more. Usual are 2 s.
TEST(Refusals, ServersThatDoNotAnswerInTheTimeAskedFor) {
  net::descriptor listener;
  const auto deaf = at_port(support::listen_on_loopback(listener));
  support::fake_server dumb([](const auto& asked) {
    using answer = std::optional<support::fake_server::reply>;
    const bool is_a_script = asked.front().starts_with("EVAL");
    return is_a_script ? answer{support::fake_server::silence()} : answer{};
  });
  for (const auto& one :
       {std::pair{"--connect-timeout", deaf}, {"--response-timeout", dumb.url()}}) {
    const std::string option = one.first, &url = one.second;
    const auto takes = [&](words arguments) {
      arguments.insert(arguments.begin(), {"status", "a", "--url", url});
      const auto begin = net::now();
      const auto said = holdfast(arguments);
      EXPECT_EQ(said.how, exited(69)) << said.errors;
      EXPECT_THAT(said.errors, HasSubstr("did not answer in time"));
      return net::now() - begin;
    };
    EXPECT_LT(2 * takes({option, "100ms"}), takes({})) << option;
  }
}

TEST(Refusals, HintsAtEmbeddedWhenTheDefaultDoesNotAnswer) {
  const auto said = holdfast({"status", "a"});
  if (said.how == exited(0)) GTEST_SKIP() << "a server answers at 127.0.0.1:6379";
  EXPECT_EQ(said.how, exited(69));
  EXPECT_THAT(said.errors, HasSubstr("no server answers at redis://127.0.0.1:6379; start one"));
  EXPECT_THAT(said.errors, HasSubstr("--url embedded:/tmp/holdfast-$USER"));
}

TEST(Refusals, PasswordFilesThatCannotBeRead) {
  const auto said = holdfast({"status", "a", "--password-file", "/nowhere/at all"});
  EXPECT_EQ(said.how, exited(78));
  EXPECT_THAT(said.errors, HasSubstr("'/nowhere/at all' cannot be read: No such file"));
  EXPECT_THAT(holdfast({"status", "a", "--password-file", "/dev/null"}).errors,
              HasSubstr("the first line of the password file '/dev/null' is empty"));
}

TEST(Refusals, FilesThatWouldNeverEnd) {
  const embedded::private_directory folder;
  const auto fifo = (folder.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const words& option :
       {words{"--url", "redis://127.0.0.1:1", "--password-file"}, words{"--members-file"}}) {
    const auto refusal = [&](const std::string& file) {
      words arguments = {"status", "a"};
      arguments.insert(arguments.end(), option.begin(), option.end());
      arguments.push_back(file);
      const auto said = holdfast(arguments);
      EXPECT_EQ(said.how, exited(78)) << option.back() << file;
      return said.errors;
    };
    EXPECT_THAT(refusal("/dev/zero"), HasSubstr("'/dev/zero' is longer than 64 KiB"));
    EXPECT_THAT(refusal(fifo), HasSubstr("fifo' is a pipe that nobody writes to"));
  }
}

// As a shell makes them of `<(command)`. One command takes longer than a FIFO waits for a writer.
TEST_P(CommandLine, FilesMayBePipes) {
  const auto server = start({.arguments = {"--requirepass", secret}});
  net::descriptor listener;
  const auto deaf = at_port(support::listen_on_loopback(listener));
  const auto said = [&](const std::string& arguments) {
    auto shell = call({"-c", "exec \"$0\" status a " + arguments, HOLDFAST_PROGRAM});
    shell.program = "bash";
    return support::run(shell);
  };
  const auto url = " --url " + server.url();
  const auto echo = "echo " + std::string(secret);
  for (const auto& arguments :
       {"--password-file <(" + echo + ")" + url,
        "--password-file <(\"$0\" status b --url " + deaf + " --connect-timeout 2500ms; " + echo +
            ")" + url,
        "--members-file <(echo " + logged_in(server.url(), ":" + std::string(secret)) + ")"}) {
    const auto seen = said(arguments);
    EXPECT_EQ(seen.how, exited(0)) << arguments << seen.errors;
  }
}

TEST(Refusals, UsersThatWouldBreakTheLineThatIsPrinted) {
  for (const auto* user : {"a b", "a\nb", "a\t"}) {
    EXPECT_EQ(holdfast({"acl", "*", "--user", user}).how, exited(64)) << user;
  }
}

TEST(Refusals, NotARedisServer) {
  support::fake_server web([](const auto&) {
    return support::fake_server::reply{"HTTP/1.1 400 Bad Request\r\n\r\n",
                                       support::fake_server::then::close};
  });
  const auto said = holdfast({"status", "a", "--url", web.url()});
  EXPECT_EQ(said.how, exited(69)) << said.errors;
  EXPECT_THAT(said.errors, HasSubstr("does not speak the Redis protocol"));
}

TEST(Refusals, LocksThatNoOtherProcessSees) {
  for (const auto& arguments : {words{"run", "a", "--", "true"}, words{"status", "a"}}) {
    auto with_url = arguments;
    with_url.insert(with_url.begin() + 1, {"--url", "memory:"});
    const auto said = holdfast(with_url);
    EXPECT_EQ(said.how, exited(78)) << said.errors;
    EXPECT_THAT(said.errors, HasSubstr("would exclude nobody"));
  }
}

TEST(Refusals, ErrorsAreJsonWhenAskedFor) {
  const auto error = [](words arguments) {
    return nlohmann::json::parse(holdfast(std::move(arguments)).errors)["error"];
  };
  EXPECT_EQ(error({"--json", "nothing"})["code"], "usage");
  EXPECT_EQ(error({"status", "a", "--json", "--url", "x"})["code"], "invalid_url");
  const auto closed = at_port(support::free_port());
  EXPECT_EQ(error({"run", "--json", "a", "--url", closed, "--", "true"})["code"], "unavailable");
}

TEST(Refusals, NoPasswordInArguments) {
  const auto url = std::string("redis://me:") + secret + "@127.0.0.1:1";
  for (const auto& arguments : {words{"status", "a", "--url", url}, words{"status", "--ulr", url},
                                words{url}, words{"status", "a", "--url=" + url},
                                words{"ls", "x", url}, words{"status", "a", "--wait", url}}) {
    const auto said = holdfast(arguments);
    EXPECT_EQ(said.how, exited(64)) << said.errors;
    EXPECT_THAT(said.output + said.errors, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(holdfast({"status", "a", "--url", url}).errors, HasSubstr("HOLDFAST_PASSWORD"));
}

TEST_P(CommandLine, PasswordsFromEnvironmentAndFile) {
  const auto server = start({.tcp = true, .arguments = {"--requirepass", secret}});
  const auto url = server.tcp_url();
  const auto file = std::filesystem::path(server.socket()).parent_path() / "password";
  std::ofstream(file) << secret << "\n";
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  const auto password = std::string("HOLDFAST_PASSWORD=") + secret;
  const auto with_login = "HOLDFAST_URL=redis://:" + std::string(secret) + "@" + url.substr(8);
  for (const unsigned mode : {0666U, 0620U, 0644U}) {
    std::filesystem::permissions(file, std::filesystem::perms(mode));
    const auto refused = holdfast({"status", "a", "--url", url, "--password-file", file.string()});
    EXPECT_EQ(refused.how, exited(78)) << mode;
    EXPECT_THAT(refused.errors, ::testing::AnyOf(HasSubstr("other users"), HasSubstr("every user")))
        << mode;
  }
  std::filesystem::permissions(file, std::filesystem::perms(0640));
  const std::vector<std::pair<finished, int>> said = {
      {holdfast({"status", "a", "--url", url}), 77},
      {holdfast({"status", "a", "--url", url}, {"HOLDFAST_PASSWORD=wrong-" + url}), 77},
      {holdfast({"status", "a", "--url", url}, {password}), 0},
      {holdfast({"status", "a"}, {with_login}), 0},
      {holdfast({"doctor"}, {with_login}), 0},
      {holdfast({"doctor", "--url", url}), 77},
      {holdfast({"status", "a", "--url", url, "--password-file", file.string()}), 0},
      {holdfast({"status", "a", "--url", url, "--password-file", "/nowhere"}), 78},
  };
  for (std::size_t i = 0; i < said.size(); ++i) {
    EXPECT_EQ(said[i].first.how, exited(said[i].second)) << i << said[i].first.errors;
    EXPECT_THAT(said[i].first.output + said[i].first.errors, Not(HasSubstr(secret))) << i;
  }
}

// Those have a connection of their own.
TEST_P(CommandLine, BenchAndDemoTellARefusedLogIn) {
  const auto server = start({.tcp = true, .arguments = {"--requirepass", secret}});
  const auto url = server.tcp_url();
  for (const auto& command : {words{"bench", "--seconds", "1"}, words{"demo", "--no-svg"}}) {
    auto at_url = command;
    at_url.insert(at_url.end(), {"--json", "--url", url});
    for (const words& login : {words{}, words{"HOLDFAST_PASSWORD=wrong"}}) {
      const auto said = holdfast(at_url, login);
      EXPECT_EQ(said.how, exited(77)) << command.front() << said.errors;
      EXPECT_THAT(said.errors, HasSubstr("\"authentication\"")) << command.front();
    }
  }
}

TEST_P(CommandLine, MissingRights) {
  const auto server = start();
  server.command({"ACL", "SETUSER", "weak", "on", ">weak", "~*", "-@all", "+ping", "+hello",
                  "+client", "+select", "+auth"});
  const auto said = holdfast({"run", "a", "--user", "weak", "--", "true"},
                             {"HOLDFAST_URL=" + server.url(), "HOLDFAST_PASSWORD=weak"});
  EXPECT_EQ(said.how, exited(77)) << said.errors;
  const auto measured = holdfast({"bench", "--user", "weak", "--json"},
                                 {"HOLDFAST_URL=" + server.url(), "HOLDFAST_PASSWORD=weak"});
  EXPECT_EQ(measured.how, exited(77)) << measured.errors;
  EXPECT_THAT(measured.errors, HasSubstr("\"permission_denied\""));
}

}  // namespace
}  // namespace holdfast::cli_tests
