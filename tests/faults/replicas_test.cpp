// Grants that count only when replicas have them.
#include <future>
#include <thread>

#include "faults/lost_in_a_failover.hpp"
#include "faults/replicas.hpp"

namespace holdfast::faults {
namespace {

// The numbers of the master and its replica are those of the test's server program.
class Replicas : public replicas_test {
 protected:
  std::size_t lost(const client_options& as) {
    const auto protected_numbers = start();
    const failover its{
        .name = [](auto& text) { return text; },
        .cut_off =
            [&] {
              replica().command({"REPLICAOF", "127.0.0.1", "1"});
            },
        .lose = [&] { master().kill9(); },
        .take_over =
            [&] {
              replica().command({"REPLICAOF", "NO", "ONE"});
              return client{replica().url()};
            },
        .is_known = [&](auto& name) { return knows(replica(), name); },
    };
    return lost_in_a_failover(its, client{master().url(), as}, protected_numbers.socket());
  }
};
HOLDFAST_ON_EACH_SERVER(Replicas);

TEST_P(Replicas, HaveTheLockWhenItsHolderDoes) {
  const client redis{master().url(), demanding()};
  for (int i = 0; i < 50; ++i) {
    const auto name = "a" + std::to_string(i);
    auto held = redis.mutex(name).acquire();
    ASSERT_TRUE(knows(replica(), name));
    ASSERT_TRUE(held.release());
  }
}

TEST_P(Replicas, TooFewAreToldAndTheLockIsGivenBack) {
  auto options = demanding(impatient());
  options.min_replicas = 2;
  const client redis{master().url(), options}, other{master().url()};
  const auto got = redis.mutex("a").try_acquire();
  expect_failure(got, errc::no_replicas, "1 of 2 replicas");
  EXPECT_TRUE(other.mutex("a").try_acquire({.timeout = support::generous}));
  expect_failure(redis.mutex("b").try_acquire({.timeout = 10s}), errc::no_replicas, "given back");
}

// Nobody looks at the second connection while nothing is asked over it.
TEST_P(Replicas, AreAskedAgainWhenTheirConnectionHadEndedUnnoticed) {
  const client redis{master().url(), demanding()};
  ASSERT_TRUE(redis.mutex("a").acquire().release());
  const auto list = master().command({"CLIENT", "LIST"}).text;
  const auto asked = list.rfind("id=", list.find(" cmd=wait "));
  ASSERT_NE(asked, std::string::npos) << list;
  const auto id = list.substr(asked + 3, list.find(' ', asked) - asked - 3);
  ASSERT_EQ(master().command({"CLIENT", "KILL", "ID", id}).number, 1);
  const auto got = redis.mutex("b").try_acquire();
  ASSERT_TRUE(got) << why_not(got);
  EXPECT_TRUE(knows(replica(), "b"));
}

TEST_P(Replicas, AreWaitedForAtMostHalfTheResponseTimeout) {
  const client redis{master().url(), demanding(impatient())};
  replica().freeze();
  expect_failure(redis.mutex("a").try_acquire(), errc::no_replicas, "within 250 ms");
  EXPECT_TRUE(eventually([&] { return !knows(master(), "a"); }));
  replica().thaw();
  EXPECT_TRUE(eventually([&] { return redis.mutex("a").try_acquire().has_value(); }));
}

// The lease has ended when the refusal comes: there is nothing to give back in time.
TEST_P(Replicas, ThatAreMissedForLongerThanTheLeaseDelayNoClosing) {
  auto options = demanding({});
  options.response_timeout = 4s;
  replica().freeze();
  std::optional<client> redis{std::in_place, master().url(), options};
  const mutex_options brief{.lease = 10ms, .renewal = renewal::none};
  EXPECT_FALSE(redis->mutex("a", brief).try_acquire());
  const auto from = net::now();
  redis.reset();
  EXPECT_LT(net::now() - from, 3s) << "as if a release were under way";
  replica().thaw();
}

// A lock that another client has handed over counts no sooner.
TEST_P(Replicas, MustHaveALockThatWasHandedOver) {
  const client first{master().url()}, redis{master().url(), demanding(impatient())};
  auto held = first.mutex("a").acquire();
  auto waiting = std::async(std::launch::async,
                            [&] { return redis.mutex("a").try_acquire({.timeout = 60s}); });
  const auto queue = value_key("a") + ":w";
  ASSERT_TRUE(eventually([&] { return master().command({"ZCARD", queue}).number == 1; }));
  replica().freeze();
  ASSERT_TRUE(held.release());
  expect_failure(waiting.get(), errc::no_replicas, "0 of 1");
  EXPECT_TRUE(eventually([&] { return !knows(master(), "a"); }));
  replica().thaw();
}

TEST_P(Replicas, AreNotWaitedForByWhoWasStopped) {
  const client redis{master().url(), demanding()};
  ASSERT_TRUE(redis.mutex("before").try_acquire());
  replica().freeze();
  std::stop_source stop;
  auto asking = std::async(std::launch::async, [&] {
    return redis.mutex("a").try_acquire({.timeout = 60s}, stop.get_token());
  });
  ASSERT_TRUE(eventually([&] { return knows(master(), "a"); }));
  stop.request_stop();
  expect_failure(asking.get(), errc::cancelled, "");
  EXPECT_TRUE(eventually([&] { return !knows(master(), "a"); }));
  replica().thaw();
}

TEST_P(Replicas, AreWaitedForByCoroutines) {
  const auto take = [&](const client_options& as) -> task<result<lease>> {
    const client redis{master().url(), as};
    co_return co_await redis.mutex("a").async_try_acquire();
  };
  {
    const auto held = sync_wait(take(demanding()));
    ASSERT_TRUE(held) << why_not(held);
    EXPECT_TRUE(knows(replica(), "a"));
  }
  replica().freeze();
  expect_failure(sync_wait(take(demanding(impatient()))), errc::no_replicas, "0 of 1");
  replica().thaw();
}

// Threads that pass it on among themselves need not wait again.
TEST_P(Replicas, AreAskedOncePerGrantOfTheServer) {
  const client redis{master().url(), demanding()};
  const auto lock = redis.mutex("a", {.retain = 10s});
  ASSERT_TRUE(lock.acquire().release());
  replica().freeze();
  EXPECT_TRUE(lock.try_acquire()) << "it is retained";
  replica().thaw();
}

// A client that goes through holds nothing that replicas could have.
TEST_P(Replicas, AreNotAskedAboutLatchesAndBarriers) {
  const client redis{master().url(), demanding()};
  const auto goes_through = [](const latch& gate) {
    EXPECT_TRUE(gate.try_set(1));
    std::thread waiting{[&] { EXPECT_TRUE(gate.try_wait({.timeout = support::generous})); }};
    gate.count_down();
    waiting.join();
    EXPECT_TRUE(gate.try_wait());
  };
  goes_through(redis.latch("a"));
  goes_through(redis.latch("b", dialect::redisson()));
  std::thread other{[&] { EXPECT_NO_THROW(redis.barrier("c", 2).arrive_and_wait()); }};
  EXPECT_NO_THROW(redis.barrier("c", 2).arrive_and_wait());
  other.join();
}

TEST_P(Replicas, TakeOverWithTheLock) {
  const client redis{master().url(), demanding({})};
  auto held = redis.mutex("a", {.lease = 600s}).acquire();
  master().kill9();
  ASSERT_TRUE(replica().command({"REPLICAOF", "NO", "ONE"}).is_text());
  const client other{replica().url()};
  expect_failure(other.mutex("a").try_acquire(), errc::busy, "");
}

// The replica is cut off some time before the master is lost.
TEST_P(Replicas, LoseNoGrantThatCountedInAFailover) {
  const auto count = lost(demanding(impatient()));
  RecordProperty("lost_with_min_replicas", std::to_string(count));
  EXPECT_EQ(count, 0U);
}

TEST_P(Replicas, LoseGrantsInAFailoverUnlessTheyAreWaitedFor) {
  const auto count = lost(impatient());
  RecordProperty("lost_without_min_replicas", std::to_string(count));
  EXPECT_GT(count, 0U);
}

TEST_P(Replicas, WithoutADiskAreNotEnoughWhereTheyMustHaveOne) {
  auto options = demanding(impatient());
  options.replicas_fsync = true;
  const client redis{master().url(), options};
  const auto got = redis.mutex("a").try_acquire();
  const bool known = !master().command({"WAITAOF", "0", "0", "0"}).is(resp::type::error);
  if (!known) return expect_failure(got, errc::unsupported, "WAITAOF");
  expect_failure(got, errc::no_replicas, "0 of 1");
  options.response_timeout = support::generous;
  const client patient{master().url(), options};
  const private_server on_disk{follower({"--appendonly", "yes", "--appendfsync", "always"})};
  EXPECT_TRUE(eventually([&] { return patient.mutex("a").try_acquire().has_value(); }));
}

TEST_P(Replicas, AreAskedWithTheSmallestRights) {
  std::vector<std::string> rule{"ACL", "SETUSER", "worker", "reset", "on", ">secret"};
  const auto allowed = access_rights_for("*", {"mutex", "replicas"}).needed;
  rule.insert(rule.end(), allowed.begin(), allowed.end());
  ASSERT_EQ(master().command(rule).text, "OK");
  auto options = demanding();
  options.username = "worker";
  options.password = "secret";
  const client redis{master().url(), options};
  auto held = redis.mutex("a").try_acquire();
  ASSERT_TRUE(held) << why_not(held);
  EXPECT_TRUE(held->release());
  ASSERT_EQ(master().command({"ACL", "SETUSER", "worker", "-wait"}).text, "OK");
  expect_failure(redis.mutex("a").try_acquire(), errc::permission_denied, "wait");
}

TEST_P(Replicas, AreNothingForQuorums) {
  const client redis{master().url(), demanding()};
  EXPECT_THROW((quorum{{redis}}), failure);
  client_options absurd;
  absurd.min_replicas = 101;
  EXPECT_THROW((client{master().url(), absurd}), failure);
}

}  // namespace
}  // namespace holdfast::faults
