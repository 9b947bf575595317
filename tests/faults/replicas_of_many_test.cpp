// Grants of several threads that wait for replicas at the same time.
#include <future>
#include <vector>

#include "faults/replicas.hpp"

namespace holdfast::faults {
namespace {

class ReplicasOfMany : public replicas_test {
 protected:
  using answer = std::future<result<lease>>;

  // A thread that asks; what it was granted waits for the replica when the master knows it.
  static answer ask(const client& redis, const std::string& name, const mutex_options& how = {},
                    std::stop_token stop = {}) {
    return std::async(std::launch::async,
                      [lock = redis.mutex(name, how), stop] { return lock.try_acquire({}, stop); });
  }
  static bool is_there(const answer& one) { return one.wait_for(0s) == std::future_status::ready; }

  // The master is asked whether replicas have what it was told until now.
  bool is_asked() {
    return master().command({"INFO", "clients"}).text.find("blocked_clients:1") !=
           std::string::npos;
  }
  // The first waits, and those that are granted from now on wait for it.
  answer ask_first(const client& redis, const std::string& name, std::stop_token stop = {}) {
    replica().freeze();
    answer first = ask(redis, name, {}, std::move(stop));
    EXPECT_TRUE(eventually([&] { return is_asked(); }));
    return first;
  }
  answer ask_next(const client& redis, const std::string& name, const mutex_options& how = {},
                  std::stop_token stop = {}) {
    answer next = ask(redis, name, how, std::move(stop));
    EXPECT_TRUE(eventually([&] { return knows(master(), name) || is_there(next); }));
    return next;
  }
  // Ends the connection that is stopped by its WAIT.
  void cut_off_who_asks() {
    const auto list = master().command({"CLIENT", "LIST"}).text;
    const auto asks = list.rfind('\n', list.find("cmd=wait")) + 1;
    const auto id = list.substr(asks, list.find(' ', asks) - asks);
    ASSERT_EQ(id.substr(0, 3), "id=") << list;
    ASSERT_EQ(master().command({"CLIENT", "KILL", "ID", id.substr(3)}).number, 1);
  }
};
HOLDFAST_ON_EACH_SERVER(ReplicasOfMany);

// One after the other they would be told after four times the time-out, and the connection would
// break before.
TEST_P(ReplicasOfMany, ThatDoNotAnswerRefuseEachThreadInTime) {
  constexpr milliseconds timeout{4000};
  const client redis{master().url(), demanding({.response_timeout = timeout})};
  ASSERT_TRUE(redis.mutex("before").try_acquire());
  replica().freeze();
  const auto from = net::now();
  std::vector<answer> threads;
  for (int i = 0; i < 8; ++i) threads.push_back(ask(redis, std::to_string(i)));
  for (auto& one : threads) expect_failure(one.get(), errc::no_replicas, "0 of 1");
  EXPECT_LT(net::now() - from, 2 * timeout);
  replica().thaw();
  EXPECT_TRUE(eventually([&] { return redis.mutex("0").try_acquire().has_value(); }));
}

// One asks while another waits, and each may have to wait for a second: two at most, and the rest
// of the time is for a busy machine.
TEST_P(ReplicasOfMany, ThatWriteToDiskOncePerSecondServeAllThreads) {
  if (master().command({"WAITAOF", "0", "0", "0"}).is(resp::type::error)) {
    GTEST_SKIP() << "this server does not know WAITAOF";
  }
  const private_server on_disk{follower({"--appendonly", "yes", "--appendfsync", "everysec"})};
  auto options = demanding({.response_timeout = 8s});
  options.replicas_fsync = true;
  const client redis{master().url(), options};
  ASSERT_TRUE(eventually([&] { return redis.mutex("before").try_acquire().has_value(); }));
  std::vector<std::future<std::string>> threads;
  for (int i = 0; i < 16; ++i) {
    threads.push_back(std::async(std::launch::async, [&, name = std::to_string(i)] {
      for (const auto* round : {"a", "b", "c"}) {
        const auto got = redis.mutex(round + name).try_acquire();
        if (!got) return std::string(got.error().what());
      }
      return std::string();
    }));
  }
  for (auto& one : threads) EXPECT_EQ(one.get(), "");
}

TEST_P(ReplicasOfMany, AreWaitedForAtMostHalfAShortLease) {
  const client redis{master().url(), demanding()};
  auto first = ask_first(redis, "a");
  const mutex_options brief{.lease = 6s, .renewal = renewal::none};
  expect_failure(ask_next(redis, "b", brief).get(), errc::no_replicas, "half its lease, 3000 ms");
  EXPECT_FALSE(is_there(first));
  EXPECT_TRUE(eventually([&] { return !knows(master(), "b"); }));
  replica().thaw();
  EXPECT_TRUE(first.get());
}

TEST_P(ReplicasOfMany, AreAskedTwiceAndAgainAboutWhoCameLater) {
  const client redis{master().url(), demanding()};
  auto first = ask_first(redis, "a"), second = ask_next(redis, "b");
  cut_off_who_asks();
  EXPECT_TRUE(eventually([&] { return is_asked(); }));
  EXPECT_FALSE(is_there(first));
  cut_off_who_asks();
  expect_failure(first.get(), errc::unavailable, "could not be asked");
  EXPECT_FALSE(is_there(second));
  replica().thaw();
  const auto got = second.get();
  ASSERT_TRUE(got) << why_not(got);
  EXPECT_TRUE(knows(replica(), "b"));
}

TEST_P(ReplicasOfMany, ThatNobodyWaitsForAnyMoreDelayNoClosing) {
  std::optional<client> redis{std::in_place, master().url(), demanding()};
  std::stop_source stop;
  auto first = ask_first(*redis, "a", stop.get_token());
  auto second = ask_next(*redis, "b", {}, stop.get_token());
  stop.request_stop();
  expect_failure(first.get(), errc::cancelled, "");
  expect_failure(second.get(), errc::cancelled, "");
  const auto from = net::now();
  redis.reset();
  EXPECT_LT(net::now() - from, support::generous / 4) << "as if it waited for the replica";
  EXPECT_FALSE(knows(master(), "a") || knows(master(), "b"));
  replica().thaw();
}

}  // namespace
}  // namespace holdfast::faults
