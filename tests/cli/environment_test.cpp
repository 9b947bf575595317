// Users and TLS options from the environment, and the servers that they are for.
#include <filesystem>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

HOLDFAST_ON_EACH_SERVER(CommandLine);

// As in a profile, for the server of everyday.
const words everyday = {"HOLDFAST_USER=somebody", "HOLDFAST_PASSWORD=pw",
                        "HOLDFAST_TLS_CA=/nowhere/ca.pem"};

const words short_demo = {"demo", "--story", "orders", "--processes", "2", "--threads", "5"};
const words short_bench = {"bench", "--seconds", "1", "--threads", "1"};

words with(words all, const words& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_P(CommandLine, APrivateServerKnowsNoUsersAndNoTls) {
  const words all = with(everyday, {"HOLDFAST_SERVER=" + GetParam()});
  for (const auto& arguments : {words{"run", "--url", "embedded:", "a", "--", "true"},
                                words{"status", "a", "--url", "Embedded:"},
                                with(short_bench, {"--url", "embedded:"}), short_demo}) {
    const auto said = holdfast(arguments, all);
    EXPECT_EQ(said.how, exited(0)) << arguments.front() << said.errors;
  }
}

TEST_P(CommandLine, ASharedServerKnowsNoUsersAndNoTls) {
  const auto server = start();
  const auto url =
      "embedded:" + (std::filesystem::path(server.socket()).parent_path() / "shared").string();
  const words all = with(everyday, {"HOLDFAST_URL=" + url, "HOLDFAST_EMBEDDED_LINGER=0"});
  for (const auto& arguments : {words{"run", "a", "--", "true"}, short_bench, short_demo}) {
    const auto said = holdfast(arguments, all);
    EXPECT_EQ(said.how, exited(0)) << arguments.front() << said.errors;
  }
}

// A server without a password takes any, from a command that speaks to it itself as from the
// library.
TEST_P(CommandLine, APasswordThatNobodyAsksForDoesNoHarm) {
  const auto server = start();
  const words all = {"HOLDFAST_URL=" + server.url(), "HOLDFAST_PASSWORD=pw",
                     "HOLDFAST_TLS_CERT=/nowhere/own.pem"};
  for (const auto& arguments : {words{"run", "a", "--", "true"}, short_bench, short_demo}) {
    const auto said = holdfast(arguments, all);
    EXPECT_EQ(said.how, exited(0)) << arguments.front() << said.errors;
  }
}

// An option on the command line is meant for this server.
TEST(Environment, AnOptionIsNotOverlooked) {
  EXPECT_EQ(holdfast({"status", "a", "--url", "embedded:", "--user", "somebody"}).how, exited(77));
  EXPECT_EQ(holdfast({"status", "a", "--url", "embedded:", "--tls-ca", "/nowhere"}).how,
            exited(64));
}

}  // namespace
}  // namespace holdfast::cli_tests
