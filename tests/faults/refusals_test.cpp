// Refusals of a server, each of which callers hear as what it is.
#include <filesystem>
#include <functional>
#include <future>

#include "faults/faulty_server.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::faults {
namespace {

class Refusals : public fault_test {
 protected:
  // Lets the library be refused by a server that is configured like this.
  static void configure(const private_server& server, const std::string& name,
                        const std::string& value) {
    ASSERT_EQ(server.command({"CONFIG", "SET", name, value}).text, "OK") << name;
  }

  // A client waits for a lock that the server refuses, until that is mended. `asked`: how often it
  // has asked so far.
  static void outlast(const client& redis, const std::function<std::int64_t()>& asked,
                      const std::function<void()>& mend) {
    const auto before = asked();
    auto got = std::async(std::launch::async, [&] {
      return redis.mutex("patient").try_acquire({.timeout = support::generous});
    });
    EXPECT_TRUE(eventually([&] { return asked() >= before + 2; })) << "else nothing was tested";
    mend();
    const auto held = got.get();
    EXPECT_TRUE(held) << why_not(held);
  }
  static void outlast(const private_server& server, const client& redis,
                      const std::function<void()>& mend) {
    outlast(
        redis, [&] { return server.calls("evalsha"); }, mend);
  }
};
HOLDFAST_ON_EACH_SERVER(Refusals);

TEST_P(Refusals, OutOfMemoryConcernsNewLocksOnly) {
  const auto server = start();
  const client redis{server.url()};
  const auto fixed = redis.mutex("fixed", {.lease = 20s, .renewal = renewal::none});
  auto renewed = redis.mutex("renewed", {.lease = 300ms}).acquire();
  auto extended = fixed.acquire();
  configure(server, "maxmemory", "1");

  expect_failure(redis.mutex("new").try_acquire(), errc::out_of_memory, "maxmemory");
  expect_failure(redis.mutex("new").try_acquire({.timeout = 50ms}), errc::timed_out, "OOM");
  EXPECT_TRUE(extended.extend(40s));
  EXPECT_GT(extended.remaining(), 30s);
  const auto first_deadline = net::now() + renewed.remaining();
  EXPECT_TRUE(eventually([&] { return net::now() > first_deadline + 100ms; }));
  EXPECT_TRUE(renewed.held()) << "renewal must work when memory is short";
  EXPECT_TRUE(renewed.release());
  EXPECT_TRUE(extended.release());
  EXPECT_EQ(server.command({"EXISTS", value_key("fixed"), value_key("renewed")}).number, 0);
}

TEST_P(Refusals, WaitingOutlastsShortMemory) {
  const auto server = start();
  const client redis{server.url()};
  ASSERT_TRUE(redis.mutex("warm").try_acquire());
  configure(server, "maxmemory", "1");
  expect_failure(redis.mutex("a").try_acquire(), errc::out_of_memory, "maxmemory");
  outlast(server, redis, [&] { configure(server, "maxmemory", "0"); });
}

TEST_P(Refusals, ReplicaSaysThatItIsOne) {
  const auto master = start({.tcp = true});
  const auto replica = start();
  ASSERT_EQ(replica.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())}).text, "OK");
  const client redis{replica.url()};
  const auto orders = redis.mutex("orders");
  EXPECT_TRUE(eventually([&] {
    const auto got = orders.try_acquire();
    return !got && got.error().reason() == errc::read_only;
  })) << why_not(orders.try_acquire());
  expect_failure(orders.try_acquire(), errc::read_only, "give the address of the master");
  outlast(replica, redis, [&] { replica.command({"REPLICAOF", "NO", "ONE"}); });
}

TEST_P(Refusals, HolderSurvivesAShortTimeAsReplica) {
  const auto server = start();
  const client redis{server.url(), impatient()};
  auto held = redis.mutex("a", {.lease = 20s}).acquire();
  ASSERT_EQ(server.command({"REPLICAOF", "127.0.0.1", "1"}).text, "OK");
  expect_failure(held.extend(30s), errc::read_only, "give the address of the master");
  EXPECT_TRUE(held.held());
  expect_failure(held.release(), errc::unavailable, "tried again until the server must have");
  EXPECT_FALSE(held.held());
  ASSERT_EQ(server.command({"REPLICAOF", "NO", "ONE"}).text, "OK");
  EXPECT_TRUE(redis.mutex("a").try_acquire({.timeout = 10s})) << "the release was not tried again";
}

