// Answers that come late, requests that come twice.
#include <unistd.h>

#include <future>
#include <memory>
#include <thread>

#include <holdfast/inspector.hpp>

#include "faults/faulty_server.hpp"
#include "support/fault_proxy.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::faults {
namespace {

using support::cut;
using support::fault_proxy;
using support::toward;

class LateAnswers : public fault_test {
 protected:
  // The value that the server has for a lock now; empty when it is free.
  static std::string value_of(const private_server& server, const std::string& name) {
    return server.command({"GET", value_key(name)}).text;
  }
  static std::int64_t pttl(const private_server& server, const std::string& name) {
    return server.command({"PTTL", value_key(name)}).number;
  }
  static std::string token_of(const std::string& value) {
    return value.substr(2, value.find(':', 2) - 2);
  }
  static std::string token_of(const lease& held) {
    return std::to_string(held.token().value() / 2048);
  }
};
HOLDFAST_ON_EACH_SERVER(LateAnswers);

TEST_P(LateAnswers, PatientAcquireKeepsTheGrantWhoseAnswerWasLost) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url(), impatient()};
  ASSERT_TRUE(redis.mutex("warm").try_acquire());
  proxy.stall(toward::client);
  std::optional<result<lease>> got;
  std::thread waiting([&] { got = redis.mutex("a").try_acquire({.timeout = support::generous}); });
  EXPECT_TRUE(eventually([&] { return !value_of(server, "a").empty(); }));
  const auto granted = value_of(server, "a");
  // The connection is given up after the response time-out, and its late answer with it.
  EXPECT_TRUE(eventually([&] { return proxy.connections() > 1; }));
  proxy.heal();
  waiting.join();
  ASSERT_TRUE(*got) << why_not(*got);
  EXPECT_EQ(value_of(server, "a"), granted) << "one request, one grant";
  EXPECT_EQ(token_of(**got), token_of(granted));
}

// The copy that was sent again prolongs what the first one was granted, at the last moment; what is
// believed counts from it, and not from its answer, which takes a while.
TEST_P(LateAnswers, RetryJustBeforeTheLeaseEndsCountsFromItself) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  auto options = impatient();
  options.connect_timeout = support::generous;  // the next connection waits until it is healed
  const client redis{proxy.url(), options};
  ASSERT_TRUE(redis.mutex("warm").try_acquire());
  const auto wanted = redis.mutex("a", {.lease = 4s, .renewal = renewal::none});
  proxy.stall(toward::client);
  auto got = std::async(std::launch::async,
                        [&] { return wanted.try_acquire({.timeout = support::generous}); });
  EXPECT_TRUE(eventually([&] { return !value_of(server, "a").empty(); }));
  const auto granted = value_of(server, "a");
  EXPECT_TRUE(eventually([&] { return pttl(server, "a") < 1500; }));
  const auto first_end = net::now() + milliseconds{pttl(server, "a")};
  proxy.heal();
  proxy.delay(toward::client, 150ms);
  const auto held = got.get();
  ASSERT_TRUE(held) << why_not(held);
  const auto believed = net::now() + held->remaining();
  EXPECT_LE(believed, net::now() + milliseconds{pttl(server, "a")});
  EXPECT_GT(believed, first_end);
  EXPECT_EQ(value_of(server, "a"), granted) << "one request, one grant";
}

TEST_P(LateAnswers, AskingOnceGivesBackWhatItWasGrantedTooLate) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url(), impatient()};
  ASSERT_TRUE(redis.mutex("warm").try_acquire());
  proxy.stall(toward::client);
  expect_failure(redis.mutex("a", {.lease = 60s}).try_acquire(), errc::unavailable,
                 "did not answer within 500 ms");
  EXPECT_FALSE(value_of(server, "a").empty()) << "else nothing was tested";
  proxy.heal();
  EXPECT_TRUE(eventually([&] { return value_of(server, "a").empty(); })) << "before the lease ends";
}

TEST_P(LateAnswers, PausedServerCostsOnlyTime) {
  const auto server = start();
  const client redis{server.url(), impatient()};
  const auto held = redis.mutex("held", {.lease = 20s}).acquire();
  server.command({"CLIENT", "PAUSE", "1200", "ALL"});
  const auto got = redis.mutex("a").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(got) << why_not(got);
  EXPECT_EQ(token_of(*got), token_of(value_of(server, "a")));
  EXPECT_TRUE(held.held());
}

