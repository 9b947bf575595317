// The password of a user is changed while his clients work: nobody waits for it, nothing is lost.
#include <filesystem>
#include <fstream>

#include "faults/faulty_server.hpp"
#include "faults/runs/contended_run.hpp"

namespace holdfast::faults {
namespace {

using history::kind;

constexpr int changes = 5;
constexpr milliseconds lease_time{3000};

class PasswordUnderLoad : public fault_test {};
HOLDFAST_ON_EACH_SERVER(PasswordUnderLoad);

void give(const private_server& server, const std::string& right) {
  ASSERT_EQ(server.command({"ACL", "SETUSER", "worker", right}).text, "OK");
}

// In one step, as an operator should: nobody reads half of it.
void write(const std::string& file, const std::string& line) {
  std::ofstream(file + ".new") << line << '\n';
  std::filesystem::rename(file + ".new", file);
}

bool goes_on(const private_server& server) {
  const auto before = server.calls("evalsha");
  return eventually([&] { return server.calls("evalsha") > before + 30; });
}

TEST_P(PasswordUnderLoad, NobodyIsStopped) {
  const auto server = start();
  const auto file = (std::filesystem::path(server.socket()).parent_path() / "password").string();
  const auto password_of = [](int i) { return "hunter-" + std::to_string(i); };
  server.command({"ACL", "SETUSER", "worker", "on", "~*", "&*", "+@all"});
  give(server, ">" + password_of(0));
  write(file, password_of(0));
  const auto locks = [&] {
    const client redis{server.url(), {.username = "worker", .password_file = file}};
    std::vector<contended> all;
    for (const bool fair : {false, true}) {
      const lock_options options{.lease = lease_time, .fair = fair};
      const std::string name = fair ? "fair" : "usual";
      all.push_back({name, options, {{redis.mutex(name, options)}}});
    }
    return all;
  };
  const client outside{server.url(), {.username = "worker", .password_file = file}};
  const auto held = outside.mutex("held", {.lease = lease_time}).acquire();
  contended_run run(GetParam());
  run.play({locks(), locks()}, changes * 2000ms, [&] {
    for (int i = 1; i <= changes; ++i) {
      give(server, ">" + password_of(i));
      write(file, password_of(i));
      give(server, "<" + password_of(i - 1));
      server.command({"CLIENT", "KILL", "USER", "worker"});
      EXPECT_TRUE(goes_on(server));
    }
  });
  EXPECT_EQ(run.violations(), "");
  EXPECT_EQ(run.count(kind::lost), 0U);
  EXPECT_GT(run.count(kind::won), 100U);
  EXPECT_TRUE(held.held());
  RecordProperty("won", std::to_string(run.count(kind::won)));
}

}  // namespace
}  // namespace holdfast::faults
