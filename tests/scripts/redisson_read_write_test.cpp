// Redisson's RReadWriteLock: each key after each operation, byte for byte.
#include "redis/dialects/redisson/read_write_recipe.hpp"

#include <gmock/gmock.h>

#include <chrono>

#include "redis/dialects/redisson/redisson_recipe.hpp"
#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::Le;

const demand reading{.mode = 'r'};
const demand writing{.mode = 'x'};

class ReadWriteLayout : public foreign_test<read_write_recipe> {
 protected:
  ReadWriteLayout() : foreign_test(read_write_recipe{}) {}

  claim reader(milliseconds how_long = lease) { return with(reading, how_long); }
  claim writer(milliseconds how_long = lease) { return with(writing, how_long); }
  claim stranger(const demand& wants) {
    auto one = others.next();
    one.wants = &wants;
    return one;
  }
  std::string field(const std::string& name) { return command({"HGET", key.name(), name}).text; }
  std::int64_t fields() { return command({"HLEN", key.name()}).number; }
  std::int64_t keys() { return command({"DBSIZE"}).number; }
  std::string timeout_of(const claim& c) {
    return "{orders:42}:" + redisson_owner(c.owner) + ":rwlock_timeout:1";
  }
  // As Redisson's own reader takes it.
  void they_read(const std::string& ms, const std::string& holds = "1") {
    command({"HSET", key.name(), "mode", "read", theirs_is, holds});
    for (int i = 1; i <= std::stoi(holds); ++i) {
      const auto timeout = "{orders:42}:" + theirs_is + ":rwlock_timeout:" + std::to_string(i);
      command({"SET", timeout, "1", "PX", ms});
    }
    command({"PEXPIRE", key.name(), ms});
  }
  const std::string channel = "redisson_rwlock:{orders:42}";

 private:
  claim with(const demand& wants, milliseconds how_long) {
    auto one = claims.next(how_long);
    one.wants = &wants;
    return one;
  }
};
HOLDFAST_ON_EACH_SERVER(ReadWriteLayout);

TEST_P(ReadWriteLayout, OfAReaderIsAModeAFieldAndAKeyWithHisLease) {
  const claim mine = reader();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(field("mode"), "read");
  EXPECT_EQ(field("01000000-0000-0000-0000-000000000000:1"), "1");
  EXPECT_EQ(fields(), 2);
  EXPECT_EQ(redisson_owner(mine.owner), "01000000-0000-0000-0000-000000000000:1");
  EXPECT_EQ(redis().get(timeout_of(mine)), "1");
  expect_ttl(timeout_of(mine), lease);
  expect_ttl(key.name(), lease);
  EXPECT_EQ(keys(), 2);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(keys(), 0);
}

