// holdfast demo: what it shows, and what it leaves behind.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"
#include "embedded/directories.hpp"
#include "support/eventually.hpp"
#include "support/found_server.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

HOLDFAST_ON_EACH_SERVER(CommandLine);

words small_sale(words more) {
  words all = {"demo", "--processes", "2", "--threads", "20", "--units", "400"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

words keys_like(const private_server& server, const std::string& pattern) {
  words found;
  for (const auto& key : server.command({"KEYS", pattern}).items) found.push_back(key.text);
  return found;
}

// Fence counters stay after every lock, and a client's entry for a while.
words keys_left(const private_server& server) {
  auto all = keys_like(server, "*");
  std::erase_if(all, [](const std::string& key) {
    return key.starts_with("hf:fence:") || key.starts_with("hf:client:") || key == "hf:held";
  });
  return all;
}

std::string content(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream all;
  all << file.rdbuf();  // does not throw where the process ends whose file this is
  return all.str();
}

// The living processes that the demo with this id has started.
int workers_of(pid_t demo) {
  const std::string words = std::string("demo-worker") + '\0';
  const std::string parent = std::string("--parent") + '\0' + std::to_string(demo) + '\0';
  int found = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto line = content(entry.path() / "cmdline");  // empty for what is no process
    if (line.find(words) != line.npos && line.find(parent) != line.npos) ++found;
  }
  return found;
}

void expect_exact(const json& sale) {
  EXPECT_EQ(sale["exact"], true);
  EXPECT_EQ(sale["oversold_or_lost"], 0);
  EXPECT_EQ(sale["sold"].get<int>() + sale["left"].get<int>(), 400);
  EXPECT_GE(sale["left"], 0);
  EXPECT_EQ(sale["foreign_locks_deleted"], 0);
}

void expect_faults_shown(const json& all) {
  EXPECT_EQ(all["as_promised"], true);
  const auto& sales = all["scenarios"];
  ASSERT_EQ(sales.size(), 4U);
  words names;
  for (const auto& sale : sales) {
    names.push_back(sale["scenario"]);
    EXPECT_GT(sale["orders"], 0);
    EXPECT_GT(sale["seconds"], 0);
  }
  EXPECT_EQ(names, (words{"no_lock", "setnx", "holdfast", "fenced"}));
  EXPECT_EQ(sales[0]["exact"], false);
  EXPECT_GT(sales[0]["oversold_or_lost"], 0);
  EXPECT_EQ(sales[1]["exact"], false);
  EXPECT_GT(sales[1]["oversold_or_lost"], 0);
  EXPECT_GE(sales[1]["holders_frozen"], 2);
  EXPECT_GT(sales[1]["foreign_locks_deleted"], 0);
  EXPECT_EQ(sales[1]["two_holders_seen"], true);
  expect_exact(sales[2]);
  EXPECT_EQ(sales[2]["late_writes_refused"], 0);
  expect_exact(sales[3]);
  EXPECT_GT(sales[3]["holders_frozen"], 0);
  EXPECT_GT(sales[3]["late_writes_refused"], 0);
}

void expect_picture(const std::string& svg) {
  EXPECT_TRUE(svg.starts_with("<svg") || svg.starts_with("<?xml")) << svg.substr(0, 80);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  int lines = 0;
  for (auto at = svg.find("<polyline"); at != svg.npos; at = svg.find("<polyline", at + 1)) ++lines;
  EXPECT_EQ(lines, 4);
}

constexpr const char* titles[] = {"(a) no lock", "(b) SETNX, plain DEL", "(c) Holdfast",
                                  "(d) Holdfast, frozen holder"};

// One for each sale, in their order, and nothing else.
void expect_lines(const std::string& told) {
  std::istringstream lines(told);
  std::string line;
  for (const std::string title : titles) {
    ASSERT_TRUE(std::getline(lines, line)) << title;
    ASSERT_TRUE(line.starts_with(title + ": sold ")) << line;
    EXPECT_THAT(line.substr(title.size()),
                ::testing::MatchesRegex(": sold [0-9]+ of 400 units in [0-9]+\\.[0-9] s, "
                                        "-?[0-9]+ left, off by [0-9]+"));
  }
  EXPECT_FALSE(std::getline(lines, line)) << line;
}

void expect_table(const std::string& shown) {
  std::istringstream lines(shown);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  for (const auto* heading : {"SCENARIO", "SOLD", "LEFT", "OVERSOLD OR LOST", "VERDICT"}) {
    EXPECT_THAT(line, HasSubstr(heading));
  }
  for (const std::string title : titles) {
    ASSERT_TRUE(std::getline(lines, line)) << title;
    EXPECT_TRUE(line.starts_with(title + "  ")) << line;
    const bool is_locked = title.find("Holdfast") != title.npos;
    EXPECT_TRUE(line.ends_with(is_locked ? "  exact" : "  wrong")) << line;
  }
  EXPECT_FALSE(std::getline(lines, line)) << line;
}

TEST_P(CommandLine, DemoShowsBothFaultsAndTwoExactSales) {
  const auto server = start();
  const embedded::private_directory own;
  const auto picture = own.path() / "sale.svg";
  auto arguments = small_sale({"--svg", picture});
  arguments.insert(arguments.begin(), "--json");
  const auto done = holdfast_at(server, arguments);
  ASSERT_EQ(done.how, exited(0)) << done.output << done.errors;
  const auto all = json::parse(done.output);
  EXPECT_EQ(all["processes"], 2);
  EXPECT_EQ(all["threads"], 20);
  EXPECT_EQ(all["units"], 400);
  expect_faults_shown(all);
  expect_picture(content(picture));
  EXPECT_THAT(keys_left(server), IsEmpty());
}

// The other stories: without a lock it goes wrong, under one not, and nothing stays.
TEST_P(CommandLine, EveryStoryGoesWrongWithoutALockAndIsExactUnderOne) {
  const auto server = start();
  for (const std::string story : {"orders", "balance", "leader", "seats"}) {
    const auto done = holdfast_at(
        server, {"--json", "demo", "--story", story, "--processes", "2", "--threads", "20"});
    ASSERT_EQ(done.how, exited(0)) << story << done.output << done.errors;
    const auto all = json::parse(done.output);
    EXPECT_EQ(all["story"], story);
    EXPECT_EQ(all["as_promised"], true);
    ASSERT_EQ(all["scenarios"].size(), 2U);
    const auto& without = all["scenarios"][0];
    EXPECT_EQ(without["scenario"], "no_lock");
    EXPECT_GT(without["wrong"], 0) << story;
    EXPECT_EQ(without["exact"], false);
    const auto& locked = all["scenarios"][1];
    EXPECT_EQ(locked["scenario"], "holdfast");
    EXPECT_EQ(locked["wrong"], 0) << story;
    EXPECT_EQ(locked["exact"], true);
    EXPECT_GT(locked["done"], 0);
    EXPECT_EQ(locked["done"], locked["expected"]);
    EXPECT_EQ(locked["late_writes_refused"] > 0, story == "leader");
    EXPECT_THAT(keys_left(server), IsEmpty()) << story;
  }
}

TEST_P(CommandLine, AStoryThatIsInterruptedLeavesNothing) {
  const auto server = start();
  child_process program(call_at(server, {"demo", "--story", "leader", "--processes", "2"}));
  // The leader is frozen in office then.
  ASSERT_TRUE(eventually([&] { return !keys_like(server, "demo:*:fence").empty(); }));
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), exited(128 + SIGTERM)) << program.errors();
  EXPECT_THAT(keys_left(server), IsEmpty());
  EXPECT_EQ(workers_of(program.pid()), 0);
}

