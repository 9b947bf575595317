// Those who wait: their order, how the lock is handed over, and who is skipped.
#include <gmock/gmock.h>

#include <memory>
#include <optional>

#include "net/clock.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

class QueueScript : public scripts_test {
 protected:
  claim next_waiting(claims_of& of, wakeup_way way = wakeup_way::channel) {
    claim one = of.next();
    one.waits = true;
    one.way = way;
    return one;
  }
  queued must_wait(claim& one) {
    const auto verdict = redis().acquire(one);
    const auto* place = std::get_if<queued>(&verdict);
    EXPECT_NE(place, nullptr) << redis().why(verdict);
    if (place == nullptr) return {};
    one.ticket = place->ticket;
    return *place;
  }
  // Listens to the channel of the client that the claims are of.
  using subscriber = std::unique_ptr<support::raw_connection>;
  subscriber listen(std::uint8_t client) {
    auto made = std::make_unique<support::raw_connection>(net::unix_endpoint{server().socket()});
    EXPECT_EQ(
        made->command({"SUBSCRIBE", channel_of(key_space{}, client_id{{client}})}).items.size(),
        3U);
    return made;
  }
  template <class Message>
  std::optional<Message> heard_a(const subscriber& on, std::uint8_t client) {
    const auto message = on->read_value();
    const auto said = read_message(key_space{}, client_id{{client}}, message.items.at(2).text);
    if (!said || !std::holds_alternative<Message>(*said)) return std::nullopt;
    return std::get<Message>(*said);
  }
  std::optional<handed_over> heard(const subscriber& on, std::uint8_t client) {
    return heard_a<handed_over>(on, client);
  }
  // That `one` is the first in the queue, and for how long another has the lock.
  milliseconds heard_first(const subscriber& on, std::uint8_t client, const claim& one) {
    const auto said = heard_a<first_in_line>(on, client);
    EXPECT_TRUE(said && said->request == one.owner.counter());
    return said ? said->owner_has : milliseconds(-1);
  }
  std::int64_t waiting() { return redis().command({"ZCARD", key.value_key() + ":w"}).number; }
  // A release gives the lock to `one`, for the time of a provisional grant. On a busy machine that
  // may have ended when we look: then nothing is seen.
  void expect_release_to(const claim& one, const claim& mine) {
    const auto before = net::now();
    EXPECT_EQ(redis().release(mine), release_verdict(released{}));
    const bool has_it = owns(one);
    EXPECT_TRUE(has_it || net::now() - before >= longest_claim);
  }
  bool owns(const claim& one) {
    return redis().get(key.value_key()).ends_with(":" + std::string{one.owner.text()});
  }
};
HOLDFAST_ON_EACH_SERVER(QueueScript);

TEST_P(QueueScript, GivesPlacesInTheOrderOfArrivalAndKeepsThem) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others);
  const auto one = must_wait(first), two = must_wait(second);
  EXPECT_EQ(one.place, 0U);
  EXPECT_EQ(two.place, 1U);
  EXPECT_LT(one.ticket, two.ticket);
  EXPECT_GT(one.remaining, milliseconds(25'000));
  EXPECT_EQ(must_wait(first).place, 0U) << "a waiter that asks again keeps its place";
  EXPECT_EQ(must_wait(second).ticket, two.ticket);
  EXPECT_EQ(waiting(), 2);
}

TEST_P(QueueScript, ReleaseMakesTheFirstTheOwnerAndTellsHim) {
  const auto channel = listen(2);
  claim mine = claims.next();
  const auto old = redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others);
  must_wait(first);
  must_wait(second);
  const auto before = redis().micros();
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  EXPECT_EQ(heard_first(channel, 2, second), longest_claim) << "is said first";
  const auto grant = heard(channel, 2);
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->request, first.owner.counter());
  EXPECT_GT(grant->major, old.major);
  EXPECT_EQ(grant->claim, longest_claim);
  EXPECT_EQ(grant->name, key.name());
  EXPECT_EQ(grant->proof, first.proof);
  EXPECT_GE(static_cast<token_major>(grant->at.time_since_epoch().count()), before);
  EXPECT_TRUE(owns(first));
  EXPECT_LE(redis().pttl(key.value_key()), longest_claim.count());
  EXPECT_EQ(waiting(), 1);
  first.granted = grant->major;
  EXPECT_EQ(redis().renew(first), renew_verdict(renewed{lease}));
  EXPECT_EQ(redis().release(first), release_verdict(released{}));
  const auto next = heard(channel, 2);
  ASSERT_TRUE(next);
  EXPECT_GT(next->major, grant->major);
  EXPECT_TRUE(owns(second));
}

