// The manual page and the completion scripts know every command and every option.
#include <fstream>
#include <sstream>

#include "cli/help.hpp"
#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

std::string manual() {
  std::ifstream file(std::string(HOLDFAST_SOURCES) + "/cli/holdfast.1");
  std::stringstream text;
  text << file.rdbuf();
  auto all = text.str();
  std::erase(all, '\\');
  return all;
}

// From the line that begins so to the line that begins with `end`.
std::string section(const std::string& text, const std::string& beginning, const std::string& end) {
  const auto from = text.find("\n" + beginning);
  if (from == std::string::npos) return {};
  return text.substr(from, text.find("\n" + end, from + beginning.size()) - from);
}

TEST(Manual, HasASectionForEveryCommandWithAllItsOptions) {
  const auto text = manual();
  ASSERT_GT(commands().size(), 10U);
  for (const auto& command : commands()) {
    const auto about = section(text, ".SS holdfast " + command, ".S");
    EXPECT_FALSE(about.empty()) << command;
    EXPECT_THAT(text, HasSubstr("\n.B holdfast " + command + "\n")) << "in the synopsis";
    for (const auto& option : options_of(command)) EXPECT_THAT(about, HasSubstr(option)) << command;
  }
  for (const auto& option : options_of("")) EXPECT_THAT(text, HasSubstr(option));
}

TEST(Manual, NamesEveryExitCodeAndVariable) {
  const auto text = manual();
  for (const auto* code : {"0", "1", "64", "65", "69", "70", "74", "75", "76", "77", "78", "79",
                           "124", "126", "127"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n.B ") + code + "\n"));
  }
  for (const auto* variable : {"HOLDFAST_URL",
                               "HOLDFAST_USER",
                               "HOLDFAST_PASSWORD",
                               "HOLDFAST_PASSWORD_COMMAND",
                               "HOLDFAST_SENTINEL_USER",
                               "HOLDFAST_SENTINEL_PASSWORD",
                               "HOLDFAST_TLS_CA",
                               "HOLDFAST_TLS_CERT",
                               "HOLDFAST_TLS_KEY",
                               "HOLDFAST_TLS_SERVER_NAME",
                               "HOLDFAST_SENTINEL_TLS_CA",
                               "HOLDFAST_SENTINEL_TLS_CERT",
                               "HOLDFAST_SENTINEL_TLS_KEY",
                               "HOLDFAST_SENTINEL_TLS_SERVER_NAME",
                               "HOLDFAST_NAME",
                               "HOLDFAST_TOKEN",
                               "HOLDFAST_TOKENS",
                               "HOLDFAST_HELD",
                               "HOLDFAST_TENANT",
                               "HOLDFAST_AUDIT"}) {
    EXPECT_THAT(text, HasSubstr(variable));
  }
}

bool is_installed(const std::string& program) {
  return support::run({.program = "sh", .arguments = {"-c", "command -v " + program}}).how ==
         exited(0);
}

TEST(Manual, IsRenderedWithoutAWarning) {
  if (!is_installed("groff")) GTEST_SKIP() << "groff is not installed";
  const auto page = std::string(HOLDFAST_SOURCES) + "/cli/holdfast.1";
  const auto said =
      support::run({.program = "groff", .arguments = {"-ww", "-man", "-Tutf8", page}});
  EXPECT_EQ(said.how, exited(0));
  EXPECT_THAT(said.errors, IsEmpty());
  EXPECT_THAT(said.output, HasSubstr("holdfast"));
}

// The programs that they start are not installed here.
TEST(Units, AreUnderstoodBySystemd) {
  if (!is_installed("systemd-analyze")) GTEST_SKIP() << "systemd-analyze is not installed";
  const auto said = support::run(
      {.program = "sh",
       .arguments = {"-c",
                     "set -e; d=$(mktemp -d); trap 'rm -r $d' EXIT; "
                     "for unit in " HOLDFAST_SOURCES "/examples/deploy/systemd/*; do "
                     "sed 's#/usr/local/bin/holdfast#/bin/true#' $unit >$d/${unit##*/}; done; "
                     "systemd-analyze verify --man=no $d/*"}});
  EXPECT_EQ(said.how, exited(0));
  EXPECT_THAT(said.errors, IsEmpty());
  EXPECT_THAT(said.output, IsEmpty());
}

class Completion : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(In, Completion, ::testing::Values("bash", "zsh", "fish"),
                         [](const auto& shell) { return shell.param; });

TEST_P(Completion, IsAcceptedByItsShell) {
  const auto script = holdfast({"completion", GetParam()});
  ASSERT_EQ(script.how, exited(0));
  if (!is_installed(GetParam())) GTEST_SKIP() << GetParam() << " is not installed";
  const words arguments =
      GetParam() == "fish" ? words{"--no-execute", "/dev/stdin"} : words{"-n", "/dev/stdin"};
  const auto said = support::run({.program = GetParam(), .arguments = arguments}, script.output);
  EXPECT_EQ(said.how, exited(0)) << said.errors;
}

// Whether this word is in a list of words.
bool offers(const std::string& script, const std::string& word) {
  const auto is_edge = [&](std::size_t at) {
    return std::string_view("\"'() \n").find(script[at]) != std::string_view::npos;
  };
  for (auto at = script.find(word); at != script.npos; at = script.find(word, at + 1)) {
    if (is_edge(at - 1) && is_edge(at + word.size())) return true;
  }
  return false;
}

TEST_P(Completion, OffersEveryKindOfAddress) {
  auto script = holdfast({"completion", GetParam()}).output;
  std::erase(script, '\\');
  for (const auto* address : {"redis://", "rediss://", "redis+sentinel://", "rediss+sentinel://",
                              "redis+cluster://", "rediss+cluster://", "unix://", "embedded:"}) {
    EXPECT_TRUE(offers(script, address)) << address;
  }
}

// What bash offers for the last word of a line.
std::string offered(const std::string& line) {
  const auto script = "source <(" + std::string(HOLDFAST_PROGRAM) + " completion bash); " +
                      "COMP_WORDS=(" + line + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); " +
                      "_holdfast; echo \" ${COMPREPLY[*]} \"; complete -p holdfast";
  return support::run({.program = "bash", .arguments = {"-c", script}}).output;
}

