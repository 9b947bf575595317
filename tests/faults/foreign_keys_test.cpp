// Keys that somebody else has written: told, never touched. Counters that somebody has spoilt:
// tokens grow all the same.
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "base/lock_key.hpp"
#include "faults/faulty_server.hpp"

namespace holdfast::faults {
namespace {

class ForeignKeys : public fault_test {
 protected:
  static std::string content(const private_server& server, const std::string& key) {
    return server.command({"DUMP", key}).text + " " +
           std::to_string(server.command({"PTTL", key}).number);
  }
};
HOLDFAST_ON_EACH_SERVER(ForeignKeys);

TEST_P(ForeignKeys, AreToldAndNotTouched) {
  const auto server = start();
  const client redis{server.url()};
  const auto orders = redis.mutex("orders");
  const auto key = value_key("orders");
  const std::vector<std::vector<std::string>> writers = {{"SET", key, "somebody else's"},
                                                         {"SET", key, ""},
                                                         {"SET", key, "1:7"},
                                                         {"SET", key, "1:x:owner"},
                                                         {"RPUSH", key, "a"},
                                                         {"HSET", key, "a", "b"},
                                                         {"SADD", key, "a"},
                                                         {"ZADD", key, "1", "a"},
                                                         {"XADD", key, "1-1", "a", "b"}};
  for (const auto& write : writers) {
    server.command({"DEL", key});
    server.command(write);
    const auto before = content(server, key);
    expect_failure(orders.try_acquire(), errc::foreign_key, "choose another lock name");
    expect_failure(orders.try_acquire({.timeout = support::generous}), errc::foreign_key,
                   "it was left untouched");
    EXPECT_EQ(content(server, key), before) << write[0] << ' ' << write[2];
  }
}

// The first request is a plain SET then, which cannot tell what is there.
TEST_P(ForeignKeys, LookBusyToALockWithoutTokensThatIsAskedForOnce) {
  const auto server = start();
  const client redis{server.url()};
  const auto orders = redis.mutex("orders", {.fencing = fencing::off});
  const auto key = value_key("orders");
  server.command({"SET", key, "somebody else's"});
  const auto before = content(server, key);
  const auto once = orders.try_acquire();
  ASSERT_FALSE(once);
  EXPECT_EQ(once.error().reason(), errc::busy);
  expect_failure(orders.try_acquire({.timeout = support::generous}), errc::foreign_key,
                 "choose another lock name");
  EXPECT_EQ(content(server, key), before);
}

TEST_P(ForeignKeys, OfAnotherLayoutAreToldAndNotTouched) {
  const auto server = start();
  const client redis{server.url()};
  server.command({"SET", value_key("orders"), "2:4711:owner", "PX", "100000"});
  expect_failure(redis.mutex("orders").try_acquire(), errc::layout_version, "layout version 2");
  EXPECT_EQ(server.command({"GET", value_key("orders")}).text, "2:4711:owner");
}

TEST_P(ForeignKeys, LockThatWasMadePersistentIsTold) {
  const auto server = start();
  const client redis{server.url()};
  auto held = client{server.url()}.mutex("orders").acquire();
  server.command({"PERSIST", value_key("orders")});
  expect_failure(redis.mutex("orders").try_acquire(), errc::foreign_key, "PEXPIRE");
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(redis.mutex("orders").try_acquire());
}

TEST_P(ForeignKeys, TakenPlaceOfALockIsALoss) {
  const auto server = start();
  const client redis{server.url()};
  const std::vector<std::vector<std::string>> thefts = {
      {"DEL", "KEY"}, {"SET", "KEY", "mine"}, {"LPUSH", "KEY", "mine"}};
  for (auto theft : thefts) {
    theft[1] = value_key("orders");
    server.command({"DEL", theft[1]});
    auto held = redis.mutex("orders", {.lease = 900ms}).acquire();
    const auto lost = held.lost();
    server.command({"DEL", theft[1]});
    server.command(theft);
    const auto before = content(server, theft[1]);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, 5s)) << theft[0];
    EXPECT_FALSE(held.held());
    expect_failure(held.release(), errc::lost, "the lease ended before it was released");
    EXPECT_EQ(content(server, theft[1]), before) << theft[0];
  }
}

// A lost lease is given back too, without anybody waiting for it: the command must leave at once
// all the same, or closing the client waits for its answer in vain.
TEST_P(ForeignKeys, ReleaseOfALostLeaseIsSentAtOnce) {
  const auto server = start();
  client_options patient;
  patient.response_timeout = support::generous;
  std::optional<client> redis{std::in_place, server.url(), patient};
  std::optional<lease> held = redis->mutex("a", {.lease = 100ms}).acquire();
  server.command({"SET", value_key("a"), "x"});
  ASSERT_TRUE(eventually([&] { return !held->held(); }));
  expect_failure(held->release(), errc::lost, "the lease ended");
  const auto before = net::now();
  held.reset();
  redis.reset();
  EXPECT_LT(net::now() - before, support::generous / 2);
}

