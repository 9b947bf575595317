// Logging in, and the rights of the user who has logged in.
#include <filesystem>
#include <fstream>
#include <future>

#include "faults/faulty_server.hpp"

namespace holdfast::faults {
namespace {

// As documented in docs/wire/holdfast.md.
const std::vector<std::string> minimal_rights = {
    "~hf:*",   "resetchannels", "&hf:c:*", "-@all",    "+evalsha",   "+eval",
    "+time",   "+get",          "+set",    "+del",     "+exists",    "+pexpire",
    "+pttl",   "+zadd",         "+zrem",   "+zscore",  "+zrank",     "+zcard",
    "+zrange", "+zpopmin",      "+hset",   "+hget",    "+hdel",      "+hello",
    "+auth",   "+ping",         "+select", "+publish", "+subscribe", "+client|setname"};

class Rights : public fault_test {
 protected:
  // A server on which the user "worker" has the rights that a lock needs.
  private_server server_with_worker() const {
    auto server = start();
    give(server, {"reset", "on", std::string(">") + password});
    give(server, minimal_rights);
    return server;
  }

  static void give(const private_server& server, const std::vector<std::string>& rights) {
    std::vector<std::string> words{"ACL", "SETUSER", "worker"};
    words.insert(words.end(), rights.begin(), rights.end());
    ASSERT_EQ(server.command(words).text, "OK");
  }

  // Some lose connections: an acquisition that was cut off is sent again when it would be refused,
  // so that must not take as long as a patient one.
  static client_options worker() {
    client_options options;
    options.username = "worker";
    options.password = password;
    return options;
  }

