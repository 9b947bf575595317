// Lists of locks on servers that are full of other keys.
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "support/eventually.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

HOLDFAST_ON_EACH_SERVER(CommandLine);

// More than a search looks at, unless it must look at all. They are no locks by their names: what
// may be another library's costs a look at each.
void fill(const private_server& server) {
  server.command(
      {"EVAL", "for i = 1, 260000 do redis.call('SET', 'hf:counter:{' .. i .. '}', '1') end", "0"});
}

TEST_P(CommandLine, ListsHeldLocksAmongManyKeysFromTheirIndex) {
  const auto server = start();
  fill(server);
  const holder one(server, "orders:1");
  const auto listed = [&](words arguments) {
    arguments.emplace_back("--json");
    return json::parse(holdfast_at(server, std::move(arguments)).output);
  };
  EXPECT_TRUE(support::eventually([&] { return listed({"ls"})["locks"].size() == 1; }));
  EXPECT_EQ(listed({"ls"})["indexed"], true);
  EXPECT_EQ(listed({"ls"})["complete"], false) << "an index cannot promise it";
  EXPECT_EQ(listed({"ls"})["cut_short"], false);
  const auto text = holdfast_at(server, {"ls"});
  EXPECT_EQ(text.how, exited(0));
  EXPECT_THAT(text.output, HasSubstr("orders:1"));
  EXPECT_THAT(text.errors, HasSubstr("--scan"));

  const auto direct = holdfast_at(server, {"ls", "orders:1"});
  EXPECT_THAT(direct.output, HasSubstr("orders:1"));
  EXPECT_EQ(direct.errors, "");
  const auto all = listed({"ls", "--scan"});
  EXPECT_EQ(all["indexed"], false);
  EXPECT_EQ(all["complete"], true);
  EXPECT_EQ(all["locks"].size(), 1U);
}

// On a server of any size a script learns from the exit code that a list was cut short.
TEST_P(CommandLine, AFullPageOfTheIndexIsNotMoreThanAPage) {
  const auto server = start();
  fill(server);
  const auto held = [&](const std::string& name) {
    server.command({"SET", "hf:{" + name + "}", "1:77:somebody", "PX", "60000"});
    server.command({"ZADD", "hf:held", std::to_string(std::int64_t{1} << 52), name});
  };
  held("one");
  held("other");
  server.command({"ZADD", "hf:held", std::to_string(std::int64_t{1} << 52), "released"});
  const auto page = holdfast_at(server, {"ls", "--limit", "2"});
  EXPECT_EQ(page.how, exited(0)) << page.errors;
  EXPECT_THAT(page.errors, Not(HasSubstr("there may be more")));
  held("third");
  const auto more = holdfast_at(server, {"ls", "--limit", "2"});
  EXPECT_EQ(more.how, exited(3));
  EXPECT_THAT(more.errors, HasSubstr("there may be more"));
}

TEST_P(CommandLine, SaysWhatToDoWhereTheIndexIsNone) {
  const auto server = start();
  fill(server);
  server.command({"SET", "hf:held", "a text"});
  const auto listed = holdfast_at(server, {"ls"});
  EXPECT_EQ(listed.how, exited(65));
  EXPECT_THAT(listed.errors, HasSubstr("the index of held locks, hf:held, cannot be read: the key "
                                       "is of another type; delete it"));
  EXPECT_EQ(holdfast_at(server, {"ls", "--scan"}).how, exited(0));
}

// As a holder whose user has no right to the index leaves it.
TEST_P(CommandLine, LooksAtEveryKeyWhenItIsAskedTo) {
  const auto server = start();
  fill(server);
  ASSERT_EQ(server.command({"SET", "hf:{hidden}", "1:77:somebody", "PX", "60000"}).text, "OK");
  const auto listed = holdfast_at(server, {"ls"});
  EXPECT_THAT(listed.output, Not(HasSubstr("hidden")));
  EXPECT_THAT(listed.errors, HasSubstr("Held locks may be missing"));
  EXPECT_EQ(listed.how, exited(0)) << "nothing that it set out to look at is missing";
  const auto told = json::parse(holdfast_at(server, {"ls", "--json"}).output);
  EXPECT_EQ(told["complete"], false);
  for (const auto* const search : {"--scan", "--all-dialects"}) {
    const auto all = holdfast_at(server, {"ls", search});
    EXPECT_THAT(all.output, HasSubstr("hidden")) << search;
    EXPECT_EQ(all.how, exited(0)) << search << " was cut short";
  }
}

}  // namespace
}  // namespace holdfast::cli_tests
