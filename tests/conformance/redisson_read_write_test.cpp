// Read-write locks as Redisson's, against what Redisson writes.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

const std::string theirs = "0f0e0d0c-0b0a-0908-0706-050403020100:77";
const std::string channel = "redisson_rwlock:{orders}";

class RedissonReadWrite : public mutex_test {
 protected:
  static read_write_lock orders_of(const client& of, milliseconds lease = 30s) {
    return of.read_write_lock("orders", {.lease = lease}, dialect::redisson());
  }
  read_write_lock orders() const { return orders_of(redis()); }

  // As Redisson's own client would, for 30 s.
  void they_read() {
    server().command({"HSET", "orders", "mode", "read", theirs, "1"});
    server().command({"SET", "{orders}:" + theirs + ":rwlock_timeout:1", "1", "PX", "30000"});
    server().command({"PEXPIRE", "orders", "30000"});
  }
  void they_write() {
    server().command({"HSET", "orders", "mode", "write", theirs + ":write", "1"});
    server().command({"PEXPIRE", "orders", "30000"});
  }
  void they_leave(const std::string& message) {
    server().command({"DEL", "orders"});
    server().command({of_redisson().publish, channel, message});
  }
  bool is_listened_to(std::int64_t many = 1) {
    return eventually([&] {
      return server().command({"PUBSUB", of_redisson().count, channel}).items.at(1).number == many;
    });
  }
  std::int64_t pttl(const std::string& key) { return server().command({"PTTL", key}).number; }
};
HOLDFAST_ON_EACH_SERVER(RedissonReadWrite);

TEST_P(RedissonReadWrite, ReadersHoldItTogetherAndAWriterAlone) {
  const auto other = another_client();
  const auto there = orders_of(other);
  auto first = orders().shared().acquire();
  auto second = there.shared().acquire();
  auto third = orders().shared().acquire();  // a reader of its own, although of the same thread
  for (const auto* one : {&first, &second, &third}) {
    EXPECT_TRUE(one->held());
    EXPECT_FALSE(one->token());
  }
  EXPECT_EQ(server().command({"HLEN", "orders"}).number, 4);
  expect_reason(there.exclusive().try_acquire(), errc::busy);
  for (auto* one : {&first, &second, &third}) one->release().value();
  EXPECT_EQ(server().command({"KEYS", "*orders*"}).items.size(), 0U);
  auto alone = there.exclusive().acquire();
  EXPECT_FALSE(alone.token());
  expect_reason(orders().shared().try_acquire(), errc::busy);
  expect_reason(orders().exclusive().try_acquire(), errc::busy);
  alone.release().value();
  EXPECT_TRUE(orders().shared().try_acquire());
}

TEST_P(RedissonReadWrite, GoesInBesideTheirReadersAndNotBesideTheirWriter) {
  they_read();
  auto beside = orders().shared().acquire();
  expect_reason(orders().exclusive().try_acquire(), errc::busy);
  beside.release().value();
  EXPECT_EQ(server().command({"HLEN", "orders"}).number, 2);  // they have it still
  expect_reason(orders().exclusive().try_acquire(), errc::busy);
  server().command({"FLUSHALL"});
  they_write();
  expect_reason(orders().shared().try_acquire(), errc::busy);
  expect_reason(orders().exclusive().try_acquire(), errc::busy);
}

TEST_P(RedissonReadWrite, TellsThoseWhoWait) {
  they_write();
  std::vector<std::thread> waiting;
  std::atomic<int> readers{0};
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] {
      auto held = orders().shared().try_acquire({.timeout = generous});
      ASSERT_TRUE(held);
      ++readers;
      EXPECT_TRUE(eventually([&] { return readers == 3; }));  // together
    });
  }
  EXPECT_TRUE(is_listened_to());
  they_leave("1");
  for (auto& one : waiting) one.join();
  they_read();
  std::thread writes{[&] { EXPECT_TRUE(orders().exclusive().try_acquire({.timeout = generous})); }};
  EXPECT_TRUE(is_listened_to());
  they_leave("0");
  writes.join();
}

TEST_P(RedissonReadWrite, IsRenewedForReadersAndWriters) {
  const auto lock = orders_of(redis(), 200ms);
  const auto lives_on = [&](const lease& held, const std::vector<std::string>& keys) {
    for (int rounds = 0; rounds < 3; ++rounds) {
      for (const auto& key : keys) {
        auto last = pttl(key);
        EXPECT_TRUE(eventually([&] {
          const auto now = pttl(key);
          return std::exchange(last, now) < now;  // it has grown
        })) << key;
      }
    }
    EXPECT_TRUE(held.held());
  };
  auto reads = lock.shared().acquire();
  const auto timeouts = server().command({"KEYS", "{orders}:*"});
  ASSERT_EQ(timeouts.items.size(), 1U);
  lives_on(reads, {"orders", timeouts.items[0].text});
  reads.release().value();
  lives_on(lock.exclusive().acquire(), {"orders"});
}