TEST_P(QueueScript, SkipsThoseWhoAreGone) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claims_of dead{key, 3};
  for (int i = 0; i < 20; ++i) {
    claim gone = next_waiting(dead);
    must_wait(gone);
  }
  const auto channel = listen(2);
  claim alive = next_waiting(others);
  must_wait(alive);
  expect_release_to(alive, mine);
  EXPECT_EQ(waiting(), 0);
}

// Of whom more than one is looked at together.
TEST_P(QueueScript, SkipsThoseWhoAreGoneAmongOthers) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  const auto channel = listen(2);
  claims_of dead{key, 3};
  std::vector<claim> alive;
  for (int i = 0; i < 180; ++i) {
    const bool is_there = i == 20 || i == 150;
    claim one = next_waiting(is_there ? others : dead);
    must_wait(one);
    if (is_there) alive.push_back(one);
  }
  ASSERT_EQ(alive.size(), 2U);
  expect_release_to(alive[0], mine);
  EXPECT_EQ(heard_first(channel, 2, alive[0]), milliseconds(1000));
  EXPECT_EQ(heard_first(channel, 2, alive[1]), milliseconds(1000));
  EXPECT_EQ(waiting(), 30) << "the next is there, and those behind it have time";
}

TEST_P(QueueScript, FreesTheLockWhenNobodyIsLeft) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim gone = next_waiting(others);
  must_wait(gone);
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(key.value_key()));
  EXPECT_FALSE(redis().exists(key.value_key() + ":w"));
  EXPECT_FALSE(redis().exists(key.value_key() + ":i"));
}

TEST_P(QueueScript, LooksAtSomeOfTheDeadAtATimeAndKeepsTheLockMeanwhile) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claims_of dead{key, 3};
  for (int i = 0; i < 10'000; ++i) {
    const claim gone = dead.next();
    redis().command({"ZADD", key.value_key() + ":w", std::to_string(i),
                     std::string{gone.owner.text()} + ":o1000:-0"});
  }
  const auto channel = listen(2);
  claim alive = next_waiting(others);
  must_wait(alive);
  int calls = 1;
  while (std::holds_alternative<unfinished>(redis().release(mine))) {
    EXPECT_TRUE(owns(mine));
    EXPECT_GT(redis().pttl(key.value_key() + ":w"), 0);
    ASSERT_LE(++calls, 51);
  }
  EXPECT_EQ(calls, 51) << "200 at a time";
  EXPECT_TRUE(owns(alive));
}

TEST_P(QueueScript, HandsToAPollerWithoutAWordAndDropsASilentOne) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim silent = next_waiting(others, wakeup_way::poll), lively = next_waiting(others);
  must_wait(silent);
  lively.way = wakeup_way::poll;
  must_wait(lively);
  const auto long_ago = std::to_string(redis().micros() - 6'000'000);
  const auto place =
      std::string{silent.owner.text()}.append(place_suffix{family::mutex, silent}.text());
  redis().command({"HSET", key.value_key() + ":i", place, long_ago});
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  EXPECT_TRUE(owns(lively));
  const auto grant = std::get<granted>(redis().acquire(lively));
  EXPECT_EQ(grant.ttl, lease) << "asking makes the claim a whole lease";
}

TEST_P(QueueScript, WithdrawLeavesTheQueueOrPassesTheGrantOn) {
  const auto channel = listen(2);
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others), third = next_waiting(others);
  must_wait(first);
  must_wait(second);
  must_wait(third);
  EXPECT_EQ(redis().withdraw(second), release_verdict(not_mine{}));
  EXPECT_EQ(waiting(), 2);
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  ASSERT_TRUE(owns(first));
  EXPECT_EQ(redis().withdraw(first), release_verdict(released{})) << "it was granted unheard";
  EXPECT_TRUE(owns(third));
}

