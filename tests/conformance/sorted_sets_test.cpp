// Locks of the libraries that keep them in sorted sets: Symfony's, and the permits of
// redis-semaphore.
#include <optional>
#include <string>
#include <thread>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class SortedSets : public mutex_test {
 protected:
  std::int64_t now_ms() {
    const auto time = server().command({"TIME"}).items;
    return std::stoll(time.at(0).text) * 1000 + std::stoll(time.at(1).text) / 1000;
  }
  // As another library has written it, with a time so far from now.
  void put(const std::string& key, std::int64_t from_now, const std::string& member) {
    server().command({"ZADD", key, std::to_string(now_ms() + from_now), member});
  }
  std::int64_t count(const std::string& key) { return server().command({"ZCARD", key}).number; }
  const dialect symfony = dialect::symfony({.retry_interval = 5ms});
  const dialect permits = dialect::redis_semaphore({.lock_timeout = 30s, .retry_interval = 5ms});
  const std::string token = "AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjjKKE=";
};
HOLDFAST_ON_EACH_SERVER(SortedSets);

// Before there was a dialect for it, such a key was refused at once.
TEST_P(SortedSets, AreWaitedForUntilTheLibraryGivesThemBack) {
  put("orders", 60'000, token);
  put("orders", 60'000, "__write__");
  const auto mutex = redis().mutex("orders", {}, symfony);
  expect_reason(mutex.try_acquire(), errc::busy);
  expect_reason(mutex.try_acquire({.timeout = 20ms}), errc::timed_out);
  const auto asked = called("evalsha");
  std::jthread waits([&] { (void)mutex.acquire({.timeout = generous}); });
  EXPECT_TRUE(eventually([&] { return called("evalsha") >= asked + 3; }));
  server().command({"DEL", "orders"});
}

TEST_P(SortedSets, OfSymfonyHaveReadersAndAWriter) {
  const auto lock = redis().read_write_lock("orders", {}, symfony);
  auto one = lock.shared().acquire();
  const auto other = another_client().read_write_lock("orders", {}, symfony).shared().acquire();
  EXPECT_EQ(count("orders"), 2);
  EXPECT_FALSE(one.token());
  EXPECT_GT(one.remaining(), 290s);
  expect_reason(lock.exclusive().try_acquire(), errc::busy);
  expect_reason(redis().mutex("orders", {}, symfony).try_acquire(), errc::busy);
  const auto status = inspector{redis()}.status("orders", symfony);
  EXPECT_EQ(status.holding, 2U);
  EXPECT_EQ(status.holders.at(0).has.mode, "PR");
  one.release().value();
  EXPECT_EQ(count("orders"), 1);
}

// It is refused, since nothing in the layout is between the two.
TEST_P(SortedSets, OfSymfonyAreNotChangedFromReaderToWriter) {
  const auto lock = redis().read_write_lock("orders", {}, symfony);
  const auto held = lock.shared().acquire();
  EXPECT_EQ(thrown_by([&] { (void)lock.upgradeable(); }).reason(), errc::unsupported);
  EXPECT_EQ(thrown_by([&] { (void)lock.upgrade(held); }).reason(), errc::unsupported);
  EXPECT_EQ(thrown_by([&] { (void)lock.downgrade(held); }).reason(), errc::unsupported);
  EXPECT_TRUE(held.held());
}

// As a Symfony lock that its holder promotes, which adds its mark.
TEST_P(SortedSets, KeepReadersOutOfALockThatWasPromoted) {
  put("orders", 60'000, token);
  const auto reader = redis().read_write_lock("orders", {}, symfony).shared();
  reader.acquire().release().value();  // beside a reader nobody is promoted
  put("orders", 60'000, "__write__");
  expect_reason(reader.try_acquire(), errc::busy);
}

TEST_P(SortedSets, AreRenewedAndTellTheirLoss) {
  const auto mutex = redis().mutex("orders", {.lease = 300ms}, symfony);
  const auto held = mutex.acquire();
  const auto some =
      redis().semaphore("seats", {.permits = 3, .lease = 300ms}, permits).permits(2).acquire();
  const auto renewals = called("evalsha");
  EXPECT_TRUE(eventually([&] { return called("evalsha") >= renewals + 8; }));
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(some.held());
  for (const auto* key : {"orders", "semaphore:seats"}) server().command({"DEL", key});
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return some.lost().stop_requested(); }));
}

TEST_P(SortedSets, OfPermitsAreSharedWithTheLibrary) {
  put("semaphore:seats", -1'000, "theirs_0");
  put("semaphore:seats", -1'000, "theirs_1");
  const auto seats = redis().semaphore("seats", {.permits = 3}, permits);
  const auto held = seats.acquire();
  EXPECT_EQ(count("semaphore:seats"), 3);
  EXPECT_GT(held.remaining(), 25s) << "the lease is their timeout";
  expect_reason(seats.try_acquire(), errc::busy);
  const auto status = inspector{redis()}.status("seats", permits);
  EXPECT_EQ(status.kind, lock_kind::semaphore);
  EXPECT_EQ(status.permits_in_use, 3U);
  server().command({"ZREM", "semaphore:seats", "theirs_0", "theirs_1"});
  EXPECT_TRUE(seats.permits(2).try_acquire({.timeout = generous}));
}

// Others would take them back in the middle of it.
TEST_P(SortedSets, OfPermitsHaveNoLeaseThatIsLongerThanOthersWait) {
  const auto of = [&](std::chrono::milliseconds lease) {
    return redis().semaphore("seats", {.permits = 3, .lease = lease}, permits);
  };
  EXPECT_EQ(thrown_by([&] { (void)of(31s); }).reason(), errc::invalid_argument);
  auto held = of(10s).acquire();
  EXPECT_EQ(thrown_by([&] { (void)held.extend(31s); }).reason(), errc::invalid_argument);
  held.extend(30s).value();
  EXPECT_EQ(permits.longest_lease(), 30s);
  EXPECT_EQ(symfony.longest_lease(), std::nullopt);
  EXPECT_GT(held.remaining(), 25s);
}

TEST_P(SortedSets, OfPermitsAreNoMutexAndNobodySetsHowMany) {
  const auto mutex = [&] { (void)redis().mutex("seats", {}, permits); };
  EXPECT_EQ(thrown_by(mutex).reason(), errc::unsupported);
  EXPECT_EQ(thrown_by([&] { (void)redis().read_write_lock("seats", {}, permits); }).reason(),
            errc::unsupported);
  const auto seats = redis().semaphore("seats", {.permits = 3}, permits);
  EXPECT_EQ(thrown_by([&] { seats.set_permits(4); }).reason(), errc::unsupported);
  EXPECT_EQ(thrown_by([&] { (void)redis().semaphore("seats", {.permits = 3}, symfony); }).reason(),
            errc::unsupported);
}

// The name alone is nobody's key.
TEST_P(SortedSets, OfPermitsAreFreeWhateverStandsAtTheirName) {
  server().command({"SET", "seats", "something"});
  EXPECT_EQ(inspector{redis()}.status("seats", permits).state, lock_state::free);
  server().command({"SET", "semaphore:seats", "something"});
  EXPECT_EQ(inspector{redis()}.status("seats", permits).state, lock_state::foreign);
}

}  // namespace
}  // namespace holdfast::conformance
