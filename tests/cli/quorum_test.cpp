// What operators see of a quorum.
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;

class QuorumCommandLine : public CommandLine {
 protected:
  void make(std::size_t members) {
    for (std::size_t i = 0; i < members; ++i) {
      servers_.push_back(start());
      members_.push_back(servers_.back().url());
    }
  }
  const private_server& server(std::size_t i) const { return servers_[i]; }
  void replace(std::size_t member, const std::string& url) { members_[member] = url; }

  program_call call_of(words arguments) const {
    auto command = arguments.begin() + 1;
    for (const auto& each : members_) {
      command = arguments.insert(command, {"--member", each}) + 2;
    }
    return call(std::move(arguments));
  }
  finished of_the_quorum(words arguments) const {
    return support::run(call_of(std::move(arguments)));
  }

 private:
  std::vector<private_server> servers_;
  words members_;
};
HOLDFAST_ON_EACH_SERVER(QuorumCommandLine);

TEST_P(QuorumCommandLine, DoctorLooksAtAllMembersAndAtTheWhole) {
  make(3);
  const auto healthy = of_the_quorum({"doctor"});
  EXPECT_EQ(healthy.how, exited(0)) << healthy.output << healthy.errors;
  for (int i = 0; i < 3; ++i) EXPECT_THAT(healthy.output, HasSubstr(server(i).url() + ": "));
  EXPECT_THAT(healthy.output, ::testing::ContainsRegex("majority +ok +3 of 3 members answer"));
  replace(1, "unix:///nowhere/a");
  const auto sick = of_the_quorum({"doctor", "--json"});
  EXPECT_EQ(sick.how, exited(1));
  EXPECT_THAT(sick.output, HasSubstr("2 of 3 members answer"));
  EXPECT_TRUE(json::parse(sick.output)["findings"].is_array());
  replace(0, "unix:///nowhere/b");
  replace(2, "unix:///nowhere/c");
  EXPECT_EQ(of_the_quorum({"doctor"}).how, exited(69)) << "as with one server";
  replace(2, "unix:///nowhere/b");
  const auto twice = of_the_quorum({"doctor"});
  EXPECT_THAT(twice.errors, HasSubstr("are the same server"));
}

}  // namespace
}  // namespace holdfast::cli_tests