TEST_P(QueueScript, TellsWhoComesToTheFront) {
  const auto channel = listen(2);
  claim mine = claims.next();
  redis().must_acquire(mine);
  claims_of dead{key, 3};
  claim first = next_waiting(others), gone = next_waiting(dead), third = next_waiting(others);
  must_wait(first);
  must_wait(gone);
  must_wait(third);
  EXPECT_EQ(redis().withdraw(first), release_verdict(not_mine{}));
  EXPECT_GT(heard_first(channel, 2, third), milliseconds(25'000)) << "the dead are passed over";
  EXPECT_EQ(waiting(), 1);
  claim fourth = next_waiting(others);
  must_wait(fourth);
  EXPECT_EQ(redis().withdraw(fourth), release_verdict(not_mine{}));
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  EXPECT_TRUE(heard(channel, 2)) << "nothing was said when the last left";
}

TEST_P(QueueScript, GivesALockThatEndedToTheFirstWhoeverAsks) {
  const auto channel = listen(2);
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others);
  must_wait(first);
  end_the_lease();
  const auto verdict = redis().acquire(claims.next());
  ASSERT_TRUE(std::holds_alternative<busy>(verdict)) << redis().why(verdict);
  EXPECT_EQ(std::get<busy>(verdict).remaining, longest_claim);
  EXPECT_TRUE(owns(first));
}

// As when the first two are frozen, so that the one that was told to ask has not.
TEST_P(QueueScript, LetsOneThatFindsALockFreeAskNext) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  const auto channel = listen(2);
  std::vector<claim> frozen;
  for (std::uint64_t i = 0; i < 5; ++i) {
    frozen.push_back(next_waiting(others));
    EXPECT_EQ(must_wait(frozen.back()).place, i);
  }
  claim last = next_waiting(claims, wakeup_way::poll);
  EXPECT_EQ(must_wait(last).place, 5U);
  end_the_lease();
  const auto told = must_wait(last);
  EXPECT_TRUE(owns(frozen[0]));
  EXPECT_EQ(told.place, 1U);
  EXPECT_EQ(told.remaining, longest_claim);
}

// The first asks because the owner's lease has ended, and is alone.
TEST_P(QueueScript, GivesALockThatEndedToTheFirstWhenHeAsks) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others);
  must_wait(first);
  end_the_lease();
  const auto verdict = redis().acquire(first);
  ASSERT_TRUE(std::holds_alternative<granted>(verdict)) << redis().why(verdict);
  EXPECT_EQ(std::get<granted>(verdict).ttl, lease);
  EXPECT_EQ(waiting(), 0);
}

TEST_P(QueueScript, KeepsOldTicketsWhenTheQueueWasDeleted) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others);
  must_wait(first);
  must_wait(second);
  redis().command({"DEL", key.value_key() + ":w", key.value_key() + ":i"});
  claim newcomer = next_waiting(others);
  EXPECT_EQ(must_wait(newcomer).place, 0U);
  EXPECT_EQ(must_wait(second).place, 0U);
  EXPECT_EQ(must_wait(first).place, 0U);
  EXPECT_EQ(must_wait(newcomer).place, 2U);
}

TEST_P(QueueScript, RefusesMoreThanItsLimit) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others);
  first.queue_limit = second.queue_limit = 1;
  must_wait(first);
  const auto before = redis().contents();
  EXPECT_EQ(code_of(redis().acquire(second)), errc::queue_full);
  EXPECT_EQ(redis().contents(), before);
  EXPECT_EQ(must_wait(first).place, 0U);
}

TEST_P(QueueScript, CountsNobodyAgainstTheLimitOfAFreeLock) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claims_of dead{key, 3};
  claim gone = next_waiting(dead), alive = next_waiting(others);
  must_wait(gone);
  end_the_lease();
  alive.queue_limit = 1;
  redis().must_acquire(alive);
  EXPECT_EQ(waiting(), 0);
}

TEST_P(QueueScript, IsFullOfThoseWhoAreLeftWhenAFreeLockIsHandedOn) {
  const auto channel = listen(2);
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others), third = next_waiting(others);
  must_wait(first);
  must_wait(second);
  end_the_lease();
  third.queue_limit = 1;
  EXPECT_EQ(code_of(redis().acquire(third)), errc::queue_full);
  EXPECT_TRUE(owns(first));
  EXPECT_EQ(waiting(), 1);
  EXPECT_EQ(redis().command({"HLEN", key.value_key() + ":i"}).number, 1)
      << "of the one that was refused nothing is left";
}