// Somebody else spoils the books while the story is told.
TEST_P(CommandLine, AStoryThatIsNotExactUnderItsLockIsReported) {
  const auto server = start();
  child_process program(call_at(server, {"demo", "--story", "leader", "--processes", "2"}));
  ASSERT_TRUE(eventually([&] { return !keys_like(server, "demo:*:fence").empty(); }));
  const auto journal = keys_like(server, "demo:*:journal");
  ASSERT_EQ(journal.size(), 1U);
  server.command({"RPUSH", journal.front(), "end nobody"});
  EXPECT_EQ(program.wait(), exited(1)) << program.errors();
  EXPECT_TRUE(program.output().ends_with("wrong\n")) << program.output();
}

// A unit that somebody else sells while the sale under the lock goes on, without and with a fence.
TEST_P(CommandLine, ASaleThatIsNotExactUnderItsLockIsReported) {
  for (const auto* const sign : {"hf:{demo:*}", "demo:*:fence"}) {
    const auto server = start();
    child_process program(call_at(server, small_sale({"--no-svg"})));
    ASSERT_TRUE(eventually([&] { return !keys_like(server, sign).empty(); })) << sign;
    const auto stock = keys_like(server, "demo:*:stock");
    ASSERT_EQ(stock.size(), 1U) << sign;
    const auto sale = stock.front().substr(0, stock.front().rfind(':'));
    server.command({"RPUSH", sale + ":orders", "0 1 0 1"});
    EXPECT_EQ(program.wait(), exited(1)) << sign << '\n' << program.output();
  }
}

