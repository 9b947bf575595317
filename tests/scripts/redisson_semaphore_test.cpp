// Redisson's RPermitExpirableSemaphore and RSemaphore: each key after each operation, byte for
// byte.
#include "redis/dialects/redisson/semaphore_recipe.hpp"

#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

const demand one{.mode = 's', .weight = 1, .limit = 3};
const demand two{.mode = 's', .weight = 2, .limit = 3};

class PermitLayout : public foreign_test<semaphore_recipe> {
 protected:
  explicit PermitLayout(permit_leases whose = permit_leases::theirs)
      : foreign_test(semaphore_recipe{whose}) {}

  static claim with(claim c, const demand& wants) {
    c.wants = &wants;
    return c;
  }
  claim next(const demand& wants, milliseconds how_long = lease) {
    return with(claims.next(how_long), wants);
  }
  std::string free() { return redis().get(key.name()); }
  std::int64_t in_use() { return command({"ZCARD", leases}).number; }
  std::int64_t now_ms() { return static_cast<std::int64_t>(redis().micros() / 1000); }
  // As Redisson's own client takes one.
  void they_have(const std::string& permit, std::int64_t until_ms) {
    command({"DECRBY", key.name(), "1"});
    command({"ZADD", leases, std::to_string(until_ms), permit});
  }
  static std::string permit(char number, char index) {
    std::string bytes(16, '\0');
    bytes[0] = 1;
    bytes[11] = number;
    bytes[15] = index;
    return bytes;
  }

  std::string leases = "{orders:42}:timeout";
};
HOLDFAST_ON_EACH_SERVER(PermitLayout);

TEST_P(PermitLayout, IsANumberAndALeaseForEachPermit) {
  const claim mine = next(two);
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(free(), "1");
  EXPECT_EQ(command({"DBSIZE"}).number, 2);
  const auto all = command({"ZRANGE", leases, "0", "-1", "WITHSCORES"}).items;
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].text, permit(1, 0));
  EXPECT_EQ(all[2].text, permit(1, 1));
  for (const auto i : {1, 3}) {
    EXPECT_GT(std::stoll(all[i].text), now_ms() + lease.count() - 5'000);
    EXPECT_LE(std::stoll(all[i].text), now_ms() + lease.count());
  }
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(free(), "3");
  EXPECT_EQ(command({"DBSIZE"}).number, 1);
}