// Where nobody may publish, a waiter that was handed the lock finds out when it asks.
TEST_P(QueueScript, ForgetsAQueueThatItMayNotServe) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others);
  must_wait(first);
  redis().command({"ACL", "SETUSER", "default", "-publish"});
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  EXPECT_EQ(waiting(), 1);
  for (const auto* which : {":w", ":i"}) EXPECT_GT(redis().pttl(key.value_key() + which), 0);
}

TEST_P(QueueScript, HandsOverWhenMemoryIsShort) {
  const auto channel = listen(2);
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others);
  must_wait(first);
  redis().command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  EXPECT_TRUE(owns(first));
}

TEST_P(QueueScript, FreesTheLockAndKeepsTheQueueWhenNoTokenCanBeDrawn) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  const auto channel = listen(2);
  claim first = next_waiting(others);
  must_wait(first);
  redis().command({"DEL", key.fence_key()});
  redis().command({"RPUSH", key.fence_key(), "x"});
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(key.value_key()));
  EXPECT_EQ(waiting(), 1);
}

// The lock is free then, and the next one would find out only by asking.
TEST_P(QueueScript, TellsTheNextWhenTheFirstIsRefusedForItsFloor) {
  const auto channel = listen(2);
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others, wakeup_way::poll), second = next_waiting(others);
  must_wait(first);
  must_wait(second);
  redis().command({"DEL", key.value_key()});
  first.floor = static_cast<token_major>(redis().micros()) + 3'600'000'000;
  EXPECT_TRUE(std::holds_alternative<refused>(redis().acquire(first)));
  EXPECT_EQ(heard_first(channel, 2, second), milliseconds(0));
  EXPECT_EQ(waiting(), 1);
}

TEST_P(QueueScript, TokensGrowOverHandOversAlsoWithoutTheCounter) {
  const auto channel = listen(2);
  claim owner = claims.next();
  token_major last = redis().must_acquire(owner).major;
  for (int i = 0; i < 50; ++i) {
    claim next = next_waiting(others);
    must_wait(next);
    if (i % 3 == 0) redis().command({"DEL", key.fence_key()});
    ASSERT_EQ(redis().release(owner), release_verdict(released{}));
    const auto grant = heard(channel, 2);
    ASSERT_TRUE(grant);
    ASSERT_GT(grant->major, last);
    last = grant->major;
    owner = next;
    owner.granted = last;
  }
}

TEST_P(QueueScript, ABrokenLockGoesToTheFirst) {
  const auto channel = listen(2);
  claim mine = claims.next();
  const auto old = redis().must_acquire(mine);
  claim first = next_waiting(others);
  must_wait(first);
  EXPECT_TRUE(std::holds_alternative<lock_broken>(redis().break_lock(key)));
  EXPECT_TRUE(owns(first));
  EXPECT_GT(heard(channel, 2)->major, old.major);
}

TEST_P(QueueScript, AsksForALockThatIsOnlyKept) {
  const auto channel = listen(1);
  claim mine = claims.next();
  mine.owner = request_id{client_id{{1}}, 77, true};
  redis().must_acquire(mine);
  claim first = next_waiting(others);
  must_wait(first);
  EXPECT_EQ(heard_a<wanted>(channel, 1), wanted{77});
  EXPECT_TRUE(std::holds_alternative<busy>(redis().acquire(others.next())));
  EXPECT_EQ(heard_a<wanted>(channel, 1), wanted{77}) << "who only tries wants it too";
}

TEST_P(QueueScript, LeavesNoPlaceBehindWhenItIsRefused) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others);
  must_wait(first);
  redis().command({"DEL", key.value_key(), key.fence_key()});
  redis().command({"RPUSH", key.fence_key(), "x"});
  EXPECT_EQ(code_of(redis().acquire(first)), errc::foreign_key);
  EXPECT_EQ(waiting(), 0);
}

