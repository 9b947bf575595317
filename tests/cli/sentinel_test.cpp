// The program logs in to sentinels as the environment and its options say.
#include <filesystem>
#include <fstream>

#include "cli/program.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::cli_tests {
namespace {

constexpr const char* secret = "hunter2-correct-horse";

TEST_P(CommandLine, LogsInToSentinelsApartFromTheServer) {
  const auto master = start({.tcp = true});
  const auto sentinel = support::start_sentinel(
      GetParam(), {"sentinel monitor locks 127.0.0.1 " + std::to_string(master.port()) + " 1",
                   std::string("user shop on >") + secret + " +sentinel|get-master-addr-by-name",
                   std::string("requirepass other-") + secret});
  const auto file = std::filesystem::path(master.socket()).parent_path() / "password";
  std::ofstream(file) << secret << '\n';
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  const std::string url =
      "HOLDFAST_URL=redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/locks";
  const std::string user = "HOLDFAST_SENTINEL_USER=shop";
  const auto password = std::string("HOLDFAST_SENTINEL_PASSWORD=") + secret;
  const words asked = {"status", "a", "--connect-timeout", "10s"};
  auto with_file = asked, without_file = asked;
  with_file.insert(with_file.end(), {"--sentinel-password-file", file.string()});
  without_file.insert(without_file.end(), {"--sentinel-password-file", "/nowhere"});
  const std::vector<std::pair<finished, int>> said = {
      {holdfast(asked, {url, user, password}), 0},
      {holdfast(asked, {url, password}), 77},
      {holdfast(asked, {url, user}), 77},
      {holdfast(with_file, {url, user, "HOLDFAST_SENTINEL_PASSWORD=wrong"}), 0},
      {holdfast(without_file, {url, user, password}), 78},
  };
  for (std::size_t i = 0; i < said.size(); ++i) {
    EXPECT_EQ(said[i].first.how, exited(said[i].second)) << i << said[i].first.errors;
    EXPECT_THAT(said[i].first.output + said[i].first.errors, Not(HasSubstr(secret))) << i;
  }
}
HOLDFAST_ON_EACH_SERVER(CommandLine);

}  // namespace
}  // namespace holdfast::cli_tests