  // How those who wait for "orders" are told: `-` on a channel, `p` not at all.
  static std::string ways(const private_server& server) {
    std::string all;
    const auto waiters = server.command({"ZRANGE", value_key("orders") + ":w", "0", "-1"});
    for (const auto& one : waiters.items) all += one.text.at(one.text.size() - 17);
    return all;
  }
};
HOLDFAST_ON_EACH_SERVER(Rights);

TEST_P(Rights, WrongPasswordIsSaidOnceAndNotTriedAgain) {
  const auto server = server_with_worker();
  auto wrong = worker();
  wrong.password = std::string(password) + "!";
  const client redis{server.url(), wrong};
  const auto orders = redis.mutex("orders");
  expect_failure(orders.try_acquire(), errc::authentication, "check the user name and password");
  expect_failure(orders.try_acquire({.timeout = support::generous}), errc::authentication,
                 "WRONGPASS");
}

TEST_P(Rights, PasswordIsAskedFor) {
  const auto server = start({.tcp = true, .arguments = {"--requirepass", password}});
  const auto address = "127.0.0.1:" + std::to_string(server.port());
  const client anonymous{"redis://" + address, patient()};
  expect_failure(anonymous.mutex("a").try_acquire(), errc::authentication,
                 "give a user name and password");
  const client wrong{"redis://:" + std::string(password) + "x@" + address, patient()};
  expect_failure(wrong.mutex("a").try_acquire(), errc::authentication, "WRONGPASS");
  EXPECT_THAT(wrong.url(), ::testing::Not(::testing::HasSubstr(password)));
  const client right{"redis://:" + std::string(password) + "@" + address, patient()};
  EXPECT_TRUE(right.mutex("a").try_acquire());
}

TEST_P(Rights, PasswordThatTheServerDoesNotWant) {
  const auto server = start();
  auto options = patient();
  options.username = "nobody";
  options.password = password;
  expect_failure(client(server.url(), options).mutex("a").try_acquire(), errc::authentication,
                 "check the user name and password");
}

TEST_P(Rights, DocumentedOnesSuffice) {
  const auto server = server_with_worker();
  const client redis{server.url(), worker()};
  auto held = redis.mutex("a", {.lease = 300ms}).acquire();
  const auto first_deadline = net::now() + held.remaining();
  expect_failure(redis.mutex("a").try_acquire(), errc::busy, "lease runs for another");
  EXPECT_TRUE(eventually([&] { return net::now() > first_deadline; }));
  EXPECT_TRUE(held.extend(1s));
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(redis.mutex("a", {.fencing = fencing::off}).try_acquire());
}

// A user that waits, renews and comes back without any notification.
void expect_all_without_messages(const private_server& server, const client_options& options) {
  const client redis{server.url(), options};
  const client other{server.url(), options};
  auto held = redis.mutex("a", {.lease = 900ms}).acquire();
  auto waiting = std::async(std::launch::async, [&] { return other.mutex("a").acquire(); });
  EXPECT_TRUE(eventually([&] { return server.command({"ZCARD", "hf:{a}:w"}).number > 0; }));
  const auto first_end = net::now() + held.remaining();
  EXPECT_TRUE(eventually([&] { return net::now() > first_end; }));
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(server.command({"PUBSUB", "CHANNELS", "*"}).items.empty());
  server.command({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_TRUE(eventually([&] { return held.extend(30s).has_value(); }));
  EXPECT_TRUE(held.release());
  ASSERT_EQ(waiting.wait_for(10s), std::future_status::ready) << "not by the end of a lease";
  EXPECT_GT(waiting.get().token(), held.token());
}

TEST_P(Rights, WithoutTheRightToListenLocksAreAskedFor) {
  const auto server = server_with_worker();
  give(server, {"-subscribe"});
  expect_all_without_messages(server, worker());
}

// It can either listen or ask.
TEST_P(Rights, TheOldProtocolDoesWithoutMessages) {
  const auto server = start({.arguments = {"--rename-command", "HELLO", ""}});
  expect_all_without_messages(server, {});
}

TEST_P(Rights, EveryMissingCommandIsToldAndChangesNothing) {
  const auto server = server_with_worker();
  const client redis{server.url(), worker()};
  const auto orders = redis.mutex("orders");
  ASSERT_TRUE(orders.try_acquire());
  ASSERT_TRUE(eventually([&] {
    return server.command({"EXISTS", value_key("orders")}).number == 0;
  }));
  for (const std::string missing : {"time", "exists", "set", "evalsha"}) {
    give(server, {"-" + missing});
    expect_failure(orders.try_acquire(), errc::permission_denied, "ACL SETUSER");
    expect_failure(orders.try_acquire({.timeout = support::generous}), errc::permission_denied,
                   "holdfast acl");
    EXPECT_EQ(server.command({"EXISTS", value_key("orders")}).number, 0) << missing;
    give(server, {"+" + missing});
    auto held = orders.try_acquire({.timeout = support::generous});
    ASSERT_TRUE(held) << missing << why_not(held);
    EXPECT_TRUE(held->release()) << "before the next right is taken away";
  }
}

TEST_P(Rights, EveryMissingKeyIsTold) {
  const auto server = server_with_worker();
  const client redis{server.url(), worker()};
  give(server, {"resetkeys", "~hf:client:*", "~hf:fence:*"});
  expect_failure(redis.mutex("orders").try_acquire(), errc::permission_denied, "ACL SETUSER");
  give(server, {"resetkeys", "~hf:{orders}"});
  expect_failure(redis.mutex("orders").try_acquire(), errc::permission_denied, "ACL SETUSER");
  expect_failure(redis.mutex("others", {.fencing = fencing::off}).try_acquire(),
                 errc::permission_denied, "NOPERM");
  EXPECT_TRUE(redis.mutex("orders", {.fencing = fencing::off}).try_acquire());
  EXPECT_EQ(server.command({"EXISTS", value_key("others")}).number, 0);
}

TEST_P(Rights, DoctorTellsThatScriptsMayNotPublish) {
  const auto server = server_with_worker();
  const auto publishing = [&] {
    for (const auto& found : inspector{client{server.url(), worker()}}.diagnose()) {
      if (found.check == "publish") return found;
    }
    return finding{};
  };
  EXPECT_EQ(publishing().level, finding::severity::ok) << publishing().detail;
  give(server, {"resetchannels"});
  EXPECT_EQ(publishing().level, finding::severity::warning) << publishing().detail;
  EXPECT_THAT(publishing().remedy, ::testing::HasSubstr("&hf:c:*"));
  for (const auto* right : {"publish", "subscribe"}) {
    give(server, {"&hf:c:*", "+publish", "+subscribe", std::string{"-"} + right});
    EXPECT_EQ(publishing().level, finding::severity::warning) << right << publishing().detail;
    EXPECT_THAT(publishing().remedy, ::testing::HasSubstr(std::string{"+"} + right));
  }
}

TEST_P(Rights, DoctorTellsThatTheServerHasNoRESP3) {
  const auto server = start();
  const auto old = server.url() + (server.url().find('?') == std::string::npos ? "?" : "&");
  int told = 0;
  for (const auto& found : inspector{client{old + "protocol=2"}}.diagnose()) {
    if (found.check != "publish") continue;
    ++told;
    EXPECT_EQ(found.level, finding::severity::warning);
    EXPECT_THAT(found.detail, ::testing::HasSubstr("RESP3"));
    EXPECT_THAT(found.remedy, ::testing::Not(::testing::HasSubstr("ACL")));
  }
  EXPECT_EQ(told, 1);
}

TEST_P(Rights, AWaiterWhoMayNotListenStandsInTheQueueOnce) {
  const auto server = server_with_worker();
  give(server, {"resetchannels"});
  const client owner{server.url(), patient()}, redis{server.url(), worker()};
  auto held = owner.mutex("orders").acquire();
  auto waits = std::async(std::launch::async, [&] { return redis.mutex("orders").acquire(); });
  EXPECT_TRUE(eventually([&] { return ways(server).ends_with('p'); }));
  EXPECT_EQ(ways(server), "p");
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(waits.get().held());
}

TEST_P(Rights, TakenAwayWhileWaiting) {
  const auto server = server_with_worker();
  const client owner{server.url(), patient()}, redis{server.url(), worker()};
  auto held = owner.mutex("orders").acquire();
  auto waits = std::async(std::launch::async, [&] { return redis.mutex("orders").acquire(); });
  EXPECT_TRUE(eventually([&] { return ways(server) == "-"; }));
  give(server, {"resetchannels"});  // the server closes the connections of those who listen
  EXPECT_TRUE(eventually([&] { return ways(server) == "p"; }));
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(waits.get().held());
}

TEST_P(Rights, TakenAwayWhileHolding) {
  const auto server = server_with_worker();
  const client redis{server.url(), worker()};
  auto renewed = redis.mutex("renewed", {.lease = 600ms}).acquire();
  auto released = redis.mutex("released").acquire();
  const auto lost = renewed.lost();
  give(server, {"-pexpire", "-del"});
  expect_failure(released.release(), errc::permission_denied, "ACL SETUSER");
  EXPECT_TRUE(renewed.held()) << "until its deadline it is still ours";
  expect_failure(renewed.extend(20s), errc::permission_denied, "ACL SETUSER");
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, 5s));
  EXPECT_FALSE(renewed.held());
}

// The password of "worker" stands in a file, and is changed while a client runs.
class Rotation : public Rights {
 protected:
  static constexpr const char* next_password = "hunter3-new-horse";