TEST_P(QueueScript, ReleasesAlsoWhenSomebodyHasTakenTheQueuesKeys) {
  for (const auto* which : {":w", ":i"}) {
    claim mine = claims.next();
    redis().must_acquire(mine);
    claim first = next_waiting(others);
    must_wait(first);
    redis().command({"DEL", key.value_key() + which});
    redis().command({"SET", key.value_key() + which, "x"});
    EXPECT_EQ(redis().release(mine), release_verdict(released{})) << which;
    EXPECT_FALSE(redis().exists(key.value_key())) << which;
    EXPECT_EQ(redis().get(key.value_key() + which), "x") << "what is foreign stays";
    redis().command({"DEL", key.value_key() + which});
  }
}

TEST_P(QueueScript, GivesNoPlaceWhereSomebodyHasTakenTheKeyOfWhenWaitersAsked) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others);
  redis().command({"SET", key.value_key() + ":i", "x"});
  EXPECT_TRUE(std::holds_alternative<refused>(redis().acquire(first)));
  EXPECT_FALSE(redis().exists(key.value_key() + ":w"));
}

TEST_P(QueueScript, AnOldTicketIsNotCountedAgainstTheLimit) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others);
  must_wait(first);
  redis().command({"DEL", key.value_key() + ":w"});
  must_wait(second);
  first.queue_limit = 1;
  EXPECT_EQ(must_wait(first).place, 0U);
}

// The keys of clients that are gone end by themselves, long after the last of them asked.
TEST_P(QueueScript, EndsThreeMinutesAfterTheLastChange) {
  const auto channel = listen(2);
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others);
  const auto lasts_three_minutes = [&](const std::string& which) {
    const auto left = redis().pttl(key.value_key() + which);
    redis().command({"PEXPIRE", key.value_key() + which, "60000"});
    return left > 170'000 && left <= 180'000;
  };
  for (claim* one : {&first, &second, &first}) {  // comes, comes behind somebody, asks again
    must_wait(*one);
    EXPECT_TRUE(lasts_three_minutes(":w"));
    EXPECT_TRUE(lasts_three_minutes(":i"));
  }
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  EXPECT_TRUE(lasts_three_minutes(":w"));
}

// A ticket is a time, by which the queue is sorted.
TEST_P(QueueScript, TicketsGrowAlsoWhenTheClockWasSetBack) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others), third = next_waiting(others);
  const auto before = redis().micros();
  const auto ticket = must_wait(first).ticket;
  EXPECT_GE(ticket, before);
  EXPECT_LE(ticket, redis().micros());
  const auto later = ticket + 3'600'000'000;
  const auto queue = key.value_key() + ":w";
  const auto member = redis().command({"ZRANGE", queue, "0", "0"}).items.at(0).text;
  redis().command({"ZADD", queue, "XX", std::to_string(later), member});
  EXPECT_EQ(must_wait(second).ticket, later + 1);
  EXPECT_EQ(must_wait(third).ticket, later + 2);
  EXPECT_EQ(must_wait(third).place, 2U);
}

TEST_P(QueueScript, RemembersWhenEachAskedLast) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others);
  must_wait(first);
  must_wait(second);
  const auto before = redis().micros();
  must_wait(first);
  const auto all = redis().command({"HGETALL", key.value_key() + ":i"}).items;
  ASSERT_EQ(all.size(), 4U);
  for (std::size_t i = 0; i < all.size(); i += 2) {
    const bool is_first = all[i].text.starts_with(first.owner.text());
    EXPECT_EQ(std::stoull(all[i + 1].text) >= before, is_first);
  }
}

// The lock goes to the front, and the newcomer stands where the front has left.
TEST_P(QueueScript, GivesALockThatEndedToTheFirstAndTheAskerAPlace) {
  const auto channel = listen(2);
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim first = next_waiting(others), second = next_waiting(others), third = next_waiting(others);
  must_wait(first);
  must_wait(second);
  end_the_lease();
  third.queue_limit = 2;
  const auto place = must_wait(third);
  EXPECT_EQ(place.place, 1U);
  EXPECT_EQ(place.remaining, longest_claim);
  EXPECT_GT(place.ticket, second.ticket);
  EXPECT_TRUE(owns(first));
  EXPECT_EQ(waiting(), 2) << "the limit counts those who are left";
  // Nothing is left of those who are not in the queue.
  EXPECT_EQ(redis().command({"HLEN", key.value_key() + ":i"}).number, 2);
}

}  // namespace
}  // namespace holdfast::dialects