// While the lock of each scenario is held: with plain SETNX, a holder is frozen then.
TEST_P(CommandLine, DemoThatIsInterruptedLeavesNothing) {
  const std::pair<const char*, int> moments[] = {
      {"demo:*:stock", SIGTERM}, {"demo:*:lock", SIGINT}, {"hf:{demo:*}", SIGINT}};
  for (const auto& [key, signal] : moments) {
    const auto server = start();
    child_process program(call_at(server, small_sale({"--no-svg"})));
    ASSERT_TRUE(eventually([&, k = key] { return !keys_like(server, k).empty(); })) << key;
    program.signal(signal);
    EXPECT_EQ(program.wait(), exited(128 + signal)) << program.errors();
    EXPECT_THAT(keys_left(server), IsEmpty()) << key;
    EXPECT_EQ(workers_of(program.pid()), 0) << key;
  }
}

TEST_P(CommandLine, WorkersDoNotOutliveAKilledDemo) {
  const auto server = start();
  child_process program(call_at(server, small_sale({"--no-svg"})));
  ASSERT_TRUE(eventually([&] { return !keys_like(server, "demo:*:lock").empty(); }));
  ASSERT_GT(workers_of(program.pid()), 0);
  program.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return workers_of(program.pid()) == 0; }));
}

TEST_P(CommandLine, DemoWhoseServerDiesSaysSoAndLeavesNoWorkers) {
  auto server = start();
  child_process program(call_at(server, small_sale({"--no-svg"})));
  ASSERT_TRUE(eventually([&] { return !keys_like(server, "demo:*:lock").empty(); }));
  server.kill9();
  EXPECT_EQ(program.wait(), exited(69));
  EXPECT_EQ(workers_of(program.pid()), 0);
}

TEST_P(CommandLine, DemoRunsOnASharedEmbeddedServer) {
  const embedded::private_directory own;
  const support::found_server found(GetParam());
  const auto url = "embedded:" + (own.path() / "server").string();
  const auto done = support::run(call(small_sale({"--no-svg", "--url", url}),
                                      {"HOLDFAST_EMBEDDED_LINGER=0", "PATH=" + found.path()}));
  EXPECT_EQ(done.how, exited(0)) << done.output << done.errors;
  EXPECT_THAT(done.errors, Not(HasSubstr("[#"))) << "progress is for terminals";
  expect_lines(done.errors);
  expect_table(done.output);
}

TEST(Demo, RefusesASaleThatIsTooSmall) {
  EXPECT_EQ(holdfast({"demo", "--processes", "1"}).how, exited(64));
  EXPECT_EQ(holdfast({"demo", "--units", "0"}).how, exited(64));
  EXPECT_EQ(holdfast({"demo", "--svg", "x", "--no-svg"}).how, exited(64));
  EXPECT_EQ(holdfast({"demo", "--story", "love"}).how, exited(64));
  EXPECT_EQ(holdfast({"demo", "--story", "seats", "--units", "100"}).how, exited(64));
  EXPECT_EQ(holdfast({"demo", "--story", "seats", "--svg", "x"}).how, exited(64));
}

TEST(Demo, TellsThatThereIsNoServer) {
  const auto done = holdfast({"demo", "--url", "unix:///nowhere/at/all", "--no-svg"});
  EXPECT_EQ(done.how, exited(69));
  EXPECT_THAT(done.errors, HasSubstr("/nowhere/at/all"));
}

}  // namespace
}  // namespace holdfast::cli_tests