TEST_P(ForeignKeys, ReleaseAndExtensionNoticeTheLoss) {
  const auto server = start();
  const client redis{server.url()};
  const std::vector<std::vector<std::string>> thefts = {
      {"DEL", value_key("a")}, {"SET", value_key("a"), "x"}, {"SADD", value_key("a"), "x"}};
  for (const auto& theft : thefts) {
    server.command({"DEL", value_key("a")});
    auto held = redis.mutex("a").acquire();
    server.command({"DEL", value_key("a")});
    server.command(theft);
    expect_failure(held.release(), errc::lost, "the lease ended before it was released");
    server.command({"DEL", value_key("a")});
    auto extended = redis.mutex("a").acquire();
    server.command({"DEL", value_key("a")});
    server.command(theft);
    expect_failure(extended.extend(60s), errc::lost, "the lease ended");
    EXPECT_FALSE(extended.held());
  }
}

// Acquires and gives back again and again. Every token must be above all those of grants that were
// complete before it was asked for, whoever had them.
class token_watch {
 public:
  void take(const lock& from) {
    const auto before = highest_.load();
    const auto got = from.try_acquire({.timeout = support::generous});
    if (!got) return complain(got.error().what());
    const auto token = got->token().value();
    if (token <= before) {
      complain("token " + std::to_string(token) + " after " + std::to_string(before));
    }
    auto known = highest_.load();
    while (known < token && !highest_.compare_exchange_weak(known, token)) {
    }
    ++grants_;
  }

  int grants() const { return grants_; }
  std::string complaint() const {
    const std::lock_guard guard(mutex_);
    return complaint_;
  }

 private:
  void complain(const std::string& what) {
    const std::lock_guard guard(mutex_);
    complaint_ = what;
  }

  std::atomic<std::uint64_t> highest_{0};
  std::atomic<int> grants_{0};
  mutable std::mutex mutex_;
  std::string complaint_;
};

// Under load, since every grant reads and writes the counter.
TEST_P(ForeignKeys, SpoiltCountersDoNotStopTheTokens) {
  const auto server = start();
  const lock_key key{"orders"};
  token_watch watch;
  std::atomic<bool> enough{false};
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      const client own{server.url()};
      while (!enough) watch.take(own.mutex("orders"));
    });
  }
  const auto fence = key.fence_key();
  const std::vector<std::vector<std::string>> vandals = {
      {"DEL", fence},       {"SET", fence, "not a number"},
      {"SET", fence, "-5"}, {"SET", fence, ""},
      {"SET", fence, "1"},  {"SET", fence, "1e15"},
      {"SET", fence, "0x"}, {"SET", fence, " 12 "},
      {"FLUSHALL"}};
  for (int i = 0; i < 200; ++i) {
    server.command(vandals[static_cast<std::size_t>(i) % vandals.size()]);
    const int seen = watch.grants();
    EXPECT_TRUE(eventually([&] { return watch.grants() > seen; }));
  }
  enough = true;
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(watch.complaint(), "");
}

// A server with old data, whose clock was ahead: the client still knows the last token.
TEST_P(ForeignKeys, ClientRemembersTheTokenThatTheServerHasForgotten) {
  const auto server = start();
  const client redis{server.url()};
  const lock_key key{"orders"};
  const auto set_counter = [&](std::int64_t seconds_ahead) {
    const auto now = std::stoll(server.command({"TIME"}).items.at(0).text);
    server.command({"SET", key.fence_key(), std::to_string(now + seconds_ahead) + "000000"});
  };
  token_watch watch;
  watch.take(redis.mutex("orders"));
  set_counter(15);
  watch.take(redis.mutex("orders"));
  EXPECT_TRUE(eventually([&] {
    set_counter(-1);
    return redis.mutex("orders").try_acquire().has_value();
  })) << "when the clock has come near";
  set_counter(-1);
  watch.take(redis.mutex("orders"));
  EXPECT_EQ(watch.complaint(), "");
}

// No client must be able to push a counter where the loss of that would undercut it.
TEST_P(ForeignKeys, TokenThatIsFarAheadOfTheServerIsNotBelieved) {
  const auto server = start();
  const client redis{server.url()};
  auto held = redis.mutex("orders").acquire();
  redis.raise_floor("orders", fencing_token{held.token().value() + 3600'000'000ULL * 2048});
  EXPECT_TRUE(held.release());
  expect_failure(redis.mutex("orders").try_acquire(), errc::clock_skew,
                 "s ahead of the server's clock");
  EXPECT_TRUE(client{server.url()}.mutex("orders").try_acquire()) << "others may have it";
}

TEST_P(ForeignKeys, CounterOfAnotherTypeIsToldAndNotTouched) {
  const auto server = start();
  const client redis{server.url()};
  const lock_key key{"orders"};
  server.command({"RPUSH", key.fence_key(), "a"});
  expect_failure(redis.mutex("orders").try_acquire(), errc::foreign_key, "WRONGTYPE");
  EXPECT_EQ(server.command({"LLEN", key.fence_key()}).number, 1);
  EXPECT_EQ(server.command({"EXISTS", value_key("orders")}).number, 0);
}

TEST_P(ForeignKeys, AbsurdCounterIsTold) {
  const auto server = start();
  const client redis{server.url()};
  const lock_key key{"orders"};
  server.command({"SET", key.fence_key(), "9999999999999999"});
  expect_failure(redis.mutex("orders").try_acquire(), errc::clock_skew, key.fence_key());
  EXPECT_EQ(server.command({"GET", key.fence_key()}).text, "9999999999999999");
  server.command({"DEL", key.fence_key()});
  EXPECT_TRUE(redis.mutex("orders").try_acquire());
}

}  // namespace
}  // namespace holdfast::faults