TEST_P(PermitLayout, NeverGivesMoreThanThereAre) {
  theirs().acquire(next(two));
  EXPECT_GT(remaining_of(theirs().acquire(next(two))), milliseconds{25'000});
  EXPECT_EQ(free(), "1");
  EXPECT_EQ(theirs().acquire(next(one)), acquire_verdict(granted{0, lease}));
  EXPECT_GT(remaining_of(theirs().acquire(next(one))), milliseconds{25'000});
  EXPECT_EQ(free(), "0");
}

TEST_P(PermitLayout, GoesByWhatTheLibraryHasSaid) {
  command({"SET", key.name(), "1"});
  EXPECT_EQ(remaining_of(theirs().acquire(next(two))), milliseconds{-1});
  they_have("sixteen bytes of", 922337203685477);  // for ever
  EXPECT_EQ(remaining_of(theirs().acquire(next(one))), milliseconds{-1});
  EXPECT_EQ(free(), "0");
}

TEST_P(PermitLayout, CountsAResendOnce) {
  const claim mine = next(two, milliseconds{5'000});
  theirs().acquire(mine);
  claim again = mine;
  again.lease = lease;
  EXPECT_EQ(theirs().acquire(again, true), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(free(), "1");
  EXPECT_EQ(in_use(), 2);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  EXPECT_EQ(free(), "3");
}

TEST_P(PermitLayout, TakesBackWhatTheDeadHad) {
  support::raw_connection listener{net::unix_endpoint{server().socket()}};
  listener.command({"SUBSCRIBE", "redisson_sc:{orders:42}"});
  command({"SET", key.name(), "3"});
  they_have("sixteen bytes of", now_ms() - 1);
  they_have("another of these", now_ms() - 1);
  they_have("and one that may", now_ms() + 20'000);
  EXPECT_EQ(free(), "0");
  EXPECT_EQ(theirs().acquire(next(two)), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(listener.read_value().items.at(2).text, "2");
  EXPECT_EQ(free(), "0");
  EXPECT_EQ(in_use(), 3);
  const auto left = remaining_of(theirs().acquire(next(one)));
  EXPECT_GT(left, milliseconds{15'000});
  EXPECT_LE(left, milliseconds{20'000});
}

TEST_P(PermitLayout, SaysOnTheChannelHowManyAreFree) {
  support::raw_connection listener{net::unix_endpoint{server().socket()}};
  const claim mine = next(two);
  theirs().acquire(mine);
  listener.command({"SUBSCRIBE", "redisson_sc:{orders:42}"});
  EXPECT_EQ(theirs().release(with(others.next(), two)), release_verdict(not_mine{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(listener.read_value().items.at(2).text, "3");
}

TEST_P(PermitLayout, GivesBackLateWhatNobodyHasTakenBackAndSaysSo) {
  const claim mine = next(two);
  theirs().acquire(mine);
  for (const char i : {0, 1}) command({"ZADD", leases, "1", permit(1, i)});
  EXPECT_EQ(theirs().renew(mine), renew_verdict(not_mine{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  EXPECT_EQ(free(), "3");
}

TEST_P(PermitLayout, RenewsOnlyWhatIsItsOwn) {
  const claim mine = next(two, milliseconds{1'000});
  theirs().acquire(mine);
  claim longer = mine;
  longer.lease = lease;
  EXPECT_EQ(theirs().renew(longer), renew_verdict(renewed{lease}));
  for (const char i : {0, 1}) {
    const auto ends = std::stoll(command({"ZSCORE", leases, permit(1, i)}).text);
    EXPECT_GT(ends, now_ms() + lease.count() - 5'000);
  }
  expect_nothing_done_by(with(others.next(), two));
  const auto verdict = theirs().renew(mine);  // never shorter
  const auto* const still = std::get_if<renewed>(&verdict);
  ASSERT_NE(still, nullptr);
  EXPECT_GT(still->ttl, milliseconds{20'000});
}

TEST_P(PermitLayout, IsRenewedWhenMemoryIsShort) {
  const claim mine = next(two, milliseconds{10'000});
  theirs().acquire(mine);
  claim longer = mine;
  longer.lease = lease;
  command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(theirs().renew(longer), renew_verdict(renewed{lease}));
  EXPECT_EQ(in_use(), 2);
  EXPECT_EQ(free(), "1");
}

// One asker takes back a thousand leases that have ended; those that are left end in the past.
TEST_P(PermitLayout, IsBusyWhileTheDeadOweMoreThanThereAre) {
  constexpr int many = 2'000;
  std::vector<std::string> dead{"ZADD", leases};
  for (int i = 0; i < many; ++i) {
    dead.insert(dead.end(), {std::to_string(now_ms() - 100), "dead " + std::to_string(i)});
  }
  command(dead);
  command({"SET", key.name(), std::to_string(-many)});
  EXPECT_EQ(remaining_of(theirs().acquire(next(one))), milliseconds{0});
  EXPECT_EQ(free(), "-1000");
}

TEST_P(PermitLayout, ShowsWhoHasThem) {
  EXPECT_EQ(look(), foreign_verdict(foreign_holders{}));
  command({"SET", key.name(), "3"});
  they_have("0123456789abcdef", now_ms() + 20'000);
  they_have("sixteen bytes of", now_ms() - 1);
  const auto shown = holder();
  EXPECT_EQ(shown.owner, "30313233343536373839616263646566");
  EXPECT_EQ(shown.mode, 's');
  EXPECT_GT(shown.remaining.value_or(milliseconds{0}), milliseconds{15'000});
}

TEST_P(PermitLayout, IsToldHowManyThereAre) {
  const auto set = [&](std::uint32_t count) {
    const auto reply =
        theirs().ask([&](auto& out) { layout().write_set_permits(key.name(), count, never, out); });
    EXPECT_EQ(layout().read_release(reply), release_verdict(released{}));
  };
  set(5);
  EXPECT_EQ(free(), "5");
  theirs().acquire(next(two));
  EXPECT_EQ(free(), "3");
  set(1);
  EXPECT_EQ(free(), "-1");  // two are in use
  set(1);
  EXPECT_EQ(free(), "-1");
  set(4);
  EXPECT_EQ(free(), "2");
}

TEST_P(PermitLayout, IsNotToldTooLateHowManyThereAre) {
  command({"SET", key.name(), "3"});
  EXPECT_TRUE(theirs().refuses_late(
      [&](auto when, auto& out) { layout().write_set_permits(key.name(), 5, when, out); }));
}

TEST_P(PermitLayout, EndsWithTheNumber) {
  command({"SET", key.name(), "3", "PX", "20000"});
  theirs().acquire(next(one));
  expect_ttl(leases, milliseconds{20'000});
}

TEST_P(PermitLayout, HasNoBracesAroundANameWithSome) {
  EXPECT_EQ(layout().key_of("a{b}"), "a{b}:timeout");
  EXPECT_EQ(layout().channel_of("a{b}"), "redisson_sc:a{b}");
}

TEST_P(PermitLayout, RefusesWhatComesTooLateAndForeignTypes) {
  const server_time past{microseconds{1}};
  EXPECT_TRUE(std::holds_alternative<late>(theirs().acquire(next(one), false, past)));
  EXPECT_EQ(command({"DBSIZE"}).number, 0);
  command({"HSET", key.name(), "field", "1"});
  EXPECT_EQ(code_of(theirs().acquire(next(one))), errc::foreign_key);
}

class SemaphoreLayout : public PermitLayout {
 protected:
  SemaphoreLayout() : PermitLayout(permit_leases::ours) { leases = "hf:permits:{orders:42}"; }
};
HOLDFAST_ON_EACH_SERVER(SemaphoreLayout);

TEST_P(SemaphoreLayout, IsANumberAndNotesOurLeasesElsewhere) {
  command({"SET", key.name(), "4"});
  const claim mine = next(two);
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(theirs().acquire(mine, true), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(free(), "2");
  EXPECT_EQ(in_use(), 2);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  EXPECT_EQ(free(), "4");
  EXPECT_EQ(command({"DBSIZE"}).number, 1);
}

TEST_P(SemaphoreLayout, TakesBackWhatOurDeadHad) {
  command({"SET", key.name(), "2"});
  theirs().acquire(next(two));
  for (const char i : {0, 1}) command({"ZADD", leases, "1", permit(1, i)});
  EXPECT_EQ(theirs().acquire(next(one)), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(free(), "1");
}

TEST_P(SemaphoreLayout, DoesNotKnowHowManyThereAre) { EXPECT_FALSE(layout().sets_permits()); }

}  // namespace
}  // namespace holdfast::dialects
