// Fair mutexes as Redisson's, against what Redisson writes.
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::conformance {
namespace {

const std::string theirs = "0f0e0d0c-0b0a-0908-0706-050403020100:77";
const std::string queue = "redisson_lock_queue:{orders}";
const std::string timeouts = "redisson_lock_timeout:{orders}";
const std::string channel = "redisson_lock__channel:{orders}:";

class RedissonFair : public mutex_test {
 protected:
  static lock orders(const client& of, milliseconds lease = 30s) {
    return of.mutex("orders", {.lease = lease, .fair = true}, dialect::redisson());
  }
  lock orders() const { return orders(redis()); }

  // As Redisson's own clients would.
  void they_hold() {
    server().command({"HSET", "orders", theirs, "1"});
    server().command({"PEXPIRE", "orders", "30000"});
  }
  void they_wait() {
    server().command({"RPUSH", queue, theirs});
    server().command({"ZADD", timeouts, "9000000000000", theirs});
  }
  void they_leave() {
    server().command({"DEL", "orders"});
    const auto next = server().command({"LINDEX", queue, "0"}).text;
    if (!next.empty()) server().command({of_redisson().publish, channel + next, "0"});
  }
  bool waits(std::int64_t many) {
    return eventually([&] { return server().command({"LLEN", queue}).number == many; });
  }
  bool hears(std::int64_t place) {
    return eventually([&] {
      const auto who = server().command({"LINDEX", queue, std::to_string(place)}).text;
      return server().command({"PUBSUB", of_redisson().count, channel + who}).items.at(1).number ==
             1;
    });
  }
  std::int64_t keys() { return server().command({"KEYS", "*orders*"}).items.size(); }
};
HOLDFAST_ON_EACH_SERVER(RedissonFair);

TEST_P(RedissonFair, GivesTheLockInTheOrderOfArrival) {
  const auto other = another_client();
  they_hold();
  constexpr int many = 6;
  std::mutex guard;
  std::vector<int> came;
  std::vector<std::thread> all;
  for (int i = 0; i < many; ++i) {
    all.emplace_back([&, i] {
      const auto held = orders(i % 2 == 0 ? redis() : other).try_acquire({.timeout = generous});
      ASSERT_TRUE(held);
      EXPECT_FALSE(held->token());
      const std::lock_guard lock(guard);
      came.push_back(i);
    });
    EXPECT_TRUE(waits(i + 1));  // threads of one client stand there each for itself
  }
  EXPECT_TRUE(hears(0));
  they_leave();
  for (auto& one : all) one.join();
  EXPECT_EQ(came, (std::vector{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(eventually([&] { return keys() == 0; }));
}

TEST_P(RedissonFair, StandsBehindThoseOfTheLibraryAndTellsThem) {
  support::raw_connection listener{net::unix_endpoint{server().socket()}};
  listener.command({of_redisson().subscribe, channel + theirs});
  auto held = orders().acquire();
  they_wait();
  expect_reason(orders(another_client()).try_acquire({.timeout = 20ms}), errc::timed_out);
  EXPECT_TRUE(waits(1));
  held.release().value();
  EXPECT_EQ(listener.read_value().items.at(2).text, "0");
  expect_reason(orders().try_acquire(), errc::busy);  // it is theirs, who were told
  expect_reason(orders().try_acquire({.timeout = 20ms}), errc::timed_out);
  EXPECT_TRUE(waits(1));
}

TEST_P(RedissonFair, LeavesTheQueueWhenItIsStopped) {
  they_hold();
  std::stop_source stop;
  std::thread waiting([&] {
    expect_reason(orders().try_acquire({.timeout = generous}, stop.get_token()), errc::cancelled);
  });
  EXPECT_TRUE(waits(1));
  stop.request_stop();
  waiting.join();
  EXPECT_TRUE(waits(0));
  EXPECT_EQ(server().command({"EXISTS", timeouts}).number, 0);
}

// A waiter asks again without a message, and gets the lock of a dead holder when its lease is over.
TEST_P(RedissonFair, ComesInAfterAHolderOrOneBeforeItHasDied) {
  // Waits for the release: between the two commands below it would find a queue that is half
  // written.
  const auto comes_in = [&] {
    auto held = orders().try_acquire({.timeout = generous});
    return held && held->release();
  };
  server().command({"HSET", "orders", theirs, "1"});
  server().command({"PEXPIRE", "orders", "300"});
  EXPECT_TRUE(comes_in());
  const auto now = server().command({"TIME"}).items.at(0).text;
  server().command({"RPUSH", queue, theirs});
  server().command({"ZADD", timeouts, std::to_string((std::stoll(now) + 1) * 1000), theirs});
  EXPECT_TRUE(comes_in());
  EXPECT_TRUE(eventually([&] { return keys() == 0; }));
}

TEST_P(RedissonFair, KeepsItsPlaceWhenTheConnectionBreaks) {
  they_hold();
  std::thread waiting([&] { EXPECT_TRUE(orders().try_acquire({.timeout = generous})); });
  EXPECT_TRUE(waits(1));
  EXPECT_TRUE(hears(0));
  const auto first = server().command({"LINDEX", queue, "0"}).text;
  they_wait();
  server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(hears(0));
  EXPECT_EQ(server().command({"LINDEX", queue, "0"}).text, first);
  they_leave();
  waiting.join();
  EXPECT_EQ(server().command({"LINDEX", queue, "0"}).text, theirs);
}

TEST_P(RedissonFair, IsAskedOftenByThoseWhoCannotBeTold) {
  const client poller{server().url(), {.wakeup = wakeup::poll}};
  they_hold();
  std::thread waiting([&] { EXPECT_TRUE(orders(poller).try_acquire({.timeout = generous})); });
  EXPECT_TRUE(waits(1));
  const auto before = called("evalsha");
  EXPECT_TRUE(eventually([&] { return called("evalsha") > before + 3; }));
  they_leave();
  waiting.join();
  EXPECT_EQ(called(of_redisson().subscriptions), 0);
}

TEST_P(RedissonFair, IsRenewedLostAndEnteredAgainAsOthers) {
  const auto mutex =
      redis().recursive_mutex("orders", {.lease = 200ms, .fair = true}, dialect::redisson());
  const auto outer = mutex.acquire();
  const auto inner = mutex.acquire();
  const auto pttl = [&] { return server().command({"PTTL", "orders"}).number; };
  auto last = pttl();
  EXPECT_TRUE(eventually([&] {
    const auto now = pttl();
    return std::exchange(last, now) < now;  // it has grown
  }));
  EXPECT_EQ(server().command({"HVALS", "orders"}).items.at(0).text, "1");
  server().command({"DEL", "orders"});
  they_hold();
  EXPECT_TRUE(triggered(inner.lost()));
  EXPECT_FALSE(outer.held());
}

TEST_P(RedissonFair, HasNoLimitOfItsQueue) {
  const auto reason = thrown_by([&] {
    (void)redis().mutex("orders", {.fair = true, .queue_limit = 3}, dialect::redisson());
  });
  EXPECT_EQ(reason.reason(), errc::unsupported);
}

}  // namespace
}  // namespace holdfast::conformance
