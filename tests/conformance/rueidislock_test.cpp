// Locks in the layout of rueidislock, against what that library writes: who waits is told by the
// server that a key has changed.
#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "net/clock.hpp"

namespace holdfast::conformance {
namespace {

class Rueidislock : public mutex_test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS_ONE_SERVER("its keys have several hash slots");
    mutex_test::SetUp();
  }
  std::string key(int i) { return "rueidislock:" + std::to_string(i) + ":orders"; }
  // As the library does, one after another.
  void they_take() {
    for (int i = 0; i < 3; ++i) server().command({"SET", key(i), "theirs", "NX", "PX", "60000"});
  }
  void they_give_back() {
    for (int i = 0; i < 3; ++i) server().command({"DEL", key(i)});
  }
  lock ours(const client& from) { return from.mutex("orders", {}, dialect::rueidislock()); }
};
HOLDFAST_ON_EACH_SERVER(Rueidislock);

TEST_P(Rueidislock, HoldsThreeKeysFor5SecondsWithoutAToken) {
  auto held = ours(redis()).acquire();
  EXPECT_FALSE(held.token());
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(server().command({"PTTL", key(i)}).number, 1'000);
    EXPECT_LE(server().command({"PTTL", key(i)}).number, 5'000);
  }
  expect_reason(ours(another_client()).try_acquire(), errc::busy);
  held.release().value();
  EXPECT_EQ(server().command({"EXISTS", key(0), key(1), key(2)}).number, 0);
}

// A waiter that is not notified asks again after two seconds.
TEST_P(Rueidislock, WhoWaitsHearsThatAKeyHasChanged) {
  const auto start = net::now();
  for (int round = 0; round < 10; ++round) {
    they_take();
    const auto asked = called("evalsha");
    auto waits = std::async(std::launch::async, [&] { return ours(redis()).acquire(); });
    EXPECT_TRUE(eventually([&] { return called("evalsha") - asked >= 2; }))
        << "it asks again when it hears";
    they_give_back();
    EXPECT_TRUE(waits.get().held());
  }
  EXPECT_LT(net::now() - start, 10s);
}

TEST_P(Rueidislock, WhoWaitsAsksNobodyUntilThen) {
  they_take();
  auto waits = std::async(std::launch::async,
                          [&] { return ours(redis()).try_acquire({.timeout = 1s}).has_value(); });
  EXPECT_FALSE(waits.get());
  EXPECT_LE(called("evalsha"), 4) << "with the withdrawal; who polls asks three times as often";
}

TEST_P(Rueidislock, WaitersOfOneClientAndOfOthersAreServed) {
  they_take();
  std::atomic<int> served{0};
  {
    const auto other = another_client();
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        const auto held = ours(i % 2 == 0 ? redis() : other).acquire();
        ++served;
      });
    }
    EXPECT_TRUE(eventually([&] { return called("evalsha") >= 2; }));
    EXPECT_EQ(served, 0);
    they_give_back();
  }
  EXPECT_EQ(served, 8);
}

TEST_P(Rueidislock, WaitsOnAcrossALostConnection) {
  they_take();
  auto waits = std::async(std::launch::async, [&] { return ours(redis()).acquire(); });
  EXPECT_TRUE(eventually([&] { return called("evalsha") >= 2; }));
  server().command({"CLIENT", "KILL", "TYPE", "normal"});
  they_give_back();
  EXPECT_TRUE(waits.get().held());
}

// It reads the key every 250 ms.
TEST_P(Rueidislock, IsServedWhereTheServerTellsNobody) {
  they_take();
  client_options options;
  options.wakeup = wakeup::poll;
  const client deaf{server().url(), options};
  auto waits = std::async(std::launch::async, [&] { return ours(deaf).acquire(); });
  EXPECT_TRUE(eventually([&] { return called("get") >= 2; }));
  they_give_back();
  EXPECT_TRUE(waits.get().held());
}

TEST_P(Rueidislock, StopsAtItsTimeoutAndWhenItIsCalledOff) {
  they_take();
  expect_reason(ours(redis()).try_acquire({.timeout = 50ms}), errc::timed_out);
  std::stop_source stop;
  auto waits = std::async(std::launch::async, [&] {
    return ours(redis()).try_acquire({.timeout = forever}, stop.get_token()).has_value();
  });
  EXPECT_TRUE(eventually([&] { return called("evalsha") >= 2; }));
  stop.request_stop();
  EXPECT_FALSE(waits.get());
  EXPECT_EQ(server().command({"GET", key(0)}).text, "theirs");
}

TEST_P(Rueidislock, IsSetUpAsItsUsersAre) {
  const auto held =
      redis()
          .mutex("orders", {}, dialect::rueidislock({.key_prefix = "a", .key_majority = 1}))
          .acquire();
  EXPECT_EQ(server().command({"EXISTS", "a:0:orders"}).number, 1);
  EXPECT_EQ(server().command({"EXISTS", "a:1:orders"}).number, 0);
  const auto reason = [](rueidis_locker how) {
    return thrown_by([&] { dialect::rueidislock(std::move(how)); }).reason();
  };
  EXPECT_EQ(reason({.key_prefix = ""}), errc::invalid_argument);
  EXPECT_EQ(reason({.key_majority = 0}), errc::invalid_argument);
  EXPECT_EQ(reason({.key_majority = 51}), errc::invalid_argument);
  EXPECT_EQ(dialect::rueidislock().name(), "rueidislock");
}

}  // namespace
}  // namespace holdfast::conformance
