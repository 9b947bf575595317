// Clients that bring their server with them.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include <holdfast/holdfast.hpp>

#include "embedded/directories.hpp"
#include "support/each_server.hpp"
#include "support/eventually.hpp"
#include "support/forked.hpp"
#include "support/found_server.hpp"
#include "support/raw_connection.hpp"
#include "support/scoped_environment.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
using support::is_gone;

class EmbeddedClient : public support::found_server_test {
 protected:
  void SetUp() override {
    support::found_server_test::SetUp();
    made_in_.emplace("XDG_RUNTIME_DIR", base_.path().string());
  }

  // Of the only server; asks it which one it is.
  pid_t server_pid() const {
    const auto socket = fs::directory_iterator(base_.path())->path() / "server.sock";
    support::raw_connection server(net::unix_endpoint{socket.string()});
    const auto info = server.command({"INFO", "server"}).text;
    EXPECT_EQ(info.find("valkey") != info.npos, GetParam() == "valkey-server") << info;
    const std::string before = "process_id:";
    return std::stoi(info.substr(info.find(before) + before.size()));
  }
  bool nothing_is_left() const { return fs::is_empty(base_.path()); }

 private:
  embedded::private_directory base_;
  std::optional<support::scoped_environment> made_in_;
};
HOLDFAST_ON_EACH_SERVER(EmbeddedClient);

TEST_P(EmbeddedClient, HasItsServerAsLongAsTheLastLease) {
  std::optional<client> redis("embedded:");
  std::optional<lock> wanted(redis->mutex("a"));
  std::optional<lease> held(wanted->acquire());
  const auto pid = server_pid();
  redis.reset();
  wanted.reset();
  EXPECT_TRUE(held->extend(std::chrono::minutes{1}));
  EXPECT_FALSE(is_gone(pid));
  held.reset();
  EXPECT_TRUE(is_gone(pid));
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(EmbeddedClient, HasItsServerAsLongAsTheLastCopyOfALock) {
  std::optional<client> redis("embedded:");
  std::optional<lock> wanted(redis->mutex("a"));
  const auto pid = [&] {
    const auto held = wanted->acquire();
    return server_pid();
  }();
  std::optional<lock> copy(wanted);
  wanted.reset();
  redis.reset();
  EXPECT_TRUE(copy->try_acquire());
  EXPECT_FALSE(is_gone(pid));
  copy.reset();
  EXPECT_TRUE(is_gone(pid));
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(EmbeddedClient, SharesItsServerWithNobody) {
  const client first("embedded:");
  const client second("embedded:");
  const auto held = first.mutex("a").acquire();
  EXPECT_TRUE(second.mutex("a").try_acquire());
}

}  // namespace
}  // namespace holdfast
