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

// More than a search looks at, unless it must look at all.
void fill(const private_server& server) {
  server.command({"EVAL", "for i = 1, 260000 do redis.call('SET', 'foreign ' .. i, '') end", "0"});
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
  EXPECT_EQ(listed({"ls"})["complete"], true);
  EXPECT_EQ(listed({"ls"})["indexed"], true);
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

// As a holder whose user has no right to the index leaves it.
TEST_P(CommandLine, LooksAtEveryKeyWhenItIsAskedTo) {
  const auto server = start();
  fill(server);
  ASSERT_EQ(server.command({"SET", "hf:{hidden}", "1:77:somebody", "PX", "60000"}).text, "OK");
  EXPECT_THAT(holdfast_at(server, {"ls"}).output, Not(HasSubstr("hidden")));
  EXPECT_THAT(holdfast_at(server, {"ls", "--scan"}).output, HasSubstr("hidden"));
  EXPECT_THAT(holdfast_at(server, {"ls", "--all-dialects"}).output, HasSubstr("hidden"));
}

}  // namespace
}  // namespace holdfast::cli_tests