TEST_P(ReadWriteLayout, OfAWriterIsAModeAndAField) {
  EXPECT_EQ(theirs().acquire(writer()), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(field("mode"), "write");
  EXPECT_EQ(field("01000000-0000-0000-0000-000000000000:1:write"), "1");
  EXPECT_EQ(fields(), 2);
  EXPECT_EQ(keys(), 1);
  expect_ttl(key.name(), lease);
}

TEST_P(ReadWriteLayout, HasNoBracesAroundANameWithSome) {
  const lock_key braced{"a{b}"};
  claim mine = reader();
  mine.key = &braced;
  theirs().acquire(mine);
  EXPECT_TRUE(redis().exists("a{b}:" + redisson_owner(mine.owner) + ":rwlock_timeout:1"));
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(keys(), 0);
}

TEST_P(ReadWriteLayout, LetsReadersInTogetherAndAWriterAlone) {
  const claim first = reader();
  const claim second = stranger(reading);
  theirs().acquire(first);
  EXPECT_EQ(theirs().acquire(second), acquire_verdict(granted{0, lease}));
  EXPECT_GT(remaining_of(theirs().acquire(writer())), milliseconds{15'000});
  EXPECT_EQ(theirs().release(first), release_verdict(released{}));
  EXPECT_GT(remaining_of(theirs().acquire(writer())), milliseconds{15'000});
  EXPECT_EQ(theirs().release(second), release_verdict(released{}));
  const claim alone = writer();
  EXPECT_EQ(theirs().acquire(alone), acquire_verdict(granted{0, lease}));
  EXPECT_GT(remaining_of(theirs().acquire(reader())), milliseconds{15'000});
  EXPECT_GT(remaining_of(theirs().acquire(stranger(writing))), milliseconds{15'000});
  EXPECT_EQ(theirs().release(alone), release_verdict(released{}));
  EXPECT_EQ(keys(), 0);
}

TEST_P(ReadWriteLayout, IsRenewedWhenMemoryIsShort) {
  const claim mine = reader();
  theirs().acquire(mine);
  command({"CONFIG", "SET", "maxmemory", "1"});
  command({"PEXPIRE", timeout_of(mine), "1000"});
  command({"PEXPIRE", key.name(), "1000"});
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  expect_ttl(timeout_of(mine), lease);
  expect_ttl(key.name(), lease);
  command({"DEL", timeout_of(mine)});
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  EXPECT_EQ(redis().get(timeout_of(mine)), "1");
  expect_ttl(timeout_of(mine), lease);
}

TEST_P(ReadWriteLayout, IsKeptOutByAnRLockOfTheSameName) {
  command({"HSET", key.name(), theirs_is, "1"});
  EXPECT_EQ(remaining_of(theirs().acquire(reader())), milliseconds{-1});
  EXPECT_EQ(remaining_of(theirs().acquire(writer())), milliseconds{-1});
  EXPECT_EQ(fields(), 1);
}

TEST_P(ReadWriteLayout, LivesForTheLongestLeaseOfAReader) {
  const claim longest = reader(milliseconds{60'000});
  const claim shorter = reader(milliseconds{20'000});
  const claim shortest = stranger(reading);
  theirs().acquire(longest);
  theirs().acquire(shorter);
  expect_ttl(key.name(), milliseconds{60'000});
  expect_ttl(timeout_of(shorter), milliseconds{20'000});
  theirs().acquire(shortest);
  EXPECT_EQ(theirs().release(longest), release_verdict(released{}));
  expect_ttl(key.name(), lease);
  EXPECT_EQ(theirs().release(shortest), release_verdict(released{}));
  expect_ttl(key.name(), milliseconds{20'000});
}

TEST_P(ReadWriteLayout, LooksAtEachHoldOfRedissonsReaders) {
  they_read("20000", "3");
  command({"PEXPIRE", "{orders:42}:" + theirs_is + ":rwlock_timeout:3", "50000"});
  const claim mine = reader();
  theirs().acquire(mine);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  expect_ttl(key.name(), milliseconds{50'000});
  EXPECT_EQ(field(theirs_is), "3");
}

TEST_P(ReadWriteLayout, IsNotKeptBusyByANumberThatNoLockHas) {
  they_read("20000", "1");
  command({"HSET", key.name(), theirs_is, "1e300"});
  const claim mine = reader();
  theirs().acquire(mine);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  expect_ttl(key.name(), milliseconds{20'000});
}

// Redisson leaves a dead reader in the hash; it has no lease, and is in nobody's way.
TEST_P(ReadWriteLayout, IsFreeWhenOnlyTheDeadAreLeft) {
  they_read("20000");
  const claim mine = reader();
  theirs().acquire(mine);
  command({"DEL", "{orders:42}:" + theirs_is + ":rwlock_timeout:1"});
  support::raw_connection hears{net::unix_endpoint{server().socket()}};
  hears.command({"SUBSCRIBE", channel});
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(keys(), 0);
  EXPECT_EQ(hears.read_value().items.at(2).text, "0");
}

TEST_P(ReadWriteLayout, CountsAResendOnce) {
  for (const auto& mine : {reader(), writer()}) {
    theirs().acquire(mine);
    command({"PEXPIRE", key.name(), "1000"});
    command({"PEXPIRE", timeout_of(mine), "1000"});
    EXPECT_EQ(theirs().acquire(mine, true), acquire_verdict(granted{0, lease}));
    expect_ttl(key.name(), lease);
    EXPECT_EQ(command({"HVALS", key.name()}).items.at(1).text, "1");
    EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
    EXPECT_EQ(keys(), 0);
    EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  }
}

TEST_P(ReadWriteLayout, SaysOnTheChannelThatItIsFree) {
  support::raw_connection hears{net::unix_endpoint{server().socket()}};
  hears.command({"SUBSCRIBE", channel});
  const claim first = reader();
  const claim second = reader();
  theirs().acquire(first);
  theirs().acquire(second);
  theirs().release(first);  // nobody is told: it is not free yet
  theirs().release(stranger(reading));
  theirs().release(second);
  EXPECT_EQ(hears.read_value().items.at(2).text, "0");
  const claim alone = writer();
  theirs().acquire(alone);
  theirs().release(stranger(writing));
  theirs().release(alone);
  EXPECT_EQ(hears.read_value().items.at(2).text, "1");
}

TEST_P(ReadWriteLayout, RenewsReadersAndWritersTogether) {
  const lock_key other{"other"};
  const claim first = reader();
  claim second = writer();
  second.key = &other;
  theirs().acquire(first);
  theirs().acquire(second);
  for (const auto& one : {key.name(), other.name(), timeout_of(first)}) {
    command({"PEXPIRE", one, "1000"});
  }
  const auto verdicts = theirs().renew(std::vector<const claim*>{&first, &second});
  EXPECT_EQ(verdicts, (std::vector<renew_verdict>{renewed{lease}, renewed{lease}}));
  for (const auto& one : {key.name(), other.name(), timeout_of(first)}) expect_ttl(one, lease);
  EXPECT_EQ(keys(), 3);
}

// The time that is told is the reader's own, although the lock lives longer for another.
TEST_P(ReadWriteLayout, RenewsAReaderForHisOwnTime) {
  they_read("60000");
  const claim mine = reader();
  theirs().acquire(mine);
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  expect_ttl(timeout_of(mine), lease);
  EXPECT_GT(redis().pttl(key.name()), 50'000);
}

// Redisson's renewal of another reader gives the hash the time of its own, be it shorter.
TEST_P(ReadWriteLayout, RenewsTheWholeLockWhenRedissonShortenedIt) {
  const claim mine = reader(milliseconds{60'000});
  theirs().acquire(mine);
  command({"PEXPIRE", key.name(), "1000"});
  const auto verdict = theirs().renew(mine);
  const auto* const kept = std::get_if<renewed>(&verdict);
  ASSERT_NE(kept, nullptr);
  EXPECT_THAT(kept->ttl, AllOf(Gt(milliseconds{50'000}), Le(milliseconds{60'000})));
  expect_ttl(key.name(), milliseconds{60'000});
}

TEST_P(ReadWriteLayout, RenewsAndReleasesOnlyWhatIsItsOwn) {
  theirs().acquire(reader());
  expect_nothing_done_by(stranger(reading));
  expect_nothing_done_by(stranger(writing));
  command({"FLUSHALL"});
  theirs().acquire(writer());
  expect_nothing_done_by(stranger(reading));
  expect_nothing_done_by(stranger(writing));
}

TEST_P(ReadWriteLayout, RefusesWhatComesTooLateAndForeignTypes) {
  const server_time past{microseconds{1}};
  for (const auto& one : {reader(), writer()}) {
    EXPECT_TRUE(std::holds_alternative<late>(theirs().acquire(one, false, past)));
    EXPECT_EQ(keys(), 0);
    command({"SET", key.name(), "text"});
    EXPECT_EQ(code_of(theirs().acquire(one)), errc::foreign_key);
    EXPECT_EQ(redis().get(key.name()), "text");
    EXPECT_EQ(code_of(look()), errc::foreign_key);
    command({"DEL", key.name()});
  }
}

TEST_P(ReadWriteLayout, ShowsAllWhoHaveIt) {
  EXPECT_EQ(look(), foreign_verdict(foreign_holders{}));
  they_read("20000", "2");
  const claim mine = reader();
  theirs().acquire(mine);
  command({"HSET", key.name(), "dead:1", "1"});
  const auto verdict = look();
  const auto& all = std::get<foreign_holders>(verdict);
  ASSERT_EQ(all.size(), 3U);
  for (const auto& one : all) {
    EXPECT_EQ(one.mode, 'r');
    EXPECT_EQ(one.holds, one.owner == theirs_is ? 2U : 1U);
    const auto left = one.remaining.value_or(milliseconds{-1});
    EXPECT_EQ(left == milliseconds{0}, one.owner == "dead:1") << left.count();
  }
}

TEST_P(ReadWriteLayout, ShowsItsWriterWhoMayReadBesideThat) {
  command({"HSET", key.name(), "mode", "write", theirs_is + ":write", "1"});
  command({"PEXPIRE", key.name(), "20000"});
  EXPECT_EQ(holder().mode, 'x');
  EXPECT_EQ(holder().owner, theirs_is + ":write");
  EXPECT_GT(holder().remaining.value_or(milliseconds{0}), milliseconds{15'000});
  command({"HSET", key.name(), theirs_is, "1"});
  EXPECT_EQ(std::get<foreign_holders>(look()).size(), 2U);
}

}  // namespace
}  // namespace holdfast::dialects
