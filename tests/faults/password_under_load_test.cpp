// The password of a user is changed while the user's clients work: nobody waits for it, nothing is
// lost.
#include "faults/undisturbed.hpp"

namespace holdfast::faults {
namespace {

constexpr int changes = 5;

class PasswordUnderLoad : public fault_test {};
HOLDFAST_ON_EACH_SERVER(PasswordUnderLoad);

void give(const private_server& server, const std::string& right) {
  ASSERT_EQ(server.command({"ACL", "SETUSER", "worker", right}).text, "OK");
}

TEST_P(PasswordUnderLoad, NobodyIsStopped) {
  const auto server = start();
  const auto file = (std::filesystem::path(server.socket()).parent_path() / "password").string();
  const auto password_of = [](int i) { return "hunter-" + std::to_string(i); };
  server.command({"ACL", "SETUSER", "worker", "on", "~*", "&*", "+@all"});
  give(server, ">" + password_of(0));
  replace_file(file, password_of(0) + "\n");
  const auto connect = [&] {
    return client{server.url(), {.username = "worker", .password_file = file}};
  };
  expect_undisturbed(GetParam(), connect, changes * 2000ms, [&] {
    for (int i = 1; i <= changes; ++i) {
      give(server, ">" + password_of(i));
      replace_file(file, password_of(i) + "\n");
      give(server, "<" + password_of(i - 1));
      server.command({"CLIENT", "KILL", "USER", "worker"});
      expect_work_at(server);
    }
  });
}

}  // namespace
}  // namespace holdfast::faults
