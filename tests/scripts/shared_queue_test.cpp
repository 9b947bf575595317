// Locks that several may hold: whoever is in front of the queue and cannot come in keeps those
// behind it waiting no longer than it takes to see that it does not live.
#include <gmock/gmock.h>

#include <string>

#include "redis/dialects/holdfast/shared_lock.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "scripts/shared_script.hpp"

namespace holdfast::dialects {
namespace {

class SharedQueue : public shared_script_test {
 protected:
  // All of this client's messages, and those of the client that is frozen.
  void SetUp() override {
    shared_script_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (const std::uint8_t client : {1, 2}) {
      ears_.push_back(
          std::make_unique<support::raw_connection>(net::unix_endpoint{server().socket()}));
      ears_.back()->command({"SUBSCRIBE", channel_of(key_space{}, client_id{{client}})});
    }
  }
  // A claim of a client that listens and never asks by itself.
  claim frozen(claim one, milliseconds how_long = milliseconds{500}) {
    one.owner = request_id{client_id{{2}}, one.owner.counter()};
    one.lease = how_long;
    return waiting(one, wakeup_way::channel);
  }
  std::string heard_by_the_frozen() { return ears_[1]->read_value().items.at(2).text; }
  // Nothing: what it hears is none.
  std::optional<handed_over> grant_to_the_frozen() {
    const auto said = read_message(key_space{}, client_id{{2}}, heard_by_the_frozen());
    const auto* const grant = said ? std::get_if<handed_over>(&*said) : nullptr;
    return grant != nullptr ? std::optional{*grant} : std::nullopt;
  }
  std::string heard() { return ears_[0]->read_value().items.at(2).text; }
  static std::string next(const claim& one, const std::string& time) {
    return "next " + std::string{one.owner.text()} + " " + time;
  }
  bool is_queued(const claim& one) {
    const auto all = shared().command({"ZRANGE", key.value_key() + ":w", "0", "-1"});
    for (const auto& each : all.items) {
      if (each.text.starts_with(std::string{one.owner.text()} + ":")) return true;
    }
    return false;
  }
  // What stands at the server of when the one at this place asked last.
  void set_asked(std::uint64_t place, const std::string& what) {
    const auto rank = std::to_string(place);
    const auto who = shared().command({"ZRANGE", key.value_key() + ":w", rank, rank});
    shared().command({"HSET", key.value_key() + ":i", who.items.at(0).text, what});
  }
  void set_permits(std::uint32_t count) {
    const auto reply = shared().ask([&](auto& out) { write_set_permits(key, count, never, out); });
    EXPECT_TRUE(std::get<bool>(read_permits_set(key, reply)));
  }
  // So many hold it until then, and somebody looks whether a lease has ended.
  void set_readers(int count, std::uint64_t until_ms) {
    const auto passed = std::to_string(redis().micros() / 1000 - 1);
    std::vector<std::string> words{
        "HSET", key.value_key(), "=",
        "1m:" + passed + ":99999999999999:0:0:0:" + std::to_string(count) + ":0:0:0:0"};
    for (int i = 0; i < count; ++i) {
      words.push_back(std::string{request_id{client_id{{9}}, std::uint64_t(i + 1)}.text()});
      words.push_back("r1:" + std::to_string(1000 + i) + ":" + std::to_string(until_ms));
    }
    shared().command(words);
    shared().command({"PEXPIREAT", key.value_key(), "99999999999999"});
  }
  // Until the server's clock has gone on by this.
  void outlast(milliseconds time) {
    const auto ends = redis().micros() + microseconds{time}.count() + 2'000;
    while (redis().micros() < ends) continue;
  }

