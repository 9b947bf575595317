// Semaphores as Redisson's, against what Redisson writes.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

constexpr std::uint32_t limit = 3;
const std::string channel = "redisson_sc:{seats}";

struct kind {
  const char* name;
  dialect how;
  std::string leases;
};

class RedissonSemaphore : public mutex_test {
 protected:
  void for_each(const std::function<void(const kind&)>& check) {
    const kind all[] = {
        {"RSemaphore", dialect::redisson(), "hf:permits:{seats}"},
        {"RPermitExpirableSemaphore", dialect::redisson(redisson_lock::expirable),
         "{seats}:timeout"},
    };
    for (const auto& one : all) {
      SCOPED_TRACE(one.name);
      check(one);
      server().command({"FLUSHALL"});
    }
  }
  static semaphore seats(const client& of, const kind& how, milliseconds lease = 30s) {
    return of.semaphore("seats", {.permits = limit, .lease = lease}, how.how);
  }
  std::string free() { return server().command({"GET", "seats"}).text; }
  std::int64_t in_use(const kind& how) { return server().command({"ZCARD", how.leases}).number; }
  bool is_listened_to() {
    return eventually([&] {
      return server().command({"PUBSUB", of_redisson().count, channel}).items.at(1).number == 1;
    });
  }
};
HOLDFAST_ON_EACH_SERVER(RedissonSemaphore);

TEST_P(RedissonSemaphore, NeverHasMoreHoldersThanPermits) {
  for_each([&](const kind& how) {
    const auto other = another_client();
    auto two = seats(redis(), how).permits(2).acquire();
    auto one = seats(other, how).acquire();
    EXPECT_FALSE(one.token());
    EXPECT_EQ(free(), "0");
    EXPECT_EQ(in_use(how), 3);
    expect_reason(seats(redis(), how).try_acquire(), errc::busy);
    expect_reason(seats(other, how).try_acquire({.timeout = 20ms}), errc::timed_out);
    two.release().value();
    EXPECT_EQ(free(), "2");
    expect_reason(seats(other, how).permits(3).try_acquire(), errc::busy);
    one.release().value();
    EXPECT_TRUE(seats(other, how).permits(3).try_acquire());
    EXPECT_TRUE(eventually([&] { return free() == "3"; }));
  });
}

TEST_P(RedissonSemaphore, GoesByTheNumberThatTheLibraryHasSet) {
  for_each([&](const kind& how) {
    server().command({"SET", "seats", "1"});
    const auto held = seats(redis(), how).acquire();
    expect_reason(seats(redis(), how).try_acquire(), errc::busy);
  });
}

TEST_P(RedissonSemaphore, TellsThoseWhoWait) {
  for_each([&](const kind& how) {
    server().command({"SET", "seats", "0"});
    std::thread waiting(
        [&] { EXPECT_TRUE(seats(redis(), how).try_acquire({.timeout = generous})); });
    EXPECT_TRUE(is_listened_to());
    // A waiter that hears of a release asks again at once, and otherwise every two seconds.
    constexpr int releases = 8;
    const auto seconds = [&] { return std::stoll(server().command({"TIME"}).items.at(0).text); };
    const auto began = seconds();
    for (int i = 0; i < releases; ++i) {
      const auto before = called("evalsha");
      server().command({of_redisson().publish, channel, "1"});
      EXPECT_TRUE(eventually([&] { return called("evalsha") > before; }));
    }
    EXPECT_LT(seconds() - began, releases);
    server().command({"INCR", "seats"});
    server().command({of_redisson().publish, channel, "1"});
    waiting.join();
  });
}

TEST_P(RedissonSemaphore, IsRenewedAndLostWithItsLease) {
  for_each([&](const kind& how) {
    const auto held = seats(redis(), how, 300ms).permits(2).acquire();
    const auto ends = [&] {
      const auto all = server().command({"ZRANGE", how.leases, "0", "0", "WITHSCORES"}).items;
      return all.size() == 2 ? std::stoll(all[1].text) : 0;
    };
    const auto began = ends();
    EXPECT_TRUE(eventually([&] { return ends() > began + 300; }));
    EXPECT_TRUE(held.held());
    server().command({"DEL", how.leases});
    EXPECT_TRUE(triggered(held.lost()));
  });
}

TEST_P(RedissonSemaphore, TakesBackWhatADeadHolderHad) {
  for_each([&](const kind& how) {
    const auto fixed = redis().semaphore(
        "seats", {.permits = limit, .lease = 100ms, .renewal = renewal::none}, how.how);
    auto held = fixed.permits(3).acquire();
    auto next = seats(another_client(), how).permits(3).try_acquire({.timeout = generous});
    ASSERT_TRUE(next);
    expect_reason(held.release(), errc::lost);
    EXPECT_EQ(free(), "0");
    next->release().value();
    EXPECT_EQ(free(), "3");
  });
}

TEST_P(RedissonSemaphore, LetsNoMoreInThanPermitsInACrowd) {
  for_each([&](const kind& how) {
    const client clients[] = {another_client(), another_client()};
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::vector<std::thread> all;
    for (int i = 0; i < 6; ++i) {
      all.emplace_back([&, i] {
        for (int round = 0; round < 30; ++round) {
          const auto held = seats(clients[i % 2], how).acquire();
          const int now = ++inside;
          for (int known = most; known < now && !most.compare_exchange_weak(known, now);) continue;
          --inside;
        }
      });
    }
    for (auto& one : all) one.join();
    EXPECT_LE(most, static_cast<int>(limit));
    EXPECT_TRUE(eventually([&] { return free() == "3"; }));
  });
}

TEST_P(RedissonSemaphore, OfWhichOnlyTheExpirableKnowsHowManyThereAre) {
  for_each([&](const kind& how) {
    const auto all = seats(redis(), how);
    const auto held = all.permits(2).acquire();
    if (how.how == dialect::redisson()) {
      EXPECT_EQ(thrown_by([&] { all.set_permits(5); }).reason(), errc::unsupported);
      return;
    }
    all.set_permits(5);
    EXPECT_EQ(free(), "3");
    all.set_permits(0);
    EXPECT_EQ(free(), "-2");
    const auto status = inspector{redis()}.status("seats", how.how);
    EXPECT_EQ(status.state, lock_state::held);
    EXPECT_EQ(status.kind, lock_kind::semaphore);
    EXPECT_EQ(status.permits_in_use, 2U);
    EXPECT_EQ(status.dialect, "redisson");
  });
}

TEST_P(RedissonSemaphore, RefusesWhatItCannotHave) {
  for_each([&](const kind& how) {
    const auto limited =
        thrown_by([&] { (void)redis().semaphore("seats", {.queue_limit = 3}, how.how); });
    EXPECT_EQ(limited.reason(), errc::unsupported);
    const auto many = thrown_by([&] { (void)seats(redis(), how).permits(1'001); });
    EXPECT_EQ(many.reason(), errc::invalid_argument);
  });
  const auto expirable = dialect::redisson(redisson_lock::expirable);
  EXPECT_EQ(thrown_by([&] { (void)redis().mutex("seats", {}, expirable); }).reason(),
            errc::unsupported);
  EXPECT_EQ(thrown_by([&] { (void)redis().read_write_lock("seats", {}, expirable); }).reason(),
            errc::unsupported);
  for (const auto& other : {dialect::go_zero(), dialect::redisson(redisson_lock::spin)}) {
    EXPECT_EQ(thrown_by([&] { (void)redis().semaphore("seats", {}, other); }).reason(),
              errc::unsupported);
  }
}

}  // namespace
}  // namespace holdfast::conformance
