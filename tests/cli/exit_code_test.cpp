// Each error has an exit code and a name, as docs/errors.md says, and the program ends with it.
#include "cli/exit_code.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"
#include "support/fake_server.hpp"

namespace holdfast::cli_tests {
namespace {

using support::fake_server;

// The cells of the rows that begin with a word in code marks.
std::vector<words> documented() {
  std::ifstream page(HOLDFAST_SOURCES "/docs/errors.md");
  std::vector<words> rows;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `") || line.starts_with("| `errc`")) continue;
    std::istringstream cells(line.substr(2));
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '|');) {
      const auto end = cell.find_last_not_of(' ');
      const auto begin = cell.find_first_not_of(' ');
      rows.back().push_back(end == cell.npos ? "" : cell.substr(begin, end - begin + 1));
    }
  }
  return rows;
}

TEST(ExitCode, IsThatOfThePage) {
  int value = 0;
  for (const auto& row : documented()) {
    const auto reason = static_cast<errc>(++value);
    ASSERT_EQ(row.size(), 5U) << row[0];
    EXPECT_EQ(row[0], "`" + std::string(name_of(reason)) + "`");
    EXPECT_EQ(row[4], std::to_string(cli::exit_code_for(reason))) << row[0];
  }
  EXPECT_STREQ(name_of(static_cast<errc>(value)), "has_run");
  EXPECT_STREQ(name_of(static_cast<errc>(value + 1)), "unknown") << "the page misses one";
}

struct said_by_server {
  std::string acquire;  // its answer
  const char* name;
  int code;
};

TEST(ExitCode, IsThatOfWhatTheServerSays) {
  const std::vector<said_by_server> all = {
      {"-OOM command not allowed when used memory > 'maxmemory'.\r\n", "out_of_memory", 69},
      {"-READONLY You can't write against a read only replica.\r\n", "read_only", 69},
      {"-LOADING Redis is loading the dataset in memory\r\n", "loading", 69},
      {"-BUSY Redis is busy running a script.\r\n", "server_busy", 69},
      {"-MISCONF Redis is configured to save RDB snapshots\r\n", "misconfigured", 69},
      {"-NOREPLICAS Not enough good replicas to write.\r\n", "no_replicas", 69},
      {"-CLUSTERDOWN The cluster is down\r\n", "unavailable", 69},
      {"-ERR something else\r\n", "server_error", 69},
      {"-MOVED 3999 127.0.0.1:6381\r\n", "unsupported", 78},
      {"-NOPERM this user has no permissions to run the 'evalsha' command\r\n", "permission_denied",
       77},
      {"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n", "foreign_key", 65},
      {"*1\r\n$7\r\nforeign\r\n", "foreign_key", 65},
      {"*2\r\n$6\r\nlayout\r\n$1\r\n2\r\n", "layout_version", 65},
      {"*2\r\n$4\r\nskew\r\n:1700000000000000\r\n", "clock_skew", 69},
      {"*2\r\n$4\r\nfull\r\n$1\r\n7\r\n", "queue_full", 75},
      {":-1000\r\n", "busy", 75}};
  fake_server server;
  for (const auto& one : all) {
    server.on([&](const auto& command) -> std::optional<fake_server::reply> {
      if (!command.front().starts_with("EVAL")) return std::nullopt;
      return fake_server::answer(one.acquire);
    });
    const auto said = holdfast(
        {"--json", "run", "--nonblock", "a", "--url", server.url(), "--", "echo", "never"});
    EXPECT_EQ(said.how, exited(one.code)) << one.name << said.errors;
    EXPECT_THAT(said.errors, HasSubstr("{\"code\":\"" + std::string(one.name) + "\""))
        << one.acquire;
    EXPECT_THAT(said.output, IsEmpty());
  }
}

// A command may end with any code, 75 too: who must tell them apart chooses one that it never has.
TEST(ExitCode, OfALockThatWasNotObtainedIsChosenByTheCaller) {
  fake_server server;
  for (const auto& [acquire, code] : {std::pair{":-1000\r\n", 9},
                                      {"*2\r\n$4\r\nfull\r\n$1\r\n7\r\n", 9},
                                      {"-ERR other\r\n", 69}}) {
    server.on([said = acquire](const auto& command) -> std::optional<fake_server::reply> {
      if (!command.front().starts_with("EVAL")) return std::nullopt;
      return fake_server::answer(said);
    });
    const auto said = holdfast({"run", "--nonblock", "--busy-exit-code", "9", "a", "--url",
                                server.url(), "--", "echo", "never"});
    EXPECT_EQ(said.how, exited(code)) << acquire << said.errors;
    EXPECT_THAT(said.output, IsEmpty());
  }
}

TEST(ExitCode, OfARefusedLogIn) {
  const fake_server strict([](const auto&) {
    return fake_server::error("WRONGPASS invalid username-password pair or user is disabled.");
  });
  const auto said =
      holdfast({"--json", "status", "a", "--url", strict.url()}, {"HOLDFAST_PASSWORD=wrong"});
  EXPECT_EQ(said.how, exited(77));
  EXPECT_THAT(said.errors, HasSubstr("\"authentication\""));
}

}  // namespace
}  // namespace holdfast::cli_tests