 private:
  std::vector<std::unique_ptr<support::raw_connection>> ears_;
};
HOLDFAST_ON_EACH_SERVER(SharedQueue);

// It is asked to prove that it lives, has the time of a provisional grant for that, and is passed.
TEST_P(SharedQueue, PassesAWaiterThatDoesNotAnswer) {
  claim reader = in_mode('r'), writer = frozen(in_mode('x')), next_one = waiting(in_mode('r'));
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(writer), 0U);
  const auto told = shared().acquire(next_one);
  ASSERT_TRUE(std::holds_alternative<queued>(told));
  EXPECT_LE(std::get<queued>(told).remaining, writer.lease) << "it asks again then";
  EXPECT_EQ(heard_by_the_frozen(), next(writer, "0"));
  EXPECT_FALSE(granted_to(next_one)) << "its time is not over";
  outlast(writer.lease);
  EXPECT_TRUE(granted_to(next_one));
}

TEST_P(SharedQueue, LetsAWaiterThatThawsComeBackToItsPlace) {
  claim reader = in_mode('r'), writer = frozen(in_mode('x')), next_one = waiting(in_mode('r'));
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(writer), 0U);
  ASSERT_TRUE(place_of(next_one));
  outlast(writer.lease);
  ASSERT_TRUE(granted_to(next_one));
  claim third = waiting(in_mode('x'));
  ASSERT_EQ(place_of(third), 0U);
  EXPECT_EQ(place_of(writer), 0U);
  EXPECT_EQ(place_of(third), 1U);
}

TEST_P(SharedQueue, DoesNotPassAWaiterThatAnswers) {
  claim reader = in_mode('r'), writer = frozen(in_mode('x')), next_one = waiting(in_mode('r'));
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(writer), 0U);
  ASSERT_TRUE(place_of(next_one));
  outlast(writer.lease);
  ASSERT_EQ(place_of(writer), 0U);
  EXPECT_EQ(place_of(next_one), 1U);
  outlast(writer.lease);
  ASSERT_EQ(place_of(writer), 0U);
  EXPECT_EQ(place_of(next_one), 1U);
}

TEST_P(SharedQueue, PassesEachOfSeveralAfterItsOwnTime) {
  claim reader = in_mode('r'), one = frozen(in_mode('x'), milliseconds{200}),
        two = frozen(in_mode('x'), milliseconds{200}), next_one = waiting(in_mode('r'));
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(one), 0U);
  ASSERT_EQ(place_of(two), 1U);
  ASSERT_TRUE(place_of(next_one));
  outlast(one.lease);
  ASSERT_EQ(place_of(next_one), 1U) << "the second has its time, too";
  outlast(two.lease);
  EXPECT_TRUE(granted_to(next_one));
}

// Several of one process freeze together, so after the first all must prove at once that they live.
TEST_P(SharedQueue, PassesManyThatDoNotAnswerInAFewOfTheirTimes) {
  claim reader = in_mode('r'), next_one = waiting(in_mode('r'));
  ASSERT_TRUE(granted_to(reader));
  std::vector<claim> writers;
  for (std::uint64_t i = 0; i < 40; ++i) {
    writers.push_back(frozen(in_mode('x'), milliseconds{200}));
    ASSERT_EQ(place_of(writers.back()), i);
  }
  ASSERT_EQ(place_of(next_one), 40U);
  int rounds = 0;
  while (!granted_to(next_one)) {
    ASSERT_LE(++rounds, 4);
    outlast(milliseconds{200});
    auto answer = shared().acquire(next_one);
    while (std::holds_alternative<unfinished>(answer)) answer = shared().acquire(next_one);
    if (const auto* const where = std::get_if<queued>(&answer)) {
      EXPECT_EQ(where->place, 1U) << "it leaves nobody who is silent time to ask first";
    }
  }
}

// Those that fit may be frozen, too: each of them is told, and leaves those before it time to ask.
TEST_P(SharedQueue, TellsEachThatFitsWhenToAsk) {
  claim writer = in_mode('p'), null = in_mode('c'), first = frozen(in_mode('x')),
        second = waiting(in_mode('r'), wakeup_way::channel),
        third = waiting(in_mode('r'), wakeup_way::channel);
  ASSERT_TRUE(granted_to(writer) && granted_to(null));
  ASSERT_EQ(place_of(first), 0U);
  ASSERT_EQ(place_of(second), 1U);
  ASSERT_EQ(place_of(third), 2U);
  shared().release(writer);
  EXPECT_EQ(heard(), next(second, "500"));
  EXPECT_EQ(heard(), next(third, "520"));
}

