// Locks of redsync and node-redlock at one server: each key after each operation.
#include <gmock/gmock.h>

#include "redis/dialects/redlock/redlock_recipe.hpp"
#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

using ::testing::MatchesRegex;

constexpr foreign_recipe::habits usual{.name = "redlock"};

class RedsyncLayout : public foreign_test<redlock_recipe> {
 protected:
  RedsyncLayout() : foreign_test(redlock_recipe{usual, redlock_library::redsync}) {}
};
HOLDFAST_ON_EACH_SERVER(RedsyncLayout);

TEST_P(RedsyncLayout, Is16BytesInBase64AtTheNameItself) {
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_THAT(redis().get(key.name()), MatchesRegex("[0-9a-zA-Z+/]{21}[AQgw]=="));
  expect_ttl(key.name(), lease);
  EXPECT_EQ(holder().owner, redlock_value(redlock_library::redsync, mine.owner));
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 0U);
}

TEST_P(RedsyncLayout, RefusesWhatComesTooLateAndForeignTypes) {
  const server_time past{microseconds{1}};
  EXPECT_TRUE(std::holds_alternative<late>(theirs().acquire(claims.next(), false, past)));
  EXPECT_FALSE(redis().exists(key.name()));
  command({"HSET", key.name(), "field", "1"});
  EXPECT_EQ(code_of(theirs().acquire(claims.next())), errc::foreign_key);
  EXPECT_EQ(theirs().release(claims.next()), release_verdict(not_mine{}));
}

TEST_P(RedsyncLayout, RenewsEachLockOfACommandByItself) {
  const lock_key second{"orders:43"}, third{"orders:44"};
  const claim lost = claims.next(), mine = claims_of(second).next(),
              mine_too = claims_of(third).next();
  for (const auto* one : {&lost, &mine, &mine_too}) {
    theirs().acquire(*one);
    command({"PEXPIRE", one->key->name(), "1000"});
  }
  command({"DEL", key.name()});
  command({"HSET", key.name(), "field", "1"});
  const auto verdicts = theirs().renew({&lost, &mine, &mine_too});
  EXPECT_EQ(verdicts.at(0), renew_verdict(not_mine{}));
  EXPECT_EQ(verdicts.at(1), renew_verdict(renewed{lease}));
  EXPECT_EQ(verdicts.at(2), renew_verdict(renewed{lease}));
  expect_ttl(third.name(), lease);
}

class NodeRedlockLayout : public foreign_test<redlock_recipe> {
 protected:
  NodeRedlockLayout()
      : foreign_test(redlock_recipe{usual, redlock_library::node_redlock, {"stock", at, "till"}}) {}
  static constexpr auto at = "orders:42";  // the name itself, which counts once
  const std::vector<std::string> all{at, "stock", "till"};
};
HOLDFAST_ON_EACH_SERVER(NodeRedlockLayout);

TEST_P(NodeRedlockLayout, IsTheSame32DigitsAtAllResources) {
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_THAT(redis().get(at), MatchesRegex("[0-9a-f]{32}"));
  for (const auto& one : all) {
    EXPECT_EQ(redis().get(one), redis().get(at));
    expect_ttl(one, lease);
  }
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), all.size());
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 0U);
}

TEST_P(NodeRedlockLayout, TakesNothingWhenOneIsTaken) {
  command({"SET", "stock", "theirs", "PX", "10000"});
  command({"SET", "till", "other", "PX", "20000"});
  const auto left = remaining_of(theirs().acquire(claims.next()));
  EXPECT_GT(left, milliseconds{15'000});  // until the last of them is free
  EXPECT_LE(left, milliseconds{20'000});
  EXPECT_FALSE(redis().exists(at));
  command({"PERSIST", "till"});
  EXPECT_EQ(remaining_of(theirs().acquire(claims.next())), milliseconds{-1});
}

TEST_P(NodeRedlockLayout, KnowsAResendAndShortensNothing) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  command({"PEXPIRE", "stock", "1000"});
  command({"PEXPIRE", at, "60000"});
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  expect_ttl("stock", lease);
  EXPECT_GT(redis().pttl(at), lease.count());
}

TEST_P(NodeRedlockLayout, IsLostWithOneResourceAndGivesTheOthersBack) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  command({"SET", "till", "theirs", "PX", "20000"});
  command({"PEXPIRE", at, "1000"});
  EXPECT_EQ(theirs().renew(mine), renew_verdict(not_mine{}));
  EXPECT_LE(redis().pttl(at), 1'000);
  expect_nothing_done_by(others.next());
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  EXPECT_FALSE(redis().exists(at));
  EXPECT_FALSE(redis().exists("stock"));
  EXPECT_EQ(redis().get("till"), "theirs");
}

}  // namespace
}  // namespace holdfast::dialects
