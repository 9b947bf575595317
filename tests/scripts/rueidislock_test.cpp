// Locks of rueidislock: each key after each operation.
#include "redis/dialects/rueidislock/rueidislock_recipe.hpp"
#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

class RueidislockLayout : public foreign_test<rueidislock_recipe> {
 protected:
  RueidislockLayout()
      : foreign_test(rueidislock_recipe{{.name = "rueidislock"}, "rueidislock", 2}) {}

  void theirs_at(std::initializer_list<int> keys, int ms = 20'000) {
    for (const int i : keys) {
      command({"SET", all.at(static_cast<std::size_t>(i)), "theirs", "PX", std::to_string(ms)});
    }
  }
  std::string owner_at(int i) { return redis().get(all.at(static_cast<std::size_t>(i))); }

  const std::vector<std::string> all{"rueidislock:0:orders:42", "rueidislock:1:orders:42",
                                     "rueidislock:2:orders:42"};
};
HOLDFAST_ON_EACH_SERVER(RueidislockLayout);

TEST_P(RueidislockLayout, IsTheSameTextAtAllKeys) {
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  for (const auto& one : all) {
    EXPECT_EQ(redis().get(one), holder().owner);
    expect_ttl(one, lease);
  }
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), all.size());
  EXPECT_TRUE(std::holds_alternative<busy>(theirs().acquire(claims.next())));
  expect_nothing_done_by(others.next());
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 0U);
}

TEST_P(RueidislockLayout, IsHadByWhoHasTheMajority) {
  theirs_at({1});
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(owner_at(1), "theirs");
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease})) << "a resend";
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(owner_at(1), "theirs");
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 1U);
}

TEST_P(RueidislockLayout, WaitsUntilOthersHaveTheMajorityNoMore) {
  theirs_at({0}, 5'000);
  theirs_at({1}, 20'000);
  theirs_at({2}, 10'000);
  const auto left = remaining_of(theirs().acquire(claims.next()));
  EXPECT_GT(left, milliseconds{8'000}) << "when two are over, ours is the majority";
  EXPECT_LE(left, milliseconds{10'000});
  EXPECT_EQ(owner_at(0), "theirs");
  for (const auto& one : all) command({"PERSIST", one});
  EXPECT_EQ(remaining_of(theirs().acquire(claims.next())), milliseconds{-1});
}

// Its library takes its keys, and gives them back, one after another.
TEST_P(RueidislockLayout, IsAskedForAgainSoonWhileItChangesHands) {
  theirs_at({0, 1});
  EXPECT_LE(remaining_of(theirs().acquire(claims.next())), milliseconds{20});
  EXPECT_FALSE(redis().exists(all.at(2))) << "nothing is taken that is not the majority";
}

TEST_P(RueidislockLayout, IsLostWithTheMajority) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  theirs_at({0, 2});
  command({"PEXPIRE", all.at(1), "1000"});
  EXPECT_EQ(theirs().renew(mine), renew_verdict(not_mine{}));
  EXPECT_LE(redis().pttl(all.at(1)), 1'000);
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  EXPECT_FALSE(redis().exists(all.at(1))) << "what is left of it is given back";
  EXPECT_EQ(owner_at(0) + owner_at(2), "theirstheirs");
}

TEST_P(RueidislockLayout, RenewsEachLockOfACommandByItself) {
  const lock_key second{"orders:43"};
  const claim lost = claims.next(), mine = claims_of(second).next();
  for (const auto* one : {&lost, &mine}) theirs().acquire(*one);
  theirs_at({0, 1});
  command({"PEXPIRE", "rueidislock:2:orders:43", "1000"});
  const auto verdicts = theirs().renew({&lost, &mine});
  EXPECT_EQ(verdicts.at(0), renew_verdict(not_mine{}));
  EXPECT_EQ(verdicts.at(1), renew_verdict(renewed{lease}));
  expect_ttl("rueidislock:2:orders:43", lease);
}

TEST_P(RueidislockLayout, RefusesWhatComesTooLateAndForeignTypes) {
  const server_time past{microseconds{1}};
  EXPECT_TRUE(std::holds_alternative<late>(theirs().acquire(claims.next(), false, past)));
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 0U);
  command({"HSET", all.at(2), "field", "1"});
  EXPECT_EQ(code_of(theirs().acquire(claims.next())), errc::foreign_key);
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 1U);
}

}  // namespace
}  // namespace holdfast::dialects