// Its master may have given a lock that it still shows to another client since. Also where nothing
// would change: more is left than is asked for.
TEST_P(Refusals, ReplicaConfirmsNoLease) {
  const auto server = start();
  const client redis{server.url(), impatient()};
  std::vector<lease> all;
  const auto take = [&](const lock& what) { all.push_back(what.acquire()); };
  take(redis.mutex("mutex", {.lease = 10s}));
  take(redis.mutex("no token", {.lease = 10s, .fencing = fencing::off}));
  take(redis.read_write_lock("rw", {.lease = 10s}).shared());
  take(redis.mode_lock("modes", {.lease = 10s}).in(lock_mode::concurrent_write));
  take(redis.semaphore("permits", {.permits = 2, .lease = 10s}).permits(1));
  using how = dialect;
  const std::vector<dialect> dialects{how::redisson(),
                                      how::redisson(redisson_lock::fenced),
                                      how::go_zero(),
                                      how::redis_py(),
                                      how::reentrant_thread_local(),
                                      how::shedlock(),
                                      how::symfony(),
                                      how::redlock(),
                                      how::python_redis_lock(),
                                      how::rueidislock(),
                                      how::spring_integration({"app"})};
  for (const auto& each : dialects) {
    take(redis.mutex("of " + std::to_string(all.size()), {.lease = 10s}, each));
  }
  take(redis.mutex("in turn", {.lease = 10s, .fair = true}, how::redisson()));
  for (const auto& each : {how::redisson(), how::symfony()}) {
    take(redis.read_write_lock("rw " + std::to_string(all.size()), {.lease = 10s}, each).shared());
  }
  take(redis.read_write_lock("written", {.lease = 10s}, how::redisson()).exclusive());
  take(redis.semaphore("some", {.permits = 2, .lease = 10s}, how::redis_semaphore()).permits(1));
  take(redis.semaphore("more", {.permits = 2, .lease = 10s}, how::redisson()).permits(1));
  ASSERT_EQ(server.command({"REPLICAOF", "127.0.0.1", "1"}).text, "OK");
  for (auto& held : all) {
    SCOPED_TRACE(held.name());
    expect_failure(held.extend(1s), errc::read_only, "give the address of the master");
  }
}

TEST_P(Refusals, MissingReplicas) {
  const auto server = start();
  const client redis{server.url(), impatient()};
  auto held = redis.mutex("held", {.lease = 20s}).acquire();
  configure(server, "min-replicas-to-write", "1");
  expect_failure(redis.mutex("a").try_acquire(), errc::no_replicas, "min-replicas-to-write");
  expect_failure(held.extend(30s), errc::no_replicas, "min-replicas-to-write");
  expect_failure(held.release(), errc::unavailable, "tried again");
  outlast(server, redis, [&] { configure(server, "min-replicas-to-write", "0"); });
  EXPECT_TRUE(eventually(
      [&] {
        return server.command({"EXISTS", value_key("held")}).number == 0;
      },
      10s));
}

TEST_P(Refusals, LongScriptMakesTheServerBusy) {
  const auto server = start({.arguments = {"--lua-time-limit", "1"}});
  const client redis{server.url()};
  auto held = redis.mutex("held", {.lease = 20s}).acquire();
  support::raw_connection busy{net::unix_endpoint{server.socket()}};
  busy.send("EVAL \"while true do end\" 0\r\n");
  ASSERT_TRUE(eventually([&] { return server.command({"GET", "a"}).is(resp::type::error); }));

  expect_failure(redis.mutex("a").try_acquire(), errc::server_busy, "SCRIPT KILL");
  const client newcomer{server.url()};
  expect_failure(newcomer.mutex("a").try_acquire(), errc::server_busy, "SCRIPT KILL");
  expect_failure(client(server.url()).mutex("a").try_acquire({.timeout = 500ms}), errc::unavailable,
                 "SCRIPT KILL");
  expect_failure(held.extend(30s), errc::server_busy, "SCRIPT KILL");
  EXPECT_TRUE(held.held());
  ASSERT_EQ(server.command({"SCRIPT", "KILL"}).text, "OK");
  EXPECT_TRUE(newcomer.mutex("a").try_acquire({.timeout = support::generous}));
  EXPECT_TRUE(held.release());
}