// One that is too far back to be seen asks by itself, and need not wait once more then.
TEST_P(SharedQueue, AsksForTheProofWhereManyWaitBehind) {
  claim writer = in_mode('p'), null = in_mode('c');
  ASSERT_TRUE(granted_to(writer) && granted_to(null));
  std::vector<claim> writers;
  for (std::uint64_t i = 0; i < 20; ++i) {
    writers.push_back(frozen(in_mode('x')));
    ASSERT_EQ(place_of(writers.back()), i);
  }
  claim last = waiting(in_mode('r'));
  ASSERT_EQ(place_of(last), 20U);
  shared().release(writer);
  EXPECT_EQ(heard_by_the_frozen(), next(writers[0], "0"));
  outlast(writers[0].lease);
  EXPECT_EQ(place_of(last), 1U) << "the first has had its time";
}

// Otherwise those behind it would wait twice for one that is frozen: until its time to prove that
// it lives is over, and until its provisional grant is, if it fits meanwhile.
TEST_P(SharedQueue, GrantsAWaiterThatDoesNotAnswerWhatIsLeftOfItsTime) {
  claim reader = in_mode('r'), writer = frozen(in_mode('x')), next_one = waiting(in_mode('r'));
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(writer), 0U);
  ASSERT_EQ(place_of(next_one), 1U);
  const auto asked_at = redis().micros();
  outlast(milliseconds{200});
  shared().release(reader);
  ASSERT_TRUE(holds(writer));
  EXPECT_EQ(heard_by_the_frozen(), next(writer, "0"));
  const auto told = grant_to_the_frozen();
  ASSERT_TRUE(told);
  EXPECT_LE(told->claim, milliseconds{300});
  while (redis().micros() < asked_at + microseconds{writer.lease}.count() + 2'000) continue;
  EXPECT_TRUE(granted_to(next_one));
}

TEST_P(SharedQueue, GrantsNothingToAWaiterWhoseTimeIsOverWhileAnotherFits) {
  for (const auto way : {wakeup_way::channel, wakeup_way::poll}) {
    claim reader = in_mode('r'), next_one = waiting(in_mode('r')),
          writer = way == wakeup_way::poll ? waiting(in_mode('x')) : frozen(in_mode('x'));
    ASSERT_TRUE(granted_to(reader));
    ASSERT_EQ(place_of(writer), 0U);
    ASSERT_EQ(place_of(next_one), 1U);
    outlast(way == wakeup_way::poll ? longest_claim : writer.lease);
    if (way == wakeup_way::poll) set_asked(1, std::to_string(redis().micros()));
    shared().release(reader);
    EXPECT_FALSE(holds(writer) || is_queued(writer));
    EXPECT_TRUE(holds(next_one));
    next_one.granted = 0;
    ASSERT_TRUE(granted_to(next_one));
    shared().release(next_one);
  }
}

TEST_P(SharedQueue, GrantsTheWholeTimeToAWaiterThatNobodyWaitsBehind) {
  claim reader = in_mode('r'), writer = frozen(in_mode('x')), once = in_mode('r');
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(writer), 0U);
  ASSERT_FALSE(granted_to(once)) << "and the writer is asked to prove that it lives";
  outlast(writer.lease);
  shared().release(reader);
  ASSERT_TRUE(holds(writer));
  EXPECT_EQ(heard_by_the_frozen(), next(writer, "0"));
  const auto told = grant_to_the_frozen();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->claim, writer.lease);
}

TEST_P(SharedQueue, PassesAPollerThatIsSilent) {
  claim reader = in_mode('r'), writer = waiting(in_mode('x')), next_one = waiting(in_mode('r'));
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(writer), 0U);
  EXPECT_EQ(place_of(next_one), 1U);
  outlast(longest_claim);
  EXPECT_TRUE(granted_to(next_one));
}

// A request that asks once would be refused for as long as there is a waiter. The server's clock
// was set back after the poller asked, so its question seems to come yet.
TEST_P(SharedQueue, PassesAPollerThatAskedInATimeToCome) {
  claim reader = in_mode('r'), writer = waiting(in_mode('x')), next_one = waiting(in_mode('r'));
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(writer), 0U);
  set_asked(0, std::to_string(redis().micros() + 60'000'000));
  EXPECT_EQ(place_of(next_one), 1U);
  outlast(milliseconds{1000});
  EXPECT_TRUE(granted_to(next_one));
}

