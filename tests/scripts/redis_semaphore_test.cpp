// Semaphores of redis-semaphore on a real server: each key after each operation.
#include "redis/dialects/redis_semaphore/redis_semaphore_recipe.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

using ::testing::MatchesRegex;

constexpr milliseconds timeout{30'000};
const demand one{.mode = 's', .weight = 1, .limit = 3};
const demand two{.mode = 's', .weight = 2, .limit = 3};
const demand four{.mode = 's', .weight = 4, .limit = 3};

class RedisSemaphore : public foreign_test<redis_semaphore_recipe> {
 protected:
  RedisSemaphore()
      : foreign_test(
            redis_semaphore_recipe{{.name = "redis_semaphore", .longest_lease = timeout}}) {}
  static claim with(claim c, const demand& wants) {
    c.wants = &wants;
    return c;
  }
  claim next(const demand& wants, milliseconds how_long = timeout) {
    return with(claims.next(how_long), wants);
  }
  std::int64_t now_ms() { return static_cast<std::int64_t>(redis().micros() / 1000); }
  std::int64_t in_use() { return command({"ZCARD", at}).number; }
  // As the library's own client takes one, so long ago by its clock.
  void they_have(const std::string& permit, std::int64_t ago) {
    command({"ZADD", at, std::to_string(now_ms() - ago), permit});
  }
  std::vector<std::string> permits() {
    std::vector<std::string> all;
    for (const auto& each : command({"ZRANGE", at, "0", "-1"}).items) all.push_back(each.text);
    return all;
  }
  void expect_ends_in(const std::string& permit, milliseconds wanted) {
    const auto since = std::stoll(command({"ZSCORE", at, permit}).text);
    const auto left = since + timeout.count() - now_ms();
    EXPECT_LE(left, wanted.count());
    EXPECT_GT(left, wanted.count() - 5'000);
  }
  const std::string at = "semaphore:orders:42";
  const std::string form = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
};
HOLDFAST_ON_EACH_SERVER(RedisSemaphore);

TEST_P(RedisSemaphore, IsAPermitAndWhenItWasTaken) {
  const claim mine = next(one);
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, timeout}));
  ASSERT_EQ(in_use(), 1);
  EXPECT_THAT(permits()[0], MatchesRegex(form));
  expect_ends_in(permits()[0], timeout);
  expect_ttl(at, timeout);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  EXPECT_EQ(command({"DBSIZE"}).number, 0);
}

TEST_P(RedisSemaphore, NumbersSeveral) {
  const claim mine = next(two);
  theirs().acquire(mine);
  ASSERT_EQ(in_use(), 2);
  EXPECT_THAT(permits()[0], MatchesRegex(form + "_0"));
  EXPECT_THAT(permits()[1], MatchesRegex(form + "_1"));
  EXPECT_EQ(permits()[0].substr(0, 36), permits()[1].substr(0, 36));
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(command({"DBSIZE"}).number, 0);
}

