// ShedLock's locks on a real server: each key after each operation.
#include <gmock/gmock.h>

#include <ctime>

#include "holdfast_scripts.hpp"
#include "redis/dialects/shedlock/shedlock_recipe.hpp"
#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

using ::testing::MatchesRegex;

constexpr auto value_form =
    "ADDED:[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z@here"
    ":[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

class ShedLock : public foreign_test<shedlock_recipe> {
 protected:
  explicit ShedLock(milliseconds at_least = {})
      : foreign_test({{.name = "shedlock", .at_least = at_least}, "job-lock:default:", "here"}) {}
  // As if the lock had been acquired so much earlier: the value's time is moved back.
  void move_back_to(const std::string& time) {
    auto value = redis().get(at);
    value.replace(6, time.size(), time);
    command({"SET", at, value, "KEEPTTL"});
  }
  const std::string at = "job-lock:default:orders:42";
};
HOLDFAST_ON_EACH_SERVER(ShedLock);

TEST_P(ShedLock, SaysWhenAndWhereItWasAcquired) {
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_THAT(redis().get(at), MatchesRegex(value_form));
  expect_ttl(at, lease);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 0U);
}

TEST_P(ShedLock, KnowsAResendAndNobodyElse) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  const auto value = redis().get(at);
  command({"PEXPIRE", at, "1000"});
  EXPECT_EQ(theirs().acquire(mine, true), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(redis().get(at), value);
  expect_ttl(at, lease);
  EXPECT_GT(remaining_of(theirs().acquire(claims.next(), true)).count(), 25'000);
  const server_time past{microseconds{1}};
  EXPECT_TRUE(std::holds_alternative<late>(theirs().acquire(mine, true, past)));
}

TEST_P(ShedLock, RenewsAndReleasesOnlyWhatIsItsOwn) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  command({"PEXPIRE", at, "1000"});
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  expect_ttl(at, lease);
  expect_nothing_done_by(others.next());
  command({"SET", at, "ADDED:2026-11-22T14:52:47.001Z@there"});
  expect_nothing_done_by(mine);
  command({"DEL", at});
  command({"HSET", at, "field", "1"});
  EXPECT_EQ(code_of(theirs().acquire(claims.next())), errc::foreign_key);
}

TEST_P(ShedLock, ShowsWhereItIsHeldButNotWhatReleasesIt) {
  theirs().acquire(claims.next());
  const auto found = holder();
  EXPECT_THAT(std::string(layout().shown(found.owner)), MatchesRegex("ADDED:[-0-9T:.]+Z@here"));
  EXPECT_EQ(layout().shown("ADDED:2026-11-22T14:52:47.001Z@there"),
            "ADDED:2026-11-22T14:52:47.001Z@there");
  EXPECT_EQ(layout().shown("0123456789"), "01234567");
}

class ShedLockAtLeast : public ShedLock {
 protected:
  ShedLockAtLeast() : ShedLock(milliseconds{20'000}) {}
};
HOLDFAST_ON_EACH_SERVER(ShedLockAtLeast);

TEST_P(ShedLockAtLeast, StaysLockedForTheRest) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  expect_ttl(at, milliseconds{20'000});
  EXPECT_THAT(redis().get(at), MatchesRegex("ADDED:[-0-9T:.]+Z@here"));
  EXPECT_GT(remaining_of(theirs().acquire(others.next())).count(), 0);
}

TEST_P(ShedLockAtLeast, IsGivenBackWhenMemoryIsShort) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  expect_ttl(at, milliseconds{20'000});
  EXPECT_THAT(redis().get(at), MatchesRegex("ADDED:[-0-9T:.]+Z@here"));
}

// Neither a renewal nor an acquisition that was under way makes it longer.
TEST_P(ShedLockAtLeast, IsNobodysWhenItWasGivenBack) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  theirs().release(mine);
  expect_nothing_done_by(mine);
  EXPECT_GT(remaining_of(theirs().acquire(mine, true)).count(), 0);
  expect_nothing_done_by(mine);
}

TEST_P(ShedLockAtLeast, IsFreeAtOnceWhenItWasHeldForLongEnough) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  move_back_to("2024-02-29T23:59:59.999Z");
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(at));
}

TEST_P(ShedLockAtLeast, StaysNoLongerThanThatWhenTheClockStepsBack) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  move_back_to("2999-12-31T00:00:00.000Z");
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  expect_ttl(at, milliseconds{20'000});
}

TEST_P(ShedLockAtLeast, IsFreeAtOnceWhenTheAttemptWasGivenUp) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  EXPECT_EQ(theirs().withdraw(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(at));
}

// The two functions that the scripts use, on days where calendars are wrong: text_of(ms), and
// whether time_in reads the same ms again.
TEST_P(ShedLock, WritesTimesAsTheCalendarHasThem) {
  const std::string acquire(scripts::shedlock_acquire.text);
  const std::string release(scripts::shedlock_release.text);
  const auto part = [](const std::string& script, const char* name) {
    const auto from = script.find(std::string("local function ") + name);
    return script.substr(from, script.find("\nend\n", from) + 5 - from);
  };
  const auto both = part(acquire, "text_of") + part(release, "time_in") +
                    "local text = text_of(ARGV[1] + 0) "
                    "return {text, tostring(time_in('ADDED:' .. text .. '@') == ARGV[1] + 0)}";
  const std::int64_t day = 86'400;
  for (std::int64_t at_day = 0; at_day < 40'000; at_day += 59) {
    const std::time_t seconds = at_day * day + (at_day * 7'919) % day;
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.007Z", &utc);
    const auto said = command({"EVAL", both, "0", std::to_string(seconds * 1'000 + 7)});
    ASSERT_EQ(said.items.size(), 2U) << said.text;
    EXPECT_EQ(said.items[0].text, text);
    EXPECT_EQ(said.items[1].text, "true");
  }
  for (const auto* last : {"951782400007", "951868799007", "4107542399007", "1709251199007"}) {
    const auto said = command({"EVAL", both, "0", last});
    EXPECT_EQ(said.items.at(1).text, "true");
  }
  EXPECT_EQ(command({"EVAL", both, "0", "951782400007"}).items.at(0).text,
            "2000-02-29T00:00:00.007Z");
}

}  // namespace
}  // namespace holdfast::dialects