TEST_P(SharedQueue, PassesAWaiterThatWasToldInATimeToCome) {
  claim reader = in_mode('r'), writer = frozen(in_mode('x')), next_one = waiting(in_mode('r'));
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(writer), 0U);
  const auto asked = redis().micros();
  set_asked(0, std::to_string(asked) + ":" + std::to_string(asked + 60'000'000));
  EXPECT_EQ(place_of(next_one), 1U);
  outlast(writer.lease);
  EXPECT_TRUE(granted_to(next_one));
}

TEST_P(SharedQueue, LetsOneThatAsksOncePassAsWell) {
  claim reader = in_mode('r'), writer = frozen(in_mode('x')), once = in_mode('r');
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(writer), 0U);
  ASSERT_FALSE(granted_to(once));
  outlast(writer.lease);
  while (std::holds_alternative<unfinished>(shared().acquire(once))) continue;
  EXPECT_TRUE(granted_to(once));
}

TEST_P(SharedQueue, AsksForTheProofAlsoWhenSomethingIsGivenBack) {
  claim writer = in_mode('p'), null = in_mode('c'), first = frozen(in_mode('x')),
        second = waiting(in_mode('r'), wakeup_way::channel);
  ASSERT_TRUE(granted_to(writer) && granted_to(null));
  ASSERT_EQ(place_of(first), 0U);
  ASSERT_EQ(place_of(second), 1U);
  shared().release(writer);
  EXPECT_EQ(heard_by_the_frozen(), next(first, "0"));
  EXPECT_EQ(heard(), next(second, "500"));
  outlast(first.lease);
  EXPECT_TRUE(granted_to(second));
}

// When waiters asked is lost, as where a server evicts it, and is begun anew where one is told to
// ask.
TEST_P(SharedQueue, LeavesNothingForEverWhereItIsNotKnownWhenWaitersAsked) {
  claim writer = in_mode('p'), null = in_mode('c'), first = frozen(in_mode('x')),
        second = waiting(in_mode('r'), wakeup_way::channel);
  ASSERT_TRUE(granted_to(writer) && granted_to(null));
  ASSERT_EQ(place_of(first), 0U);
  ASSERT_EQ(place_of(second), 1U);
  shared().command({"DEL", key.value_key() + ":i"});
  shared().release(writer);
  EXPECT_EQ(heard_by_the_frozen(), next(first, "0"));
  EXPECT_GT(redis().pttl(key.value_key() + ":i"), 0);
}

TEST_P(SharedQueue, GivesNoPlaceWhereSomebodyHasTakenTheKeyOfWhenWaitersAsked) {
  claim reader = in_mode('r'), writer = waiting(in_mode('x'));
  ASSERT_TRUE(granted_to(reader));
  shared().command({"SET", key.value_key() + ":i", "x"});
  EXPECT_TRUE(std::holds_alternative<refused>(shared().acquire(writer)));
  EXPECT_FALSE(redis().exists(key.value_key() + ":w"));
}

TEST_P(SharedQueue, BlocksNobodyByOneThatWantsMorePermitsThanThereAre) {
  claim held = permits(3, 3), greedy = waiting(permits(3, 3)), modest = waiting(permits(1, 3));
  ASSERT_TRUE(granted_to(held));
  ASSERT_EQ(place_of(greedy), 0U);
  ASSERT_EQ(place_of(modest), 1U);
  set_permits(1);
  shared().release(held);
  EXPECT_TRUE(holds(modest));
  EXPECT_EQ(code_of(shared().acquire(greedy)), errc::invalid_argument);
  EXPECT_FALSE(is_queued(greedy));
}

TEST_P(SharedQueue, TellsOneThatWantsMoreThanThereAreToAsk) {
  claim held = permits(3, 3), greedy = frozen(permits(3, 3));
  ASSERT_TRUE(granted_to(held));
  ASSERT_EQ(place_of(greedy), 0U);
  set_permits(1);
  EXPECT_EQ(heard_by_the_frozen(), next(greedy, "0"));
  EXPECT_FALSE(is_queued(greedy));
}

