// Locks of Symfony's RedisStore on a real server: each key after each operation.
#include "redis/dialects/symfony/symfony_recipe.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

using ::testing::MatchesRegex;

const demand to_read{.mode = 'r'};

class Symfony : public foreign_test<symfony_recipe> {
 protected:
  Symfony() : foreign_test(symfony_recipe{{.name = "symfony"}, "app:"}) {}
  static claim as_reader(claim c) {
    c.wants = &to_read;
    return c;
  }
  claim next_reader(milliseconds how_long = lease) { return as_reader(claims.next(how_long)); }
  std::int64_t now_ms() { return static_cast<std::int64_t>(redis().micros() / 1000); }
  std::int64_t count() { return command({"ZCARD", at}).number; }
  // As Symfony's own client writes it; `left` from now.
  void they_have(const std::string& token, std::int64_t left) {
    command({"ZADD", at, std::to_string(now_ms() + left), token});
  }
  std::int64_t left_of(const std::string& token) {
    return std::stoll(command({"ZSCORE", at, token}).text) - now_ms();
  }
  const std::string at = "app:orders:42";
  const std::string writer = "__write__";
  const std::string theirs_are = "AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjjKKE=";
};
HOLDFAST_ON_EACH_SERVER(Symfony);

TEST_P(Symfony, IsATokenAndTheMarkOfTheWriter) {
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  const auto all = command({"ZRANGE", at, "0", "-1", "WITHSCORES"}).items;
  ASSERT_EQ(all.size(), 4U);
  EXPECT_THAT(all[0].text, MatchesRegex("[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]="));
  EXPECT_EQ(all[2].text, writer);
  EXPECT_EQ(all[1].text, all[3].text);
  EXPECT_LE(left_of(writer), lease.count());
  EXPECT_GT(left_of(writer), lease.count() - 5'000);
  expect_ttl(at, lease);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  EXPECT_EQ(command({"DBSIZE"}).number, 0);
}

TEST_P(Symfony, LetsReadersInTogetherAndNoWriterBesideThem) {
  const claim first = next_reader(), second = next_reader(milliseconds{60'000});
  EXPECT_EQ(theirs().acquire(first), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(theirs().acquire(second), acquire_verdict(granted{0, second.lease}));
  EXPECT_EQ(count(), 2);
  expect_ttl(at, second.lease);
  const auto left = remaining_of(theirs().acquire(claims.next()));
  EXPECT_GT(left, milliseconds{50'000}) << "until the last has left";
  EXPECT_EQ(theirs().release(second), release_verdict(released{}));
  expect_ttl(at, lease);
  EXPECT_EQ(theirs().release(first), release_verdict(released{}));
  EXPECT_EQ(theirs().acquire(claims.next()), acquire_verdict(granted{0, lease}));
  EXPECT_GT(remaining_of(theirs().acquire(next_reader())), milliseconds{20'000});
}

TEST_P(Symfony, WaitsForWhatSymfonyHolds) {
  they_have(theirs_are, 20'000);
  they_have(writer, 20'000);
  const auto left = remaining_of(theirs().acquire(claims.next()));
  EXPECT_GT(left, milliseconds{15'000});
  EXPECT_LE(left, milliseconds{20'000});
  EXPECT_GT(remaining_of(theirs().acquire(next_reader())), milliseconds{15'000});
  command({"ZREM", at, writer});
  EXPECT_EQ(theirs().acquire(next_reader()), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(count(), 2);
}

// Before 5.2 a text, also one that never ends.
TEST_P(Symfony, WaitsForWhatOldOnesHold) {
  command({"SET", at, theirs_are, "PX", "20000"});
  EXPECT_GT(remaining_of(theirs().acquire(claims.next())), milliseconds{15'000});
  EXPECT_GT(remaining_of(theirs().acquire(next_reader())), milliseconds{15'000});
  expect_nothing_done_by(claims.next());
  EXPECT_EQ(holder().owner, theirs_are);
  command({"PERSIST", at});
  EXPECT_EQ(remaining_of(theirs().acquire(claims.next())), milliseconds{-1});
  EXPECT_EQ(redis().get(at), theirs_are);
}

TEST_P(Symfony, TakesNoNoticeOfThoseWhoseLeaseHasEnded) {
  they_have(theirs_are, -1);
  they_have(writer, -1);
  EXPECT_EQ(look(), foreign_verdict(foreign_holders{}));
  EXPECT_EQ(theirs().acquire(next_reader()), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(count(), 1);
  command({"DEL", at});
  they_have(theirs_are, -1);
  they_have("another", 20'000);
  EXPECT_GT(remaining_of(theirs().acquire(claims.next())), milliseconds{15'000});
  EXPECT_EQ(count(), 1);
}

TEST_P(Symfony, CountsAResendOnce) {
  for (const claim& mine : {claims.next(milliseconds{5'000}), next_reader(milliseconds{5'000})}) {
    theirs().acquire(mine);
    claim again = mine;
    again.lease = lease;
    EXPECT_EQ(theirs().acquire(again, true), acquire_verdict(granted{0, lease}));
    EXPECT_EQ(count(), mine.wants == nullptr ? 2 : 1);
    expect_ttl(at, lease);
    again.lease = milliseconds{1'000};
    theirs().acquire(again, true);
    expect_ttl(at, lease);
    EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  }
}

TEST_P(Symfony, RenewsAndReleasesOnlyWhatIsItsOwn) {
  const claim mine = claims.next(milliseconds{5'000});
  theirs().acquire(mine);
  claim longer = mine;
  longer.lease = lease;
  EXPECT_EQ(theirs().renew(longer), renew_verdict(renewed{lease}));
  EXPECT_GT(left_of(writer), lease.count() - 5'000) << "readers would come in";
  expect_ttl(at, lease);
  const auto verdict = theirs().renew(mine);  // never shorter
  const auto* const still = std::get_if<renewed>(&verdict);
  ASSERT_NE(still, nullptr);
  EXPECT_GT(still->ttl, milliseconds{20'000});
  expect_nothing_done_by(others.next());
  expect_nothing_done_by(as_reader(others.next()));
}

TEST_P(Symfony, RenewsAReaderAndMakesNoWriterOfIt) {
  const claim mine = next_reader(milliseconds{5'000});
  theirs().acquire(mine);
  they_have(theirs_are, 60'000);
  claim longer = mine;
  longer.lease = lease;
  EXPECT_EQ(theirs().renew(longer), renew_verdict(renewed{lease}));
  EXPECT_EQ(count(), 2);
  expect_ttl(at, milliseconds{60'000});
}

// A lease that has ended may still stand there, beside readers.
TEST_P(Symfony, IsToldThatItsLeaseHadEnded) {
  const claim mine = next_reader(), other = next_reader();
  theirs().acquire(mine);
  const auto token = command({"ZRANGE", at, "0", "0"}).items.at(0).text;
  theirs().acquire(other);
  they_have(token, -1);
  EXPECT_EQ(theirs().renew(mine), renew_verdict(not_mine{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  EXPECT_EQ(count(), 1);
  expect_ttl(at, lease);
}

TEST_P(Symfony, IsRenewedWhenMemoryIsShort) {
  const claim mine = claims.next(milliseconds{10'000});
  theirs().acquire(mine);
  claim longer = mine;
  longer.lease = lease;
  command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(theirs().renew(longer), renew_verdict(renewed{lease}));
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
}

TEST_P(Symfony, ShowsWhoHasItAndHow) {
  EXPECT_EQ(look(), foreign_verdict(foreign_holders{}));
  they_have(theirs_are, 20'000);
  EXPECT_EQ(holder().mode, 'r');
  they_have(writer, 20'000);
  const auto found = holder();
  EXPECT_EQ(found.owner, theirs_are);
  EXPECT_EQ(found.mode, 'x');
  EXPECT_GT(found.remaining.value_or(milliseconds{0}), milliseconds{15'000});
  EXPECT_EQ(layout().shown(found.owner), "AAAAbbbb");
  command({"ZADD", at, "inf", theirs_are, "inf", writer});
  EXPECT_EQ(holder().remaining, std::nullopt);
  EXPECT_EQ(remaining_of(theirs().acquire(claims.next())), milliseconds{-1});
}

TEST_P(Symfony, IsBrokenForTheOneWhoHasIt) {
  const auto break_of = [&](const std::string& owner) {
    const server_time soon{microseconds{(1LL << 53) - 1}};
    return std::get<break_end>(layout().read_break(
        theirs().ask([&](auto& out) { layout().write_break(key.name(), owner, soon, out); })));
  };
  EXPECT_EQ(break_of(theirs_are), break_end::free);
  they_have(theirs_are, 20'000);
  they_have(writer, 20'000);
  EXPECT_EQ(break_of("another"), break_end::changed);
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(break_of(theirs_are), break_end::broken);
  EXPECT_EQ(command({"DBSIZE"}).number, 0);
}

TEST_P(Symfony, RefusesWhatComesTooLateAndForeignTypes) {
  const server_time past{microseconds{1}};
  EXPECT_TRUE(std::holds_alternative<late>(theirs().acquire(claims.next(), false, past)));
  EXPECT_EQ(command({"DBSIZE"}).number, 0);
  command({"HSET", at, "field", "1"});
  EXPECT_EQ(code_of(theirs().acquire(claims.next())), errc::foreign_key);
  EXPECT_EQ(code_of(theirs().acquire(next_reader())), errc::foreign_key);
}

TEST(symfony, has_readers_where_it_is_shared) {
  const auto how = std::make_shared<const symfony_recipe>(foreign_recipe::habits{.name = "symfony"},
                                                          std::string{});
  EXPECT_EQ(how->read_write(), how);
  EXPECT_EQ(how->with_fence_counter(), nullptr);
  EXPECT_EQ(how->semaphore(), nullptr);
}

}  // namespace
}  // namespace holdfast::dialects
