// Redisson's RFairLock: each key after each operation, byte for byte.
#include "redis/dialects/redisson/fair_recipe.hpp"

#include "redis/dialects/redisson/redisson_recipe.hpp"
#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::int64_t wait_time = 300'000;  // ms

class FairLayout : public foreign_test<fair_recipe> {
 protected:
  FairLayout() : foreign_test(fair_recipe{}) {}

  static claim waiting(claim one) {
    one.waits = true;
    return one;
  }
  claim waiter() { return waiting(claims.next()); }
  // {place, ms until the lock is free}.
  std::pair<std::uint64_t, milliseconds> queues(const claim& c) {
    const auto verdict = theirs().acquire(c);
    const auto* const place = std::get_if<queued>(&verdict);
    EXPECT_NE(place, nullptr) << redis().why(verdict);
    return place != nullptr ? std::pair{place->place, place->remaining}
                            : std::pair{std::uint64_t{99}, milliseconds{-1}};
  }
  std::vector<std::string> queue() {
    std::vector<std::string> names;
    for (const auto& one : command({"LRANGE", queue_key, "0", "-1"}).items) {
      names.push_back(one.text);
    }
    return names;
  }
  // ms from now on until the waiter counts as dead; about a second of it may have passed.
  std::int64_t lives(const std::string& owner) {
    const auto text = command({"ZSCORE", timeouts_key, owner}).text;
    return text.empty() ? 0 : std::stoll(text) - static_cast<std::int64_t>(redis().micros() / 1000);
  }
  std::int64_t lives(const claim& c) { return lives(redisson_owner(c.owner)); }
  void expect_lives(const claim& c, std::int64_t wanted) {
    EXPECT_GT(lives(c), wanted - 5'000);
    EXPECT_LE(lives(c), wanted);
  }
  void they_hold() {
    command({"HSET", key.name(), theirs_is, "1"});
    command({"PEXPIRE", key.name(), "20000"});
  }
  // One of Redisson, at the end of the queue.
  void they_wait(const std::string& who, std::int64_t ms) {
    const auto dead_at = static_cast<std::int64_t>(redis().micros() / 1000) + ms;
    command({"ZADD", timeouts_key, std::to_string(dead_at), who});
    command({"RPUSH", queue_key, who});
  }

  const std::string queue_key = "redisson_lock_queue:{orders:42}";
  const std::string timeouts_key = "redisson_lock_timeout:{orders:42}";
  const std::string channel = "redisson_lock__channel:{orders:42}:";
};
HOLDFAST_ON_EACH_SERVER(FairLayout);

TEST_P(FairLayout, OfAHolderIsTheHashAlone) {
  const claim mine = waiter();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(command({"HGET", key.name(), "01000000-0000-0000-0000-000000000000:1"}).text, "1");
  expect_ttl(key.name(), lease);
  EXPECT_EQ(command({"DBSIZE"}).number, 1);
  EXPECT_EQ(theirs().acquire(mine, true), acquire_verdict(granted{0, lease}));
  command({"PEXPIRE", key.name(), "1000"});
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(command({"DBSIZE"}).number, 0);
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
}

TEST_P(FairLayout, HasAQueueInWhichEachWaitsFiveMinutesLonger) {
  they_hold();
  const claim first = waiter();
  const claim second = waiter();
  EXPECT_EQ(queues(first).first, 0U);
  EXPECT_EQ(queues(second).first, 1U);
  EXPECT_EQ(queue(), (std::vector{redisson_owner(first.owner), redisson_owner(second.owner)}));
  EXPECT_EQ(command({"ZCARD", timeouts_key}).number, 2);
  expect_lives(first, 20'000 + wait_time);
  expect_lives(second, 20'000 + 2 * wait_time);
  const auto [place, left] = queues(first);  // asks again
  EXPECT_EQ(place, 0U);
  EXPECT_GT(left, milliseconds{15'000});
  EXPECT_LE(left, milliseconds{20'000});
  EXPECT_EQ(queue().size(), 2U);
}

TEST_P(FairLayout, LetsOnlyTheFirstIn) {
  they_hold();
  const claim first = waiter();
  const claim second = waiter();
  queues(first);
  queues(second);
  command({"DEL", key.name()});
  EXPECT_EQ(queues(second).first, 1U);
  EXPECT_EQ(remaining_of(theirs().acquire(claims.next())), milliseconds{0});  // asks once
  EXPECT_EQ(theirs().acquire(first), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(queue(), std::vector{redisson_owner(second.owner)});
  expect_lives(second, 20'000 + wait_time);
  EXPECT_EQ(theirs().release(first), release_verdict(released{}));
  EXPECT_EQ(theirs().acquire(second), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(queue().size(), 0U);
}

TEST_P(FairLayout, StandsBehindThoseOfTheLibrary) {
  they_wait("theirs:1", 60'000);
  const claim mine = waiter();
  const auto [place, left] = queues(mine);
  EXPECT_EQ(place, 1U);
  EXPECT_EQ(left, milliseconds{0});  // it is free, and theirs:1 has not come yet
  expect_lives(mine, 60'000 + wait_time);
  EXPECT_FALSE(redis().exists(key.name()));
}

TEST_P(FairLayout, DoesNotWaitForTheDead) {
  they_wait("dead:1", -1);
  they_wait("dead:2", -1'000);
  they_wait("theirs:3", 60'000);
  const claim mine = waiter();
  EXPECT_EQ(queues(mine).first, 1U);
  EXPECT_EQ(queue(), (std::vector<std::string>{"theirs:3", redisson_owner(mine.owner)}));
  command({"LPUSH", queue_key, "timeless"});
  command({"ZADD", timeouts_key, "1", "theirs:3"});
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(command({"DBSIZE"}).number, 1);
}

// Redisson leaves it as it is, and drops who has waited for longer.
TEST_P(FairLayout, GivesWhoAsksAgainHisTimeAnew) {
  they_hold();
  const claim first = waiter();
  const claim second = waiter();
  queues(first);
  queues(second);
  for (const auto& one : {first, second}) {
    command({"ZADD", timeouts_key, "1", redisson_owner(one.owner)});
  }
  EXPECT_EQ(queues(first).first, 0U);
  EXPECT_EQ(queues(second).first, 1U);
  expect_lives(first, wait_time);
  expect_lives(second, 2 * wait_time);
}

TEST_P(FairLayout, TellsTheFirstOnHisOwnChannel) {
  support::raw_connection listener{net::unix_endpoint{server().socket()}};
  listener.command({"PSUBSCRIBE", "*"});
  const claim mine = waiter();
  theirs().acquire(mine);
  they_wait("dead:1", -1);
  they_wait("theirs:2", 60'000);
  they_wait("theirs:3", 60'000);
  EXPECT_EQ(theirs().release(others.next()), release_verdict(not_mine{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  const auto message = listener.read_value();
  ASSERT_EQ(message.items.size(), 4U);
  EXPECT_EQ(message.items[2].text, channel + "theirs:2");
  EXPECT_EQ(message.items[3].text, "0");
  EXPECT_EQ(layout().told_at(mine), channel + redisson_owner(mine.owner));
}

TEST_P(FairLayout, LetsThoseBehindComeSoonerWhenOneLeaves) {
  they_hold();
  const claim first = waiter();
  const claim second = waiter();
  const claim third = waiter();
  for (const auto& one : {first, second, third}) queues(one);
  EXPECT_EQ(theirs().withdraw(second), release_verdict(released{}));
  EXPECT_EQ(queue(), (std::vector{redisson_owner(first.owner), redisson_owner(third.owner)}));
  EXPECT_EQ(command({"ZCARD", timeouts_key}).number, 2);
  expect_lives(first, 20'000 + wait_time);
  expect_lives(third, 20'000 + 2 * wait_time);
  EXPECT_EQ(theirs().withdraw(second), release_verdict(not_mine{}));
  expect_lives(third, 20'000 + 2 * wait_time);
  EXPECT_TRUE(redis().exists(key.name()));
}

TEST_P(FairLayout, CanBeLeftWhenMemoryIsShort) {
  they_hold();
  const claim first = waiter();
  const claim second = waiter();
  queues(first);
  queues(second);
  command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(theirs().withdraw(first), release_verdict(released{}));
  EXPECT_EQ(queue(), std::vector{redisson_owner(second.owner)});
  expect_lives(second, 20'000 + wait_time);
}

// It may have been told that it is free, and nobody else was.
TEST_P(FairLayout, TellsTheNextWhenTheFirstLeavesAFreeLock) {
  support::raw_connection listener{net::unix_endpoint{server().socket()}};
  they_hold();
  const claim first = waiter();
  queues(first);
  they_wait("theirs:2", 60'000 + wait_time);
  listener.command({"SUBSCRIBE", channel + "theirs:2"});
  command({"DEL", key.name()});
  EXPECT_EQ(theirs().withdraw(first), release_verdict(released{}));
  EXPECT_EQ(listener.read_value().items.at(2).text, "0");
}

TEST_P(FairLayout, HasNoBracesAroundANameWithSome) {
  const lock_key braced{"a{b}"};
  command({"HSET", "a{b}", theirs_is, "1"});
  claim mine = waiter();
  mine.key = &braced;
  const auto [place, left] = queues(mine);
  EXPECT_EQ(place, 0U);
  EXPECT_GT(left, milliseconds{60'000});  // for ever
  EXPECT_TRUE(redis().exists("redisson_lock_queue:a{b}"));
  EXPECT_TRUE(redis().exists("redisson_lock_timeout:a{b}"));
}

TEST_P(FairLayout, RefusesWhatComesTooLateAndForeignTypes) {
  const server_time past{microseconds{1}};
  they_hold();
  EXPECT_TRUE(std::holds_alternative<late>(theirs().acquire(waiter(), false, past)));
  EXPECT_EQ(queue().size(), 0U);
  command({"SET", queue_key, "text"});
  EXPECT_EQ(code_of(theirs().acquire(waiter())), errc::foreign_key);
}

}  // namespace
}  // namespace holdfast::dialects