  static std::string file_of(const private_server& server) {
    return (std::filesystem::path(server.socket()).parent_path() / "password").string();
  }
  static void write(const std::string& file, const std::string& line) {
    std::ofstream(file + ".new") << line << "\nwhat follows is not read\n";
    std::filesystem::rename(file + ".new", file);
  }
  static client_options from_file(const std::string& file) {
    auto options = worker();
    options.password = "something else";
    options.password_file = file;
    return options;
  }
  static void cut_connections(const private_server& server) {
    server.command({"CLIENT", "KILL", "USER", "worker"});
  }
};
HOLDFAST_ON_EACH_SERVER(Rotation);

TEST_P(Rotation, NobodyIsStoppedWhileBothPasswordsAreGood) {
  const auto server = server_with_worker();
  const auto file = file_of(server);
  write(file, password);
  const client redis{server.url(), from_file(file)};
  auto held = redis.mutex("a").acquire();
  give(server, {std::string(">") + next_password});
  write(file, next_password);
  give(server, {std::string("<") + password});
  cut_connections(server);
  EXPECT_TRUE(redis.mutex("b").try_acquire({.timeout = support::generous}));
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(held.release());
}

// As daemons do it when their clients have been made.
TEST_P(Rotation, FileIsFoundAlsoFromAnotherDirectory) {
  const auto server = server_with_worker();
  const auto file = std::filesystem::path(file_of(server));
  write(file, password);
  const auto home = std::filesystem::current_path();
  std::filesystem::current_path(file.parent_path());
  const client redis{server.url(), from_file(file.filename())};
  std::filesystem::current_path(home);
  EXPECT_TRUE(redis.mutex("a").try_acquire({.timeout = support::generous}));
}

TEST_P(Rotation, LateFileHealsTheClient) {
  const auto server = server_with_worker();
  const auto file = file_of(server);
  write(file, password);
  const client redis{server.url(), from_file(file)};
  const auto lock = redis.mutex("a");
  ASSERT_TRUE(lock.try_acquire());
  give(server, {"resetpass", std::string(">") + next_password});
  cut_connections(server);
  ASSERT_TRUE(eventually([&] {
    const auto got = lock.try_acquire();
    return !got && got.error().reason() == errc::authentication;
  }));
  write(file, next_password);
  EXPECT_TRUE(eventually([&] { return bool(lock.try_acquire()); }, 5s)) << "once per second";
}

TEST_P(Rotation, FileThatCannotBeReadIsToldAndTriedAgain) {
  const auto server = server_with_worker();
  const auto file = file_of(server);
  const client redis{server.url(), from_file(file)};
  expect_failure(redis.mutex("a").try_acquire(), errc::authentication, "the password file");
  write(file, "");
  expect_failure(redis.mutex("a").try_acquire({.timeout = 3s}), errc::authentication,
                 "first line is empty");
  write(file, password);
  EXPECT_TRUE(eventually([&] { return bool(redis.mutex("a").try_acquire()); }, 5s));
}

TEST_P(Rights, UserDeletedWhileHolding) {
  const auto server = server_with_worker();
  const client redis{server.url(), worker()};
  auto held = redis.mutex("a", {.lease = 600ms}).acquire();
  const auto lost = held.lost();
  ASSERT_EQ(server.command({"ACL", "DELUSER", "worker"}).number, 1);  // also kills its connections
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, 5s));
  EXPECT_FALSE(held.held());
  expect_failure(redis.mutex("b").try_acquire({.timeout = support::generous}), errc::authentication,
                 "WRONGPASS");
}

}  // namespace
}  // namespace holdfast::faults
