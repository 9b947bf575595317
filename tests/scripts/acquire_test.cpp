// acquire.lua: who gets a lock, who does not, and what is never touched.
#include <gmock/gmock.h>

#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

using ::testing::StartsWith;

class AcquireScript : public scripts_test {};
HOLDFAST_ON_EACH_SERVER(AcquireScript);

TEST_P(AcquireScript, GrantsAFreeLock) {
  redis().let_the_counter_begin(key);
  const auto before = redis().micros();
  const claim mine = claims.next();
  const auto grant = std::get<granted>(redis().acquire(mine));
  EXPECT_GE(grant.major, before);
  EXPECT_LE(grant.major, redis().micros());
  EXPECT_EQ(grant.ttl, lease);
  EXPECT_EQ(redis().get(key.value_key()),
            "1:" + std::to_string(grant.major) + ":" + std::string{mine.owner.text()});
  EXPECT_EQ(redis().counted(key), grant.major);
  EXPECT_GT(redis().pttl(key.value_key()), 25'000);
  EXPECT_LE(redis().pttl(key.value_key()), lease.count());
  EXPECT_EQ(redis().pttl(key.fence_key()), -1);
}

TEST_P(AcquireScript, TellsOthersHowLongTheyMustWait) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  const auto before = redis().contents();
  const auto verdict = redis().acquire(others.next());
  ASSERT_TRUE(std::holds_alternative<busy>(verdict)) << redis().why(verdict);
  const auto remaining = std::get<busy>(verdict).remaining.value();
  EXPECT_GT(remaining, milliseconds(25'000));
  EXPECT_LE(remaining, lease);
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(AcquireScript, RefusesAnotherRequestOfTheSameClient) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  EXPECT_TRUE(std::holds_alternative<busy>(redis().acquire(claims.next())));
}

TEST_P(AcquireScript, GrantsAResendOnce) {
  claim mine = claims.next();
  const auto grant = redis().must_acquire(mine);
  const auto again = std::get<granted>(redis().acquire(mine, true));
  EXPECT_EQ(again.major, grant.major);
  EXPECT_EQ(again.ttl, lease);
  EXPECT_EQ(redis().counted(key), grant.major);
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(key.value_key()));
}

TEST_P(AcquireScript, NeverShortensALeaseThatWasExtendedMeanwhile) {
  claim mine = claims.next(milliseconds(1000));
  const auto grant = redis().must_acquire(mine);
  claim longer = mine;
  longer.lease = milliseconds(60'000);
  ASSERT_EQ(redis().renew(longer), renew_verdict(renewed{longer.lease}));
  const auto again = std::get<granted>(redis().acquire(mine, true));
  EXPECT_EQ(again.major, grant.major);
  EXPECT_GT(again.ttl, milliseconds(50'000));
  EXPECT_GT(redis().pttl(key.value_key()), 50'000);
}

TEST_P(AcquireScript, ProlongsALeaseThatIsNearlyOver) {
  claim mine = claims.next(milliseconds(5000));
  redis().must_acquire(mine);
  mine.lease = lease;
  EXPECT_EQ(std::get<granted>(redis().acquire(mine, true)).ttl, lease);
  EXPECT_GT(redis().pttl(key.value_key()), 25'000);
}

TEST_P(AcquireScript, RefusesWhatArrivesTooLate) {
  const auto before = redis().contents();
  const server_time past{microseconds(redis().micros() - 1)};
  const auto verdict = redis().acquire(claims.next(), false, past);
  ASSERT_TRUE(std::holds_alternative<late>(verdict)) << redis().why(verdict);
  EXPECT_GT(std::get<late>(verdict).now, past);
  EXPECT_LE(static_cast<token_major>(std::get<late>(verdict).now.time_since_epoch().count()),
            redis().micros());
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(AcquireScript, RefusesALateCopyAfterTheRelease) {
  claim mine = claims.next();
  const server_time not_after{microseconds(redis().micros() + 100'000)};
  const auto grant = std::get<granted>(redis().acquire(mine, false, not_after));
  mine.granted = grant.major;
  ASSERT_EQ(redis().release(mine), release_verdict(released{}));
  ASSERT_TRUE(support::eventually([&] {
    return redis().micros() > static_cast<token_major>(not_after.time_since_epoch().count());
  }));
  EXPECT_TRUE(std::holds_alternative<late>(redis().acquire(mine, false, not_after)));
  EXPECT_FALSE(redis().exists(key.value_key()));
}

TEST_P(AcquireScript, GrantsAgainAfterExpiry) {
  claim mine = claims.next(milliseconds(20));
  const auto first = redis().must_acquire(mine);
  ASSERT_TRUE(support::eventually([&] { return !redis().exists(key.value_key()); }));
  claim next = others.next();
  EXPECT_GT(redis().must_acquire(next).major, first.major);
  EXPECT_EQ(redis().release(mine), release_verdict(not_mine{}));
}

TEST_P(AcquireScript, LeavesForeignStringsAlone) {
  for (const char* value :
       {"", "1", "somebody", "1:x:y", "1:17:", "OK", "8743c9c0-0795:1", "1234:5"}) {
    redis().command({"SET", key.value_key(), value, "PX", "60000"});
    const auto before = redis().contents();
    EXPECT_EQ(code_of(redis().acquire(claims.next())), errc::foreign_key) << value;
    EXPECT_EQ(redis().contents(), before);
  }
}

TEST_P(AcquireScript, LeavesOtherTypesAlone) {
  redis().command({"RPUSH", key.value_key(), "a"});
  const auto before = redis().contents();
  const auto verdict = redis().acquire(claims.next());
  EXPECT_EQ(code_of(verdict), errc::foreign_key);
  EXPECT_THAT(std::get<refused>(verdict).detail, ::testing::HasSubstr("holds something else"));
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(AcquireScript, LeavesOtherLayoutVersionsAlone) {
  for (const char* value : {"2:17:somebody", "2:", "12:{}", "999:x"}) {
    redis().command({"SET", key.value_key(), value, "PX", "60000"});
    const auto before = redis().contents();
    EXPECT_EQ(code_of(redis().acquire(claims.next())), errc::layout_version) << value;
    EXPECT_EQ(redis().contents(), before);
  }
}

TEST_P(AcquireScript, TellsOfALockThatWouldNeverEnd) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  redis().command({"PERSIST", key.value_key()});
  const auto verdict = redis().acquire(others.next());
  EXPECT_EQ(code_of(verdict), errc::foreign_key);
  EXPECT_THAT(std::get<refused>(verdict).detail, ::testing::HasSubstr("persistent"));
  // Its owner's next sign of life mends it.
  EXPECT_EQ(redis().renew(mine), renew_verdict(renewed{lease}));
  EXPECT_GT(redis().pttl(key.value_key()), 0);
}

TEST_P(AcquireScript, WorksWithoutTokens) {
  script_client plain{server(), fencing::off};
  const claim mine = claims.next();
  EXPECT_EQ(plain.acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(redis().get(key.value_key()), "1:0:" + std::string{mine.owner.text()});
  EXPECT_EQ(plain.acquire(others.next()), acquire_verdict(busy{}));
  const auto again = plain.acquire(mine, true);
  EXPECT_EQ(std::get<granted>(again).major, 0U);
  EXPECT_LE(std::get<granted>(again).ttl, lease);
  EXPECT_EQ(plain.renew(mine), renew_verdict(renewed{lease}));
  const auto other = std::get<busy>(plain.acquire(others.next(), true));
  EXPECT_GT(other.remaining, milliseconds(25'000));
  EXPECT_EQ(plain.release(mine), release_verdict(released{}));
  EXPECT_EQ(redis().contents(), "");
}

TEST_P(AcquireScript, GrantsAResendWithoutTokensThatWasNeverExecuted) {
  script_client plain{server(), fencing::off};
  claim mine = claims.next();
  const auto grant = std::get<granted>(plain.acquire(mine, true));
  EXPECT_EQ(grant.ttl, lease);
  mine.granted = grant.major;
  EXPECT_GT(redis().pttl(key.value_key()), 25'000);
  EXPECT_EQ(plain.release(mine), release_verdict(released{}));
  const server_time past{microseconds(1)};
  EXPECT_TRUE(std::holds_alternative<late>(plain.acquire(mine, true, past)));
  EXPECT_FALSE(redis().exists(key.value_key()));
}

TEST_P(AcquireScript, ExcludesLocksWithAndWithoutTokensFromEachOther) {
  script_client plain{server(), fencing::off};
  claim fenced = claims.next();
  redis().must_acquire(fenced);
  EXPECT_EQ(plain.acquire(others.next()), acquire_verdict(busy{}));
  EXPECT_EQ(redis().release(fenced), release_verdict(released{}));
  ASSERT_EQ(plain.acquire(others.next()), acquire_verdict(granted{0, lease}));
  EXPECT_TRUE(std::holds_alternative<busy>(redis().acquire(claims.next())));
}

TEST_P(AcquireScript, TakesEveryNameAsItIs) {
  using namespace std::string_literals;
  for (const auto& name : {"{}"s, "}{"s, "a{b}c"s, "%"s, "\0\r\n"s, "\xff\xfe"s, "*"s, " "s,
                           std::string(512, 'x'), "'] .. redis.call('FLUSHALL') .. ['"s}) {
    const lock_key strange{name};
    claims_of some{strange};
    claim mine = some.next();
    redis().must_acquire(mine);
    EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  }
}

}  // namespace
}  // namespace holdfast::dialects