TEST(CompletionOfBash, OffersEveryCommandAndItsOptions) {
  for (const auto& command : commands()) {
    EXPECT_THAT(offered("holdfast ''"), HasSubstr(" " + command + " "));
    for (const auto& option : options_of(command)) {
      EXPECT_THAT(offered("holdfast " + command + " --"), HasSubstr(" " + option + " ")) << command;
    }
  }
  for (const auto& option : options_of("")) {
    EXPECT_THAT(offered("holdfast --"), HasSubstr(" " + option + " "));
  }
}

TEST(CompletionOfBash, OffersWhatAnOptionTakes) {
  EXPECT_THAT(offered("holdfast sta"), HasSubstr(" status \n"));
  EXPECT_THAT(offered("holdfast run --on-lost w"), HasSubstr(" warn \n"));
  EXPECT_THAT(offered("holdfast elect --signal c"), HasSubstr(" command \n"));
  EXPECT_THAT(offered("holdfast semaphore s"), HasSubstr(" set \n"));
  EXPECT_THAT(offered("holdfast ''"), HasSubstr("-F _holdfast holdfast"));
}

TEST(CompletionOfZsh, KnowsEveryCommandAndItsOptions) {
  const auto script = holdfast({"completion", "zsh"}).output;
  for (const auto& command : commands()) {
    EXPECT_THAT(script, HasSubstr("    '" + command + ":")) << command;
    const auto from = script.find("\n        " + command + ")");
    const auto about = script.substr(std::min(from, script.size()), script.find(";;", from) - from);
    for (const auto& option : options_of(command)) {
      EXPECT_THAT(about, HasSubstr(option + "[")) << command;
    }
  }
  for (const auto& option : options_of("")) EXPECT_THAT(script, HasSubstr("'" + option + "["));
}

// As a user of the shell sees it.
TEST(CompletionOfFish, OffersWhatBeginsSo) {
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed";
  const auto script = holdfast({"completion", "fish"}).output;
  const auto offered = [&](const std::string& line) {
    const auto ask = script + "\ncomplete -C '" + line + "'\n";
    return support::run({.program = "fish", .arguments = {"--no-config"}}, ask).output;
  };
  EXPECT_THAT(offered("holdfast sta"), ::testing::StartsWith("status\t"));
  EXPECT_THAT(offered("holdfast ls --li"), ::testing::StartsWith("--limit\t"));
  EXPECT_THAT(offered("holdfast run --on-lost w"), ::testing::StartsWith("warn\t"));
}

TEST(CompletionOfFish, KnowsEveryCommandAndItsOptions) {
  const auto script = holdfast({"completion", "fish"}).output;
  for (const auto& command : commands()) {
    EXPECT_THAT(script, HasSubstr(" -a " + command + " -d ")) << command;
    for (const auto& option : options_of(command)) {
      EXPECT_THAT(script, HasSubstr("from " + command + "' -l " + option.substr(2) + " "));
    }
  }
  for (const auto& option : options_of("")) {
    EXPECT_THAT(script, HasSubstr("\ncomplete -c holdfast -l " + option.substr(2) + " "));
  }
}

}  // namespace
}  // namespace holdfast::cli_tests
