// Everything works over TLS as it does in the clear. HOLDFAST_TEST_TLS=1 runs all other tests so,
// too.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class Tls : public support::server_test {
 protected:
  void SetUp() override {
    support::server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_.emplace(start(
        {.tls = support::server_tls{.own = authority_.issue(), .authority = authority_.file()}}));
  }

  private_server& server() { return *server_; }
  client make_client() const {
    return client{server_->tls_url(), {.tls = {.ca_file = authority_.file()}}};
  }
  std::int64_t count(const std::string& key) const {
    return std::stoll(server_->command({"GET", key}).text);
  }
  // For many threads, under the lock: reads a number, then writes it plus one.
  void add_one(const std::string& key) const {
    server_->command({"SET", key, std::to_string(count(key) + 1)});
  }

 private:
  support::certificate_authority authority_;
  std::optional<private_server> server_;
};
HOLDFAST_ON_EACH_SERVER(Tls);

TEST_P(Tls, ManyThreadsShareOneConnection) {
  const auto redis = make_client();
  std::vector<std::thread> threads;
  std::atomic<int> pairs{0};
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&, own = redis.mutex("own " + std::to_string(i))] {
      for (int round = 0; round < 20; ++round) {
        const auto held = own.try_acquire({.timeout = generous});
        ASSERT_TRUE(held) << held.error().what();
        ++pairs;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(pairs, 64 * 20);
}

TEST_P(Tls, LockIsHandedOverBetweenClients) {
  server().command({"SET", "count", "0"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, redis = make_client()] {
      for (int round = 0; round < 25; ++round) {
        const auto held = redis.mutex("one", {.fair = true}).try_acquire({.timeout = generous});
        ASSERT_TRUE(held) << held.error().what();
        add_one("count");
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count("count"), 4 * 25);
}

task<> hold_once(lock wanted, int& held_now) {
  const auto held = co_await wanted.async_acquire({.timeout = generous});
  EXPECT_EQ(++held_now, 1);
  --held_now;
}

TEST_P(Tls, CoroutinesTakeTurns) {
  const auto redis = make_client();
  int held_now = 0;
  std::vector<task<>> all;
  for (int i = 0; i < 50; ++i) all.push_back(hold_once(redis.mutex("one"), held_now));
  sync_wait(when_all(std::move(all)));
  EXPECT_EQ(held_now, 0);
}

// A record of TLS has at most 16 KiB: these have many, and sizes around the bound.
TEST_P(Tls, LargeRequestsAndAnswersCrossTheBoundsOfRecords) {
  const auto redis = make_client();
  const auto held = redis.mutex("big").acquire();
  for (const std::size_t size : {16'300UL, 16'384UL, 16'385UL, 17'408UL, 3'000'000UL}) {
    const std::string sent(size, 'x');
    const auto echoed = redis.fenced_eval("return ARGV[1]", {"{big}"}, {sent}, held.token());
    EXPECT_EQ(echoed.value, sent) << size;
  }
}

TEST_P(Tls, LargeRequestsOfManyThreadsDoNotMix) {
  const auto redis = make_client();
  const auto token = redis.mutex("big").acquire().token();
  std::vector<std::thread> threads;
  for (char letter = 'a'; letter < 'i'; ++letter) {
    threads.emplace_back([&, sent = std::string(300'000, letter)] {
      for (int round = 0; round < 5; ++round) {
        const auto key = std::string("{big}") + sent.front();
        const auto echoed = redis.fenced_eval("return ARGV[1]", {key}, {sent}, token);
        EXPECT_EQ(echoed.value, sent);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_P(Tls, ReconnectsToARestartedServer) {
  const auto redis = make_client();
  for (int crash = 0; crash < 3; ++crash) {
    ASSERT_TRUE(redis.mutex("a", {.lease = 900ms}).try_acquire({.timeout = generous}));
    server().restart();
  }
  const auto held = redis.mutex("a").try_acquire({.timeout = generous});
  EXPECT_TRUE(held) << held.error().what();
}

TEST_P(Tls, LostServerEndsTheLease) {
  const auto redis = make_client();
  const auto held = redis.mutex("a", {.lease = 600ms}).acquire();
  server().kill9();
  EXPECT_TRUE(triggered(held.lost()));
}

}  // namespace
}  // namespace holdfast::conformance
