// A sentinel with a user of ours, who may do no more than docs/security.md says.
#include <filesystem>
#include <fstream>

#include "faults/faulty_server.hpp"
#include "net/clock.hpp"
#include "redis/connection/sentinel.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::faults {
namespace {

class SentinelLogin : public fault_test {
 protected:
  static private_server sentinel_of(const private_server& master) {
    return support::start_sentinel(
        GetParam(), {"sentinel monitor locks 127.0.0.1 " + std::to_string(master.port()) + " 1",
                     std::string("user shop reset on >") + password +
                         " resetchannels &+switch-master &+promoted-slave +subscribe"
                         " +sentinel|get-master-addr-by-name +sentinel|master"});
  }
  static std::string url_of(const private_server& sentinel) {
    return "redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/locks";
  }
  static bool is_watched(const private_server& sentinel) {
    const auto list = sentinel.command({"CLIENT", "LIST", "TYPE", "pubsub"}).text;
    return list.find("sub=2") != list.npos && list.find("user=shop") != list.npos;
  }
};
HOLDFAST_ON_EACH_SERVER(SentinelLogin);

TEST_P(SentinelLogin, NeedsNoMoreRightsThanItsUserIsGiven) {
  const auto master = start({.tcp = true});
  const auto sentinel = sentinel_of(master);
  client_options options;
  options.sentinel_username = "shop";
  options.sentinel_password = password;
  const client redis{url_of(sentinel), options};
  const auto held = redis.mutex("a").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(held) << why_not(held);
  EXPECT_TRUE(eventually([&] { return is_watched(sentinel); }));
  EXPECT_TRUE(sentinel.command({"ACL", "LOG"}).items.empty()) << "nothing was refused";
  options.sentinel_username = "nobody";
  expect_failure(client(url_of(sentinel), options).mutex("a").try_acquire(), errc::authentication,
                 "no sentinel says");
}

TEST_P(SentinelLogin, MaySeeHowManyFailoversItHasHeardOf) {
  const auto master = start({.tcp = true});
  const auto sentinel = sentinel_of(master);
  const redis::sentinel_group group{
      .service = "locks", .members = {}, .login = {"shop", password}, .tls = {}};
  const auto deadline = net::now() + support::generous;
  const auto said = redis::ask_sentinel(net::tcp_endpoint{"127.0.0.1", sentinel.port()}, group,
                                        {deadline, support::generous, nullptr});
  const auto* const named = std::get_if<redis::named_master>(&said);
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(named->where.port, master.port());
  EXPECT_EQ(named->epoch, 0U);
}

TEST_P(SentinelLogin, ReadsThePasswordFileAgainAtEachConnection) {
  const auto master = start({.tcp = true});
  const auto sentinel = sentinel_of(master);
  const auto file = std::filesystem::path(master.socket()).parent_path() / "password";
  std::ofstream(file) << password << '\n';
  client_options options;
  options.sentinel_username = "shop";
  options.sentinel_password = "something else";
  options.sentinel_password_file = file;
  const client redis{url_of(sentinel), options};
  const auto before = redis.mutex("a").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(before) << why_not(before);
  ASSERT_TRUE(eventually([&] { return is_watched(sentinel); }));
  sentinel.command({"ACL", "SETUSER", "shop", "resetpass", ">hunter3-new-horse"});
  std::ofstream(file) << "hunter3-new-horse\n";
  sentinel.command({"CLIENT", "KILL", "USER", "shop"});
  master.command({"CLIENT", "KILL", "TYPE", "normal"});
  const auto after = redis.mutex("b").try_acquire({.timeout = support::generous});
  EXPECT_TRUE(after) << why_not(after);
  EXPECT_TRUE(eventually([&] { return is_watched(sentinel); }));
}

TEST_P(SentinelLogin, TellsThatThePasswordFileCannotBeRead) {
  const auto master = start({.tcp = true});
  const auto sentinel = sentinel_of(master);
  client_options options;
  options.sentinel_password_file = "/nowhere";
  expect_failure(client(url_of(sentinel), options).mutex("a").try_acquire(), errc::authentication,
                 "the password file /nowhere cannot be read");
}

// It lets clients in, but knows no locks.
TEST_P(SentinelLogin, SentinelInThePlaceOfAServerIsToldAsSuch) {
  const auto master = start({.tcp = true});
  const auto sentinel = sentinel_of(master);
  const client redis{"redis://127.0.0.1:" + std::to_string(sentinel.port()), patient()};
  expect_failure(redis.mutex("a").try_acquire({.timeout = support::generous}), errc::invalid_url,
                 "it is a sentinel, not a server: write redis+sentinel://HOST:PORT/SERVICE");
}

}  // namespace
}  // namespace holdfast::faults