TEST_P(LateAnswers, ExtensionThatIsConfirmedAfterTheLeaseHasEndedIsALoss) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url()};
  auto warm = redis.mutex("warm").acquire();
  ASSERT_TRUE(warm.extend(10s));
  auto held = redis.mutex("a", {.lease = 500ms, .renewal = renewal::none}).acquire();
  const auto lost = held.lost();
  proxy.stall(toward::client);
  auto extended = std::async(std::launch::async, [&] { return held.extend(10s); });
  EXPECT_TRUE(eventually([&] { return pttl(server, "a") > 5000; }));
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  proxy.heal();
  expect_failure(extended.get(), errc::lost, "had ended before it was extended");
}

// The promise S3: what is granted counts from when it was asked for.
class OldGrant : public LateAnswers {
 protected:
  // Asks for "a"; when this is back, the lease has ended at the server although its grant is still
  // under way.
  std::future<result<lease>> granted_too_late(fault_proxy& proxy, const private_server& server,
                                              const client& redis, acquire_options patience) {
    const lock wanted = redis.mutex("a", {.lease = 200ms, .renewal = renewal::none});
    proxy.stall(toward::client);
    auto got = std::async(std::launch::async, [=] { return wanted.try_acquire(patience); });
    EXPECT_TRUE(eventually([&] { return !value_of(server, "a").empty(); }));
    EXPECT_TRUE(eventually([&] { return value_of(server, "a").empty(); }));
    return got;
  }
};
HOLDFAST_ON_EACH_SERVER(OldGrant);

TEST_P(OldGrant, IsNotBelieved) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url()};
  ASSERT_TRUE(redis.mutex("warm").try_acquire());
  auto got = granted_too_late(proxy, server, redis, {});
  proxy.heal();
  expect_failure(got.get(), errc::timed_out, "so late that its lease could have ended");
}

TEST_P(OldGrant, DoesNotKeepAPatientOneFromAskingAgain) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url()};
  ASSERT_TRUE(redis.mutex("warm").try_acquire());
  auto got = granted_too_late(proxy, server, redis, {.timeout = support::generous});
  const client neighbour{server.url()};
  auto other = neighbour.mutex("a").acquire();
  proxy.heal();
  EXPECT_EQ(got.wait_for(100ms), std::future_status::timeout) << "somebody else has it";
  EXPECT_TRUE(other.held());
  EXPECT_EQ(token_of(value_of(server, "a")), token_of(other));
  EXPECT_TRUE(other.release());
  const auto mine = got.get();
  ASSERT_TRUE(mine) << why_not(mine);
  EXPECT_GT(mine->token(), other.token());
}

// The bytes of an acquire, an extension and a release of somebody who has long gone on.
class Duplicates : public LateAnswers {
 protected:
  // The last script call that the server saw from the library, as it can be sent again.
  class spy {
   public:
    explicit spy(const private_server& server)
        : connection_(net::unix_endpoint{server.socket()}, 500ms) {
      connection_.command({"MONITOR"});
    }
    // Commands name their words in quotes: "EVALSHA" "sha" "2" "key" ...
    std::vector<std::string> next_call_of(const std::string& name,
                                          const std::string& command = "EVAL") {
      for (;;) {
        const auto line = connection_.read_value().text;
        if (line.find("\"" + command) == line.npos || line.find(name) == line.npos) continue;
        std::vector<std::string> words;
        for (auto from = line.find('"'); from != line.npos; from = line.find('"', from + 1)) {
          const auto to = line.find('"', from + 1);
          words.push_back(line.substr(from + 1, to - from - 1));
          from = to;
        }
        return words;
      }
    }

   private:
    support::raw_connection connection_;
  };

  // Loads all scripts, so that calls are short.
  static void warm_up(const client& redis) {
    auto warm = redis.mutex("warm").acquire();
    EXPECT_TRUE(warm.extend(60s));
    EXPECT_TRUE(warm.release());
  }
};
HOLDFAST_ON_EACH_SERVER(Duplicates);

TEST_P(Duplicates, AcquireAfterItsReleaseIsRefusedAsLate) {
  const auto server = start();
  const client redis{server.url(), impatient()};
  warm_up(redis);
  spy watching(server);
  auto held = redis.mutex("a").acquire();
  const auto copy = watching.next_call_of("{a}");
  EXPECT_TRUE(held.release());
  // Until its not-after, half a second here, a copy on a connection that nobody gave up would be
  // granted: therefore resends wait and connections are closed hard.
  resp::value answer;
  EXPECT_TRUE(eventually([&] {
    answer = server.command(copy);
    const bool late = answer.is(resp::type::array) && answer.items.at(0).text == "late";
    if (!late) server.command({"DEL", value_key("a")});
    return late;
  }));
  EXPECT_EQ(value_of(server, "a"), "");
  const auto next = redis.mutex("a").acquire();
  EXPECT_EQ(server.command(copy).items.at(0).text, "late");
  EXPECT_EQ(token_of(next), token_of(value_of(server, "a")));
}

