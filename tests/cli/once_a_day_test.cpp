// examples/deploy/once_a_day, the script of docs/howto/cron.md, on a machine whose date the test
// sets.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "cli/program.hpp"
#include "embedded/directories.hpp"

namespace holdfast::cli_tests {
namespace {

class OnceADay : public support::server_test {
 protected:
  void SetUp() override {
    server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    write("date", "#!/bin/sh\ncat " + path("today"));
    std::filesystem::permissions(path("date"), std::filesystem::perms::owner_all);
    server_.emplace(start());
  }

  void set_date(const std::string& today) const { write("today", today); }
  const private_server& server() const { return *server_; }

  program_call job() const {
    auto call = call_at(server(), {"nightly", "echo", "it runs"});
    call.program = HOLDFAST_SOURCES "/examples/deploy/once_a_day";
    const auto programs = std::filesystem::path(HOLDFAST_PROGRAM).parent_path().string();
    call.environment.push_back("PATH=" + directory_.path().string() + ":" + programs + ":" +
                               std::getenv("PATH"));
    return call;
  }

 private:
  std::string path(const std::string& file) const { return directory_.path() / file; }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path(file)) << text << '\n';
  }

  const embedded::private_directory directory_;
  std::optional<private_server> server_;
};
HOLDFAST_ON_EACH_SERVER(OnceADay);

TEST_P(OnceADay, RunsTheCommandOnceOnEachDay) {
  set_date("20261128");
  EXPECT_EQ(support::run(job()).output, "it runs\n");
  EXPECT_EQ(support::run(job()).output, "done today\n");
  set_date("20261129");
  EXPECT_EQ(support::run(job()).output, "it runs\n");
}

TEST_P(OnceADay, MeansTheDayOnWhichItsWaitBegan) {
  set_date("20261128");
  child_process first(call_at(server(), {"run", "nightly", "--", "sh", "-c", "echo in; exec cat"}));
  ASSERT_TRUE(first.wait_for_output("in"));
  child_process second(job());
  ASSERT_TRUE(eventually([&] {
    return holdfast_at(server(), {"status", "nightly", "--json"}).output.find("\"waiting\": 1") !=
           std::string::npos;
  }));
  set_date("20261129");
  EXPECT_EQ(holdfast_at(server(), {"counter", "nightly", "set", "20261128"}).how, exited(0));
  first.close_input();
  EXPECT_EQ(second.wait(), exited(0));
  EXPECT_EQ(second.output(), "done today\n");
  EXPECT_EQ(support::run(job()).output, "it runs\n") << "the next night's";
}

}  // namespace
}  // namespace holdfast::cli_tests