TEST_P(SharedQueue, TellsPollersThatAreInFrontNothing) {
  claim held = permits(3, 3), greedy = waiting(permits(3, 3)),
        second = waiting(permits(2, 3), wakeup_way::channel);
  ASSERT_TRUE(granted_to(held));
  ASSERT_EQ(place_of(greedy), 0U);
  ASSERT_EQ(place_of(second), 1U);
  set_permits(2);
  EXPECT_TRUE(heard().starts_with("next " + std::string{second.owner.text()}));
}

// The one behind a waiter that is refused would find out only by asking.
TEST_P(SharedQueue, TellsTheNextWhenTheFirstIsRefusedForItsFloor) {
  claim held = in_mode('x'), first = waiting(in_mode('x')),
        second = waiting(in_mode('x'), wakeup_way::channel);
  ASSERT_TRUE(granted_to(held));
  ASSERT_EQ(place_of(first), 0U);
  ASSERT_EQ(place_of(second), 1U);
  shared().command({"DEL", key.value_key()});
  first.floor = static_cast<token_major>(redis().micros()) + 3'600'000'000;
  EXPECT_TRUE(std::holds_alternative<refused>(shared().acquire(first)));
  EXPECT_EQ(heard(), next(second, "0"));
  EXPECT_FALSE(is_queued(first));
}

// As when the refused one was not the first, but the first has left the queue meanwhile.
TEST_P(SharedQueue, TellsTheNextWhenTheOneThatPassedAnotherIsRefused) {
  claim held = permits(2, 2), greedy = waiting(permits(2, 2)), refused_one = waiting(permits(1, 2)),
        second = waiting(permits(1, 2), wakeup_way::channel);
  ASSERT_TRUE(granted_to(held));
  ASSERT_EQ(place_of(greedy), 0U);
  ASSERT_EQ(place_of(refused_one), 1U);
  ASSERT_EQ(place_of(second), 2U);
  set_permits(1);
  shared().command({"DEL", key.value_key()});
  refused_one.floor = static_cast<token_major>(redis().micros()) + 3'600'000'000;
  EXPECT_TRUE(std::holds_alternative<refused>(shared().acquire(refused_one)));
  EXPECT_EQ(heard(), next(second, "0"));
}

// As after a failover, when most clients have not connected again: nobody asks for them. The one
// that asked has been granted the lock, or is an operator, and does not go on to look.
TEST_P(SharedQueue, TellsTheFirstWhereItStopsLooking) {
  claim writer = in_mode('x'), next_one = frozen(in_mode('x'));
  ASSERT_TRUE(granted_to(writer));
  ASSERT_EQ(place_of(next_one), 0U);
  for (std::uint64_t i = 1; i <= 35; ++i) {
    const std::string gone{request_id{client_id{{9}}, i}.text()};
    shared().command({"ZADD", key.value_key() + ":w", std::to_string(i), gone + ":r1/0::250:-1"});
    shared().command(
        {"HSET", key.value_key() + ":i", gone + ":r1/0::250:-1", std::to_string(redis().micros())});
  }
  shared().ask([&](auto& out) { write_break_shared(key, never, out); });
  EXPECT_EQ(heard_by_the_frozen(), next(next_one, "20"));
  EXPECT_EQ(place_of(next_one), std::nullopt) << "it has the lock";
}

// A waiter that was further behind asks less often than the first must.
TEST_P(SharedQueue, TellsTheNextWhereItPassesTheFirstAndCanDrawNoToken) {
  for (const bool breaks : {false, true}) {
    claim reader = in_mode('r'), writer = waiting(in_mode('x')),
          next_one = waiting(in_mode('r'), wakeup_way::channel);
    ASSERT_TRUE(granted_to(reader));
    ASSERT_EQ(place_of(writer), 0U);
    ASSERT_EQ(place_of(next_one), 1U);
    outlast(longest_claim);
    set_asked(1, std::to_string(redis().micros()));
    shared().command({"DEL", key.fence_key()});
    shared().command({"HSET", key.fence_key(), "not", "a counter"});
    if (breaks) {
      shared().ask([&](auto& out) { write_break_shared(key, never, out); });
    } else {
      shared().release(reader);
    }
    EXPECT_EQ(heard(), next(next_one, "20"));
    EXPECT_FALSE(is_queued(writer));
    EXPECT_TRUE(is_queued(next_one));
    shared().command({"DEL", key.fence_key()});
    ASSERT_TRUE(granted_to(next_one));
    shared().release(next_one);
  }
}