TEST_P(RedissonReadWrite, IsLostWithItsKey) {
  const auto lock = orders_of(redis(), 200ms);
  for (const auto& wanted : {lock.shared(), lock.exclusive()}) {
    const auto held = wanted.acquire();
    server().command({"DEL", "orders"});
    they_write();
    EXPECT_TRUE(triggered(held.lost()));
    server().command({"DEL", "orders"});
  }
}

TEST_P(RedissonReadWrite, RefusesWhatItsLayoutCannotHave) {
  const auto lock = orders();
  const auto held = lock.shared().acquire();
  const auto reason = [](auto&& act) { return thrown_by(act).reason(); };
  EXPECT_EQ(reason([&] { (void)lock.upgradeable(); }), errc::unsupported);
  EXPECT_EQ(reason([&] { (void)lock.upgrade(held); }), errc::unsupported);
  EXPECT_EQ(reason([&] { (void)lock.downgrade(held); }), errc::unsupported);
  const auto made = [&](const read_write_options& options, const dialect& how) {
    return reason([&] { (void)redis().read_write_lock("orders", options, how); });
  };
  EXPECT_EQ(made({.fair = true}, dialect::redisson()), errc::unsupported);
  EXPECT_EQ(made({.lock_delay = 1s}, dialect::redisson()), errc::unsupported);
  EXPECT_EQ(made({}, dialect::redisson(redisson_lock::spin)), errc::unsupported);
  EXPECT_EQ(made({}, dialect::go_zero()), errc::unsupported);
}

TEST_P(RedissonReadWrite, SaysSoWhenAThreadWouldWaitForItself) {
  const auto held = orders().exclusive().acquire();
  const auto why = thrown_by([&] { (void)orders().exclusive().acquire(); });
  EXPECT_EQ(why.reason(), errc::would_deadlock);
}

TEST_P(RedissonReadWrite, LosesNoIncrementAndShowsNoneHalfMade) {
  constexpr int rounds = 50;
  const client clients[] = {another_client(), another_client()};
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([&, i] {
      const auto lock = orders_of(clients[i % 2]);
      for (int round = 0; round < rounds; ++round) {
        {
          const auto held = lock.exclusive().acquire();
          const auto now = server().command({"GET", "number"}).text;
          const auto next = std::to_string((now.empty() ? 0 : std::stoi(now)) + 1);
          server().command({"SET", "number", next});
          server().command({"SET", "copy", next});
        }
        const auto held = lock.shared().acquire();
        EXPECT_EQ(server().command({"GET", "number"}).text, server().command({"GET", "copy"}).text);
      }
    });
  }
  for (auto& one : all) one.join();
  EXPECT_EQ(server().command({"GET", "number"}).text, std::to_string(4 * rounds));
}

TEST_P(RedissonReadWrite, IsShownWithAllItsHolders) {
  they_read();
  const auto mine = orders().shared().acquire();
  const inspector look{redis()};
  auto status = look.status("orders", dialect::redisson());
  EXPECT_EQ(status.state, lock_state::held);
  EXPECT_EQ(status.kind, lock_kind::mode_lock);
  EXPECT_EQ(status.holding, 2U);
  ASSERT_EQ(status.holders.size(), 2U);
  std::size_t ours = 0;
  for (const auto& one : status.holders) {
    EXPECT_EQ(one.has.mode, "PR");
    EXPECT_GT(one.remaining.value_or(0ms), 25s);
    if (one.who.id != theirs) ++ours;
    EXPECT_EQ(one.who.pid != 0, one.who.id != theirs);
  }
  EXPECT_EQ(ours, 1U);
  const auto listed = look.list_all_dialects().locks;
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].dialect, "redisson");
  EXPECT_EQ(listed[0].holding, 2U);
}

TEST_P(RedissonReadWrite, IsShownWithItsWriter) {
  they_write();
  const auto status = inspector{redis()}.status("orders", dialect::redisson());
  EXPECT_EQ(status.holding, 1U);
  EXPECT_EQ(status.owner.id, theirs);
  EXPECT_EQ(status.holders.at(0).has.mode, "EX");
}

TEST_P(RedissonReadWrite, CanBePartOfSeveral) {
  const auto both = all_of({orders().shared(), redis().mutex("b", {}, dialect::redisson())});
  auto held = both.acquire();
  EXPECT_EQ(server().command({"HGET", "orders", "mode"}).text, "read");
  expect_reason(orders().exclusive().try_acquire(), errc::busy);
  EXPECT_TRUE(orders().shared().try_acquire());
  held.release().value();
  EXPECT_TRUE(orders().exclusive().try_acquire());
}

}  // namespace
}  // namespace holdfast::conformance