// The one request that carries no moment after which it is refused. See docs/guarantees.md.
TEST_P(Duplicates, FirstRequestWithoutTokensTakesTheLockForOneLease) {
  const auto server = start();
  const client redis{server.url(), impatient()};
  const auto wanted = redis.mutex("a", {.lease = 5s, .fencing = fencing::off});
  spy watching(server);
  auto held = wanted.acquire();
  const auto copy = watching.next_call_of("{a}", "SET");
  EXPECT_TRUE(held.release());
  EXPECT_EQ(server.command(copy).text, "OK");
  EXPECT_FALSE(wanted.try_acquire());
  EXPECT_TRUE(wanted.try_acquire({.timeout = support::generous}));
}

TEST_P(Duplicates, AcquireWhileItIsStillHeldChangesNothing) {
  const auto server = start();
  const client redis{server.url(), impatient()};
  warm_up(redis);
  spy watching(server);
  auto held = redis.mutex("a").acquire();
  const auto copy = watching.next_call_of("{a}");
  EXPECT_TRUE(held.extend(60s));
  const auto before = value_of(server, "a");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(server.command(copy).items.at(0).text, "mine");
  EXPECT_EQ(value_of(server, "a"), before);
  EXPECT_GT(pttl(server, "a"), 50'000) << "an earlier, shorter lease must not shorten it";
  EXPECT_TRUE(held.release());
  EXPECT_EQ(value_of(server, "a"), "");
}

TEST_P(Duplicates, ShorterExtensionDoesNotShorten) {
  const auto server = start();
  const client redis{server.url(), impatient()};
  warm_up(redis);
  spy watching(server);
  auto held = redis.mutex("a", {.lease = 30s}).acquire();
  watching.next_call_of("{a}");
  EXPECT_TRUE(held.extend(40s));
  const auto copy = watching.next_call_of("{a}");
  EXPECT_TRUE(held.extend(80s));
  EXPECT_TRUE(server.command(copy).is(resp::type::array));
  EXPECT_GT(pttl(server, "a"), 70'000);
  EXPECT_TRUE(held.held());
}

TEST_P(Duplicates, ReleaseDoesNotHitTheNextHolder) {
  const auto server = start();
  const client redis{server.url(), impatient()};
  warm_up(redis);
  spy watching(server);
  auto held = redis.mutex("a").acquire();
  watching.next_call_of("{a}");
  EXPECT_TRUE(held.release());
  const auto copy = watching.next_call_of("{a}");
  const auto next = redis.mutex("a").acquire();
  EXPECT_EQ(server.command(copy).number, 0);
  EXPECT_EQ(token_of(next), token_of(value_of(server, "a")));
}

// It hears of the break, ends, and is registered no more, before the one who breaks has the answer.
TEST_P(LateAnswers, BreakTellsWhoHadItAlsoWhenThatOneHasEnded) {
  const auto server = start();
  const auto is_registered = [&] { return !server.command({"KEYS", "hf:client:*"}).items.empty(); };
  for (const bool is_shared : {false, true}) {
    fault_proxy proxy{net::unix_endpoint{server.socket()}};
    auto holder = std::make_unique<client>(server.url());
    std::optional<lease> held =
        is_shared ? holder->read_write_lock("a").shared().acquire() : holder->mutex("a").acquire();
    ASSERT_TRUE(eventually(is_registered));
    proxy.delay(toward::client, 200ms);
    const inspector look{client{proxy.url()}};
    auto broken = std::async(std::launch::async, [&] { return look.break_lock("a", "a test"); });
    const auto is_broken = [&] { return server.command({"EXISTS", value_key("a")}).number == 0; };
    ASSERT_TRUE(eventually(is_broken));
    proxy.stall(toward::client);
    held.reset();
    holder.reset();
    ASSERT_TRUE(eventually([&] { return !is_registered(); }));
    proxy.heal();
    EXPECT_EQ(broken.get().owner.pid, ::getpid());
  }
}

}  // namespace
}  // namespace holdfast::faults
