// How leases last, grow and end.
#include <atomic>
#include <thread>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class Lease : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(Lease);

TEST_P(Lease, IsRenewedForAsLongAsItIsHeld) {
  const auto held = redis().mutex("a", {.lease = 200ms}).acquire();
  const auto after_three_leases = net::now() + 600ms;
  EXPECT_TRUE(eventually([&] { return !held.held() || net::now() > after_three_leases; }));
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(held.lost().stop_requested());
  expect_reason(another_client().mutex("a").try_acquire(), errc::busy);
}

TEST_P(Lease, FixedOneIsLostOnceAndNotAfterTheServerEndsIt) {
  const auto asked = net::now();
  auto held = redis().mutex("a", {.lease = 300ms, .renewal = renewal::none}).acquire();
  std::atomic<int> fired{0};
  const std::stop_callback count{held.lost(), [&] { ++fired; }};
  EXPECT_GT(held.remaining(), 0ms);
  EXPECT_LT(held.remaining(), 300ms);
  const auto other = another_client();
  const auto next = other.mutex("a").try_acquire({.timeout = generous});
  EXPECT_TRUE(next);
  EXPECT_GE(net::now() - asked, 300ms);
  EXPECT_FALSE(held.held());
  EXPECT_EQ(held.remaining(), 0ms);
  EXPECT_TRUE(triggered(held.lost()));
  EXPECT_TRUE(eventually([&] { return fired == 1; }));
  expect_reason(held.release(), errc::lost);
  EXPECT_TRUE(next->held());
}

TEST_P(Lease, ExtendingNeverShortens) {
  auto held = redis().mutex("a", {.lease = 300ms, .renewal = renewal::none}).acquire();
  ASSERT_TRUE(held.extend(10s));
  EXPECT_GT(held.remaining(), 5s);
  ASSERT_TRUE(held.extend(50ms));
  EXPECT_GT(held.remaining(), 5s);
  EXPECT_EQ(thrown_by([&] { (void)held.extend(9ms); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { (void)held.extend(24h + 1ms); }).reason(), errc::invalid_argument);
  EXPECT_TRUE(held.release());
  expect_reason(held.extend(1s), errc::lost);
}

TEST_P(Lease, BrokenOneIsNoticedAtTheNextRenewal) {
  auto held = redis().mutex("a", {.lease = 300ms}).acquire();
  const inspector operator_{another_client()};
  EXPECT_EQ(operator_.break_lock("a", "a test").token, held.token());
  EXPECT_TRUE(triggered(held.lost()));
  EXPECT_FALSE(held.held());
  expect_reason(held.release(), errc::lost);
  EXPECT_EQ(server().command({"XLEN", "hf:audit"}).number, 1);
  EXPECT_GT(redis().mutex("a").acquire().token(), held.token());
}

TEST_P(Lease, NobodyWaitsForOneWhoseLossWasFoundWhenExtending) {
  auto held = redis().mutex("a").acquire();
  server().command({"FLUSHALL"});
  expect_reason(held.extend(10s), errc::lost);
  EXPECT_TRUE(triggered(held.lost()));
  EXPECT_TRUE(redis().mutex("a").try_acquire());
  expect_reason(held.release(), errc::lost);
}

TEST_P(Lease, MovedAwayHoldsNothingAndDoesNoHarm) {
  auto first = redis().mutex("a").acquire();
  const auto token = first.token();
  auto held = std::move(first);
  // What is left of it is said where it is declared.
  EXPECT_EQ(first.name(), "");  // NOLINT(bugprone-use-after-move)
  EXPECT_FALSE(first.held());
  EXPECT_EQ(first.remaining(), 0ms);
  EXPECT_FALSE(first.token());
  EXPECT_FALSE(first.lost().stop_possible());
  expect_reason(first.extend(1s), errc::lost);
  EXPECT_TRUE(first.release());
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.name(), "a");
  EXPECT_EQ(held.token(), token);
}

TEST_P(Lease, RunWhileHeldReturnsThrowsAndTellsLoss) {
  const auto lock = redis().mutex("a", {.lease = 300ms});
  EXPECT_EQ(run_while_held(lock, [](const lease& held) { return held.held() ? 7 : 0; }), 7);
  const auto lose = [&](const lease& held) {
    inspector{redis()}.break_lock("a", "a test");
    EXPECT_TRUE(triggered(held.lost()));
  };
  EXPECT_EQ(thrown_by([&] { run_while_held(lock, lose); }).reason(), errc::lost);
  EXPECT_THROW(run_while_held(lock, [] { throw 1; }), int);
  EXPECT_TRUE(lock.try_acquire({.timeout = generous}));
}

TEST_P(Lease, NobodyGetsTheLockForAWhileAfterItWasLost) {
  const mutex_options delayed{
      .lease = 200ms, .renewal = renewal::none, .lock_delay = std::chrono::milliseconds{600}};
  const auto asked = net::now();
  auto held = redis().mutex("a", delayed).acquire();
  EXPECT_LT(held.remaining(), 200ms) << "the delay is not for the holder";
  EXPECT_TRUE(triggered(held.lost()));
  EXPECT_LT(net::now() - asked, 600ms);
  auto next = another_client().mutex("a", delayed).acquire();
  EXPECT_GE(net::now() - asked, 800ms);
  EXPECT_LT(next.remaining(), 200ms);
  std::thread waiter{[&] {
    const auto got = another_client().mutex("a", delayed).acquire();
    EXPECT_TRUE(got.held());
    EXPECT_LT(got.remaining(), 200ms);
  }};
  ASSERT_TRUE(waits("a", 1));
  const auto before = net::now();
  EXPECT_TRUE(next.extend(60s));  // longer than we wait
  EXPECT_TRUE(next.release()) << "a release hands over at once";
  waiter.join();
  EXPECT_LT(net::now() - before, generous);
}

TEST_P(Lease, DelayedLocksAreRenewed) {
  const auto held = redis().mutex("a", {.lease = 200ms, .lock_delay = 1s}).acquire();
  const auto after_three_leases = net::now() + 600ms;
  EXPECT_TRUE(eventually([&] { return !held.held() || net::now() > after_three_leases; }));
  EXPECT_TRUE(held.held());
  EXPECT_LT(held.remaining(), 200ms);
  EXPECT_EQ(thrown_by([&] { (void)redis().mutex("a", {.lock_delay = 2h}); }).reason(),
            errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::conformance