TEST_P(RedisSemaphore, NeverGivesMoreThanThereAre) {
  they_have("theirs", 10'000);
  theirs().acquire(next(one));
  const auto left = remaining_of(theirs().acquire(next(two)));
  EXPECT_GT(left, milliseconds{15'000});
  EXPECT_LE(left, milliseconds{20'000}) << "until the next is taken back";
  EXPECT_EQ(theirs().acquire(next(one)), acquire_verdict(granted{0, timeout}));
  EXPECT_GT(remaining_of(theirs().acquire(next(one))), milliseconds{15'000});
  EXPECT_EQ(in_use(), 3);
  command({"DEL", at});
  EXPECT_EQ(remaining_of(theirs().acquire(next(four))), milliseconds{-1});
  EXPECT_EQ(in_use(), 0);
}

// The library's own clients would take it back, too: its lease ends just then.
TEST_P(RedisSemaphore, WritesAShorterLeaseAsAnOlderRefresh) {
  const claim mine = next(one, milliseconds{10'000});
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, milliseconds{10'000}}));
  expect_ends_in(permits()[0], milliseconds{10'000});
  expect_ttl(at, timeout);
}

TEST_P(RedisSemaphore, TakesBackWhatWasNotRefreshed) {
  they_have("dead", 30'001);
  they_have("alive", 25'000);
  EXPECT_EQ(theirs().acquire(next(two)), acquire_verdict(granted{0, timeout}));
  EXPECT_EQ(in_use(), 3);
  EXPECT_EQ(permits()[0], "alive");
}

TEST_P(RedisSemaphore, CountsAResendOnce) {
  const claim mine = next(two, milliseconds{5'000});
  theirs().acquire(mine);
  claim again = mine;
  again.lease = timeout;
  EXPECT_EQ(theirs().acquire(again, true), acquire_verdict(granted{0, timeout}));
  EXPECT_EQ(in_use(), 2);
  for (const auto& each : permits()) expect_ends_in(each, timeout);
}

TEST_P(RedisSemaphore, RenewsAndReleasesOnlyWhatIsItsOwn) {
  const claim mine = next(two, milliseconds{5'000});
  theirs().acquire(mine);
  claim longer = mine;
  longer.lease = timeout;
  command({"PEXPIRE", at, "1000"});
  EXPECT_EQ(theirs().renew(longer), renew_verdict(renewed{timeout}));
  for (const auto& each : permits()) expect_ends_in(each, timeout);
  expect_ttl(at, timeout);
  const auto verdict = theirs().renew(mine);  // never shorter
  const auto* const still = std::get_if<renewed>(&verdict);
  ASSERT_NE(still, nullptr);
  EXPECT_GT(still->ttl, milliseconds{25'000});
  longer.lease = 2 * timeout;
  EXPECT_EQ(theirs().renew(longer), renew_verdict(renewed{timeout})) << "others end it then";
  expect_nothing_done_by(with(others.next(), two));
}

// The key of a user with a longer timeout is left as it is.
TEST_P(RedisSemaphore, ShortensTheLifeOfNoKey) {
  they_have("theirs", 0);
  command({"PEXPIRE", at, "90000"});
  const claim mine = next(one);
  theirs().acquire(mine);
  theirs().renew(mine);
  expect_ttl(at, milliseconds{90'000});
}

TEST_P(RedisSemaphore, IsToldThatItsLeaseHadEnded) {
  const claim mine = next(two);
  theirs().acquire(mine);
  for (const auto& each : permits()) they_have(each, 30'001);
  EXPECT_EQ(theirs().renew(mine), renew_verdict(not_mine{}));
  EXPECT_EQ(in_use(), 2);
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  EXPECT_EQ(in_use(), 0);
}

TEST_P(RedisSemaphore, IsRenewedWhenMemoryIsShort) {
  const claim mine = next(two, milliseconds{10'000});
  theirs().acquire(mine);
  claim longer = mine;
  longer.lease = timeout;
  command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(theirs().renew(longer), renew_verdict(renewed{timeout}));
  EXPECT_EQ(in_use(), 2);
}

TEST_P(RedisSemaphore, ShowsWhoHasThem) {
  EXPECT_EQ(look(), foreign_verdict(foreign_holders{}));
  they_have("0123456789abcdef", 10'000);
  they_have("dead", 30'001);
  const auto found = holder();
  EXPECT_EQ(found.owner, "0123456789abcdef");
  EXPECT_EQ(found.mode, 's');
  EXPECT_LE(found.remaining.value_or(timeout), milliseconds{20'000});
  EXPECT_GT(found.remaining.value_or(milliseconds{0}), milliseconds{15'000});
}

TEST_P(RedisSemaphore, RefusesWhatComesTooLateAndForeignTypes) {
  const server_time past{microseconds{1}};
  EXPECT_TRUE(std::holds_alternative<late>(theirs().acquire(next(one), false, past)));
  EXPECT_EQ(command({"DBSIZE"}).number, 0);
  command({"SET", at, "3"});
  EXPECT_EQ(code_of(theirs().acquire(next(one))), errc::foreign_key);
}

TEST_P(RedisSemaphore, KnowsNobodyWhoSetsItsPermits) {
  EXPECT_TRUE(layout().is_semaphore());
  EXPECT_FALSE(layout().sets_permits());
  EXPECT_FALSE(layout().counts_free_permits());
}

}  // namespace
}  // namespace holdfast::dialects
