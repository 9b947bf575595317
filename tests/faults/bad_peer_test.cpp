// The peer is no Redis server, hangs up, or is silent.
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "faults/fake_sentinel.hpp"
#include "faults/faulty_server.hpp"
#include "net/background_thread.hpp"
#include "redis/connection/connection.hpp"
#include "support/fake_server.hpp"
#include "support/fault_proxy.hpp"
#include "support/listener.hpp"

namespace holdfast::faults {
namespace {

using support::fake_server;
using support::fault_proxy;
using support::toward;

TEST(BadPeer, WebServerIsNotRedis) {
  const fake_server web([](const auto&) {
    return fake_server::answer("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  });
  const client redis{web.url(), impatient()};
  expect_failure(redis.mutex("a").try_acquire(), errc::not_redis, "not the Redis protocol");
  expect_failure(redis.mutex("a").try_acquire({.timeout = support::generous}), errc::not_redis,
                 "the program that answers at this address does not speak the Redis protocol");
}

TEST(BadPeer, ShellServerThatGreetsIsNotRedis) {
  fake_server shell;
  shell.greet(fake_server::answer("SSH-2.0-OpenSSH_9.2\r\n"));
  const client redis{shell.url(), impatient()};
  expect_failure(redis.mutex("a").try_acquire(), errc::not_redis, "not the Redis protocol");
}

TEST(BadPeer, ThatHangsUpIsToldAsSuch) {
  fake_server rude;
  rude.greet(fake_server::hang_up());
  const client redis{rude.url(), impatient()};
  expect_failure(redis.mutex("a").try_acquire(), errc::unavailable, "while logging in");
}

TEST(BadPeer, ThatSaysNothingCostsTheTimeoutOnly) {
  const fake_server silent([](const auto&) { return fake_server::silence(); });
  const client redis{silent.url(), impatient()};
  const auto before = net::now();
  expect_failure(redis.mutex("a").try_acquire(), errc::unavailable, "does not answer");
  EXPECT_LT(net::now() - before, 3s);
}

// Its cursors never come to an end, neither over its keys nor over the index of held locks.
TEST(BadPeer, ThatNeverEndsAListEndsNoLookWithIt) {
  for (const char* const keys : {":10\r\n", ":9223372036854775807\r\n"}) {
    std::atomic<int> pages = 0;
    const fake_server endless(
        [&](const fake_server::command& said) -> std::optional<fake_server::reply> {
          if (said.at(0) == "DBSIZE") return fake_server::answer(keys);
          if (said.at(0) != "SCAN" && said.at(0) != "ZSCAN") return std::nullopt;
          ++pages;
          return fake_server::answer("*2\r\n$1\r\n7\r\n*0\r\n");
        });
    const client redis{endless.url(), impatient()};
    const auto found = inspector{redis}.list();
    EXPECT_FALSE(found.complete) << keys;
    EXPECT_TRUE(found.locks.empty());
    EXPECT_GT(pages, 50);
    EXPECT_LT(pages, 6'000);
  }
}

// A last attempt has only the moment that is left, in which a busy sentinel may not answer.
TEST(BadPeer, SentinelThatFallsSilentDoesNotHideWhatItSaid) {
  bool asked = false;
  const fake_server sentinel([&](const auto& command) -> std::optional<fake_server::reply> {
    if (asked) return fake_server::silence();
    if (!asks_for_master(command)) return std::nullopt;
    asked = true;
    return named(1);
  });
  const client redis{"redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/locks",
                     impatient()};
  expect_failure(redis.mutex("a").try_acquire(), errc::unavailable,
                 "which is 127.0.0.1:1 as the sentinels say");
}

// The server that is named as master refuses fifty times, for as long as sentinels take to see that
// one is dead.
TEST(BadPeer, DeadMasterThatIsNamedForLongDoesNotCostTheNextOneItsTime) {
  constexpr int until_replaced = 60;
  const fake_server next;
  std::atomic<int> asked = 0;
  const fake_server sentinel([&](const auto& command) -> std::optional<fake_server::reply> {
    if (!asks_for_master(command)) return std::nullopt;
    return named(++asked <= until_replaced ? 1 : next.port());
  });
  const client redis{"redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/locks",
                     {.connect_timeout = 30s}};
  (void)redis.mutex("a").try_acquire();
  EXPECT_GE(next.connections(), 1U);
  EXPECT_LT(asked, until_replaced + 20) << "a few by who watches them";
}

// Requests under way must not arrive after the client has given them up.
TEST(BadPeer, ThatSaysNothingSeesTheConnectionReset) {
  net::descriptor listener;
  const auto port = support::listen_on_loopback(listener);
  const client redis{"redis://127.0.0.1:" + std::to_string(port), impatient()};
  expect_failure(redis.mutex("a").try_acquire(), errc::unavailable, "does not answer");
  const net::descriptor silent(support::accept_from(listener));
  char unread[4096];
  while (::recv(silent.get(), unread, sizeof unread, 0) > 0) {
  }
  EXPECT_EQ(errno, ECONNRESET);
}

TEST(BadPeer, ThatSpeaksNonsenseLaterIsToldAsSuch) {
  fake_server server;
  const client redis{server.url(), impatient()};
  // Behind bytes that are no protocol the connection is no use, so what was asked has no answer.
  const auto bytes = std::pair{errc::unavailable, "the server's bytes are not the Redis protocol"};
  const auto reply = std::pair{errc::server_error, "answer to acquire cannot be understood"};
  const std::vector<std::pair<const char*, std::pair<errc, const char*>>> all = {
      {"$-7\r\n", bytes},
      {":1:2\r\n", bytes},
      {"*1\r\n+x\r\n", reply},
      {"+what?\r\n", reply},
      {"_\r\n", reply},
      {"*2\r\n+mine\r\n:-1\r\n", reply},
      {"*3\r\n+mine\r\n:0\r\n:0\r\n", reply}};
  for (const auto& [nonsense, told] : all) {
    SCOPED_TRACE(nonsense);
    server.on([says = nonsense](const auto& command) -> std::optional<fake_server::reply> {
      if (command.at(0) != "EVALSHA") return std::nullopt;
      return fake_server::answer(says);
    });
    expect_failure(redis.mutex("a").try_acquire(), told.first, told.second);
  }
}

TEST(BadPeer, ThatIsNeverDoneWithAReleaseKeepsNobody) {
  std::atomic<bool> is_held = false;
  const fake_server busy([&](const auto& command) -> std::optional<fake_server::reply> {
    if (command.front() != "EVALSHA") return std::nullopt;
    return fake_server::answer(is_held.exchange(true) ? ":2\r\n" : ":4096\r\n");
  });
  const client redis{busy.url(), impatient()};
  auto held = redis.mutex("a").acquire();
  expect_failure(held.release(), errc::unavailable, "has not confirmed the release");
}

// It sends us on to another node when there is no descriptor for a connection to that.
TEST(BadPeer, ClusterThatMovesALockMayFindNoDescriptorLeft) {
  std::atomic<bool> moves = false;
  fake_server cluster;
  const auto port = std::to_string(cluster.port());
  cluster.on([&](const auto& command) -> std::optional<fake_server::reply> {
    const auto says = [&](std::size_t at, std::string_view word) {
      return command.size() > at && command[at] == word;
    };
    if (says(0, "CLUSTER") && says(1, "SLOTS")) {
      return fake_server::answer("*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:" + port +
                                 "\r\n$2\r\nid\r\n");
    }
    if (says(0, "CLUSTER")) return fake_server::answer("$2\r\nid\r\n");
    if (!moves || !says(0, "EVALSHA")) return std::nullopt;
    return fake_server::error("MOVED 1 127.0.0.1:1");
  });
  const client redis{"redis+cluster://127.0.0.1:" + port, impatient()};
  const auto await = [](lock wanted) -> task<result<lease>> {
    co_return co_await wanted.async_try_acquire();
  };
  // Connected; and seen by a sanitizer that cannot look at an object without a descriptor.
  (void)sync_wait(await(redis.mutex("a")));
  moves = true;
  ::rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const ::rlimit none{.rlim_cur = 3, .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto asked = redis.mutex("a").try_acquire();
  const auto awaited = sync_wait(await(redis.mutex("b")));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  for (const auto* got : {&asked, &awaited}) {
    expect_failure(*got, errc::unavailable, "no descriptor is left");
  }
}

TEST(BadPeer, RefusedPortIsToldWithItsAddress) {
  fault_proxy proxy{net::tcp_endpoint{"127.0.0.1", 1}};
  proxy.refuse_connections();
  auto options = impatient();
  options.password = password;
  const client redis{proxy.url(), options};
  expect_failure(redis.mutex("a").try_acquire(), errc::unavailable,
                 "127.0.0.1:" + std::to_string(proxy.port()) + ": Connection refused");
}

// The errors that a real server gives too seldom for a test.
TEST(BadPeer, EveryErrorOfAServerIsToldAsWhatItIs) {
  fake_server server;
  auto options = impatient();
  options.password = password;
  server.on([](const auto& command) -> std::optional<fake_server::reply> {
    if (command.at(0) != "HELLO") return std::nullopt;
    return fake_server::error("NOPROTO unsupported protocol version");
  });
  const client redis{server.url(), options};
  const std::vector<std::pair<std::string, errc>> errors = {
      {"LOADING Redis is loading the dataset in memory", errc::loading},
      {"MASTERDOWN Link with MASTER is down", errc::read_only},
      {"UNKILLABLE Sorry the script already executed write commands", errc::server_busy},
      {"MISCONF Errors writing to the AOF file: No space left on device", errc::misconfigured},
      {"NOREPLICAS Not enough good replicas to write.", errc::no_replicas},
      {"CLUSTERDOWN The cluster is down", errc::unavailable},
      {"MOVED 3999 127.0.0.1:6381", errc::unsupported},
      {"TRYAGAIN Multiple keys request during rehashing of slot", errc::server_busy},
      {std::string("ERR unknown thing '") + "x" + "'", errc::server_error}};
  for (const auto& [text, code] : errors) {
    server.on([text = text](const auto& command) -> std::optional<fake_server::reply> {
      if (command.at(0) == "HELLO") return fake_server::error("NOPROTO unsupported");
      if (command.at(0) != "EVALSHA") return std::nullopt;
      return fake_server::error(text);
    });
    expect_failure(redis.mutex("a").try_acquire(), code, text.substr(0, text.find(' ')));
  }
}

// Each proxy and old server refuses HELLO in words of its own. None of them means that it cannot be
// used.
TEST(BadPeer, ThatHasNoHelloIsUsedWithTheOldProtocol) {
  for (const auto* const refusal :
       {"ERR unknown command 'HELLO', with args beginning with: '3' ",
        "unsupported command 'hello'", "ERR unsupported command `hello`",
        "ERR Unknown command 'HELLO'", "ERR syntax error", "NOPROTO unsupported protocol version",
        "ERR Protocol version is not an integer",
        "NOPERM this user has no permissions to run the 'hello' command", "no"}) {
    SCOPED_TRACE(refusal);
    const fake_server proxy([&](const auto& command) -> std::optional<fake_server::reply> {
      if (command.front() == "HELLO") return fake_server::error(refusal);
      if (command.front() == "EVALSHA") return fake_server::answer(":4096\r\n");
      if (command.front() == "TIME" || command.front() == "AUTH") return std::nullopt;
      return fake_server::error("unsupported command");
    });
    auto options = patient();
    options.password = password;
    const client redis{proxy.url(), options};
    const auto held = redis.mutex("a").try_acquire();
    EXPECT_TRUE(held) << why_not(held);
    EXPECT_EQ(proxy.received("AUTH"), 1U);
  }
}

TEST(BadPeer, ThatHangsUpAtHelloIsUsedIfTheAddressSaysSo) {
  const fake_server proxy([&](const auto& command) -> std::optional<fake_server::reply> {
    if (command.front() == "HELLO") return fake_server::hang_up();
    if (command.front() == "EVALSHA") return fake_server::answer(":4096\r\n");
    return std::nullopt;
  });
  auto options = impatient();
  options.password = password;
  const client redis{proxy.url(), options};
  expect_failure(redis.mutex("a").try_acquire(), errc::unavailable, "?protocol=2 to the address");
  const client old{proxy.url() + "?protocol=2", options};
  const auto held = old.mutex("a").try_acquire({.timeout = support::generous});
  EXPECT_TRUE(held) << why_not(held);
  EXPECT_EQ(proxy.received("AUTH"), 1U);
}

TEST(BadPeer, ThatRefusesTheLogInWithHelloIsNotAskedInTheOldProtocol) {
  const std::vector<std::pair<const char*, errc>> all = {
      {"WRONGPASS invalid username-password pair or user is disabled.", errc::authentication},
      {"ERR AUTH <password> called without any password configured", errc::authentication},
      {"NOAUTH HELLO must be called with the client already authenticated", errc::authentication},
      {"DENIED Redis is running in protected mode", errc::permission_denied},
      {"LOADING Redis is loading the dataset in memory", errc::loading},
      {"BUSY Redis is busy running a script", errc::server_busy},
      {"ERR max number of clients reached", errc::server_busy}};
  for (const auto& [refusal, reason] : all) {
    const fake_server strict([text = refusal](const auto& command) {
      return command.front() == "HELLO" ? fake_server::error(text) : fake_server::error("no");
    });
    const client redis{strict.url(), impatient()};
    expect_failure(redis.mutex("a").try_acquire(), reason, "the server said");
    EXPECT_EQ(strict.received("TIME"), 0U) << refusal;
  }
}

TEST(BadPeer, PasswordThatTheServerRepeatsIsNotShown) {
  const fake_server server([](const fake_server::command& command) {
    std::string repeated;
    for (const auto& word : command) repeated += "'" + word + "' ";
    return fake_server::error("ERR unknown command '" + command.at(0) +
                              "', with args beginning with: " + repeated);
  });
  auto options = impatient();
  options.password = password;
  const client redis{server.url(), options};
  expect_failure(redis.mutex("a").try_acquire(), errc::unsupported, "unknown command");
}

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// A terminal or log that shows the error would obey it.
TEST(BadPeer, CannotWriteControlBytesIntoAnError) {
  const std::string host = "\x1b[2Jevil\n\x9b.example";
  const fake_server sentinel([&](const auto& words) -> std::optional<fake_server::reply> {
    if (!asks_for_master(words)) return naming(1)(words);
    return fake_server::answer("*2\r\n" + bulk(host) + bulk("1"));
  });
  const fake_server node([](const auto& words) -> std::optional<fake_server::reply> {
    if (words.front() == "HELLO") return std::nullopt;
    return fake_server::error("MOVED 1 \x1b]0;evil\x07.example:1");
  });
  const std::string at = std::to_string(sentinel.port());
  for (const auto& url : {"redis+sentinel://127.0.0.1:" + at + "/orders",
                          "redis+cluster://127.0.0.1:" + std::to_string(node.port()), node.url()}) {
    const client redis{url, impatient()};
    const auto refused = redis.mutex("a\x1b").try_acquire();
    ASSERT_FALSE(refused);
    for (const char c : std::string{refused.error().what()}) {
      ASSERT_TRUE(c >= 0x20 && c < 0x7f) << url << ": " << refused.error().what();
    }
  }
}

// Nobody may storm a server that cannot take them.
TEST(BadPeer, ThatHangsUpIsNotStormed) {
  fake_server rude;
  rude.greet(fake_server::hang_up());
  const client redis{rude.url(), impatient()};
  std::vector<std::thread> crowd;
  for (int i = 0; i < 8; ++i) {
    crowd.emplace_back([&] { EXPECT_FALSE(redis.mutex("a").try_acquire({.timeout = 2s})); });
  }
  for (auto& one : crowd) one.join();
  // After 0, 10, 20, 40, ... 640, 1000 ms.
  EXPECT_LE(rude.connections(), 12U);
  EXPECT_GE(rude.connections(), 3U);
}

TEST(BadPeer, ThatRefusesThePasswordIsNotStormed) {
  const fake_server strict([](const auto&) {
    return fake_server::error("WRONGPASS invalid username-password pair or user is disabled.");
  });
  auto options = impatient();
  options.password = password;
  const client redis{strict.url(), options};
  const auto end = net::now() + 2s;
  while (net::now() < end) {
    expect_failure(redis.mutex("a").try_acquire({.timeout = 2s}), errc::authentication, "WRONG");
  }
  EXPECT_LE(strict.connections(), 5U);
}

class HalfOpen : public fault_test {};
HOLDFAST_ON_EACH_SERVER(HalfOpen);

TEST_P(HalfOpen, IsNoticedByTheFirstOneWhoAsks) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url(), impatient()};
  auto held = redis.mutex("held", {.lease = 30s}).acquire();
  const auto before = proxy.connections();
  proxy.swallow(toward::server);
  proxy.swallow(toward::client);
  expect_failure(held.extend(40s), errc::unavailable, "did not answer within 500 ms");
  proxy.heal();
  // The first new connection may have been begun before that.
  EXPECT_TRUE(eventually([&] { return held.extend(40s).has_value(); })) << "on a new connection";
  EXPECT_GT(proxy.connections(), before);
  EXPECT_TRUE(held.release());
}

TEST_P(HalfOpen, RenewalsSurviveIt) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url(), impatient()};
  const auto held = redis.mutex("a", {.lease = 4s}).acquire();
  const auto first_deadline = net::now() + held.remaining();
  proxy.swallow(toward::server);
  EXPECT_TRUE(eventually([&] { return held.remaining() < 2200ms; }));  // the first renewal is lost
  proxy.heal();
  EXPECT_TRUE(eventually([&] { return net::now() + held.remaining() > first_deadline + 500ms; }));
  EXPECT_TRUE(held.held());
}

// Nobody asks for anything: a PING finds it out.
TEST_P(HalfOpen, IsNoticedByNobodyToo) {
  class deaf final : public redis::connection::observer {
    void on_connected(const redis::session_facts&) override {}
    void on_push(resp::value&, std::uint64_t) override {}
    void on_broken() override {}
  };
  class greeting final : public redis::request {
   public:
    std::atomic<bool> answered{false};
    void write(resp::writer& out, monotonic_time) override {
      out.command(1);
      out.arg("PING");
    }
    void on_reply(resp::value&) override { answered = true; }
    void on_failed(no_answer, const redis::breakdown&) override {}
  };
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  redis::session_settings settings;
  settings.where = net::tcp_endpoint{"127.0.0.1", proxy.port()};
  settings.client_name = "test";
  settings.response_timeout = 200ms;
  redis::connection_tuning tuning;
  tuning.ping_after = 100ms;
  deaf nobody;
  net::background_thread helper;
  redis::connection link(settings, tuning, helper, nobody);
  helper.start({&link});
  greeting hello;
  link.submit(hello, redis::connection::delivery::prompt);
  EXPECT_TRUE(eventually([&] { return hello.answered.load(); }));
  EXPECT_EQ(proxy.open_connections(), 1U);
  proxy.swallow(toward::client);
  EXPECT_TRUE(eventually([&] { return proxy.open_connections() == 0; }));
  helper.stop();
  link.shut_down();
}

}  // namespace
}  // namespace holdfast::faults