// ---- many holders

// Each script looks at a page, and whoever asks goes on until all have been looked at.
TEST_P(SharedQueue, ForgetsManyWhoseLeasesHaveEndedAPageAtATime) {
  constexpr int holders = 2'000;
  set_readers(holders, redis().micros() / 1000 - 1);
  claim writer = in_mode('x');
  int tries = 1;
  while (std::holds_alternative<unfinished>(shared().acquire(writer))) {
    ++tries;
    ASSERT_LE(tries, holders);
  }
  EXPECT_GT(tries, 4);
  EXPECT_TRUE(granted_to(writer));
  EXPECT_EQ(shared().command({"HLEN", key.value_key()}).number, 2);
}

// An operator is told how many they were, and who up to a hundred were, or some of more.
TEST_P(SharedQueue, TellsThatManyHoldersWereBrokenAndWhoSomeWere) {
  // Small hashes are read as a whole.
  const std::string small = "hash-max-ziplist-entries";
  const auto usual = shared().command({"CONFIG", "GET", small}).items.at(1).text;
  shared().command({"CONFIG", "SET", small, "0"});
  for (const int holders : {100, 2'000}) {
    set_readers(holders, redis().micros() / 1000 + lease.count());
    const auto said = shared().ask([&](auto& out) { write_break_shared(key, never, out); });
    ASSERT_EQ(said.items.size(), 3U);
    EXPECT_EQ(said.items[1].number, holders);
    const auto told = said.items[2].items.size() / 2;
    EXPECT_GE(told, holders == 100 ? 100U : 50U);
    EXPECT_LT(told, 1'000U);
    EXPECT_EQ(shared().command({"EXISTS", key.value_key()}).number, 0);
  }
  shared().command({"CONFIG", "SET", small, usual});
}

// Otherwise the waiter would be told of no lease that ends, and ask late.
TEST_P(SharedQueue, LooksOnceMoreWhereOneThatWasSeenHasEndedMeanwhile) {
  set_readers(600, redis().micros() / 1000 + brief_lease.count());
  claim writer = waiting(in_mode('x'));
  ASSERT_TRUE(std::holds_alternative<unfinished>(shared().acquire(writer)));
  const auto all = shared().command({"HGET", key.value_key(), "="}).text;
  EXPECT_TRUE(all.starts_with("1m:1:"))
      << "a time that has passed whatever the clock says: " << all;
  outlive_brief_leases();
  auto answer = shared().acquire(writer);
  while (std::holds_alternative<unfinished>(answer)) answer = shared().acquire(writer);
  EXPECT_TRUE(std::holds_alternative<granted>(answer));
}

TEST_P(SharedQueue, KeepsCountingThoseThatAreRenewedAmongMany) {
  claim first = in_mode('r');
  first.lease = brief_lease;
  ASSERT_TRUE(granted_to(first));
  std::vector<claim> staying;
  for (int i = 0; i < 600; ++i) {
    staying.push_back(in_mode('r'));
    ASSERT_TRUE(granted_to(staying.back()));
  }
  outlive_brief_leases();
  claim writer = in_mode('x');
  while (std::holds_alternative<unfinished>(shared().acquire(writer))) {
    EXPECT_EQ(std::get<renewed>(shared().renew(staying[7])).ttl, lease);
  }
  EXPECT_FALSE(granted_to(writer));
  EXPECT_EQ(shared().command({"HEXISTS", key.value_key(), ">"}).number, 0) << "all were looked at";
  for (const auto& one : staying) shared().release(one);
  EXPECT_TRUE(granted_to(writer));
}

}  // namespace
}  // namespace holdfast::dialects