TEST_P(Refusals, BusyServerDoesNotEndTheRenewals) {
  const auto server = start({.arguments = {"--lua-time-limit", "1"}});
  const client redis{server.url()};
  const auto held = redis.mutex("held", {.lease = 3s}).acquire();
  support::raw_connection busy{net::unix_endpoint{server.socket()}};
  busy.send("EVAL \"while true do end\" 0\r\n");
  // The first renewal comes at a third of the lease, that is at two thirds of it left.
  ASSERT_TRUE(eventually([&] { return held.remaining() < 1700ms; }));
  ASSERT_EQ(server.command({"SCRIPT", "KILL"}).text, "OK");
  EXPECT_TRUE(eventually([&] { return held.remaining() > 2s || !held.held(); }));
  EXPECT_TRUE(held.held());
}

TEST_P(Refusals, ServerThatCannotSave) {
  const auto server = start({.arguments = {"--save", "3600 1", "--dbfilename", "taken"}});
  const client redis{server.url(), impatient()};
  auto held = redis.mutex("held", {.lease = 20s}).acquire();
  // The dump cannot be moved to where a directory is.
  std::filesystem::create_directory(std::filesystem::path{server.socket()}.parent_path() / "taken");
  server.command({"BGSAVE"});
  ASSERT_TRUE(eventually([&] { return server.command({"SET", "a", "b"}).is(resp::type::error); }));
  expect_failure(redis.mutex("new").try_acquire(), errc::misconfigured, "cannot save");
  expect_failure(held.release(), errc::unavailable, "MISCONF");
  outlast(server, redis, [&] { configure(server, "stop-writes-on-bgsave-error", "no"); });
  EXPECT_TRUE(redis.mutex("held").try_acquire({.timeout = 10s}));
}

TEST_P(Refusals, ServerThatIsLoading) {
  const auto server = start({.arguments = {"--enable-debug-command", "yes"}});
  const client redis{server.url()};
  server.command({"DEBUG", "POPULATE", "300"});
  ASSERT_TRUE(redis.mutex("a").try_acquire());
  configure(server, "loading-process-events-interval-bytes", "1024");
  configure(server, "key-load-delay", "10000");  // microseconds a key
  support::raw_connection reload{net::unix_endpoint{server.socket()}};
  reload.send("DEBUG RELOAD\r\n");
  ASSERT_TRUE(eventually([&] { return server.command({"GET", "a"}).is(resp::type::error); }));
  expect_failure(redis.mutex("a").try_acquire(), errc::loading, "ask again");
  const client newcomer{server.url()};
  expect_failure(newcomer.mutex("a").try_acquire(), errc::loading, "ask again");
  server.command({"CONFIG", "SET", "key-load-delay", "0"});
  EXPECT_TRUE(newcomer.mutex("a").try_acquire({.timeout = support::generous}));
}

TEST_P(Refusals, NoFreeConnection) {
  const auto server = start();
  support::raw_connection only{net::unix_endpoint{server.socket()}};
  ASSERT_EQ(only.command({"CONFIG", "SET", "maxclients", "1"}).text, "OK");
  const client redis{server.url()};
  expect_failure(redis.mutex("a").try_acquire(), errc::server_busy, "maxclients");
  const auto turned_away = [&] {
    const auto stats = only.command({"INFO", "stats"}).text;
    const std::string before = "rejected_connections:";
    return std::stoll(stats.substr(stats.find(before) + before.size()));
  };
  outlast(redis, turned_away, [&] { only.command({"CONFIG", "SET", "maxclients", "100"}); });
}

}  // namespace
}  // namespace holdfast::faults
