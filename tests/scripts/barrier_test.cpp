// Barriers: who counts, who goes on, and what is left.
#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "redis/dialects/holdfast/barrier.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

using namespace std::chrono_literals;

class BarrierScript : public scripts_test {
 protected:
  void SetUp() override {
    scripts_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    barrier_ = std::make_unique<script_client>(server(), native_barrier());
  }
  script_client& barrier() { return *barrier_; }

  claim party(std::uint32_t of, wakeup_way way = wakeup_way::poll) {
    demands_.push_back(std::make_unique<demand>(demand{'b', 1, of, {}}));
    claim made = claims.next(gate_lease);
    made.wants = demands_.back().get();
    made.waits = true;
    made.way = way;
    return made;
  }
  bool waits(claim& one) {
    const auto verdict = barrier().acquire(one);
    const auto* where = std::get_if<queued>(&verdict);
    if (where != nullptr) one.ticket = where->ticket;
    return where != nullptr;
  }
  // 0: it does not go on.
  token_major generation(const claim& one) {
    const auto verdict = barrier().acquire(one);
    const auto* open = std::get_if<granted>(&verdict);
    return open != nullptr ? open->major : 0;
  }
  std::string said(const claim& one) { return script_client::why(barrier().acquire(one)); }
  std::int64_t arrived() { return barrier().command({"ZCARD", key.value_key() + ":w"}).number; }
  // Writes down that this many parties went on then.
  void went_on(int count, std::chrono::seconds ago, const std::string& name = "somebody") {
    std::vector<std::string> add{"ZADD", key.value_key() + ":g"};
    const auto at = std::to_string(barrier().micros() - microseconds{ago}.count());
    for (int i = 0; i < count; ++i) {
      add.push_back(at);
      add.push_back(i == 0 ? name : name + at + "-" + std::to_string(i));
    }
    barrier().command(add);
  }
  std::int64_t remembered() { return barrier().command({"ZCARD", key.value_key() + ":g"}).number; }
  // What is there but what is remembered, and the fence counter.
  std::size_t keys() {
    const auto found = barrier().command({"KEYS", key.value_key() + "*"}).items;
    return static_cast<std::size_t>(std::count_if(
        found.begin(), found.end(), [](const auto& one) { return !one.text.ends_with(":g"); }));
  }

 private:
  std::unique_ptr<script_client> barrier_;
  std::vector<std::unique_ptr<demand>> demands_;
};
HOLDFAST_ON_EACH_SERVER(BarrierScript);

TEST_P(BarrierScript, OpensForAllWhenTheLastArrives) {
  claim a = party(3), b = party(3), c = party(3);
  ASSERT_TRUE(waits(a) && waits(b));
  const auto first = generation(c);
  EXPECT_GT(first, 0U);
  EXPECT_EQ(generation(a), first);
  EXPECT_EQ(generation(b), first);
  EXPECT_EQ(keys(), 0U);
  EXPECT_GT(barrier().pttl(key.value_key() + ":g"), 590'000);
  claim d = party(2), e = party(2);
  ASSERT_TRUE(waits(d)) << "the next generation, of another size";
  EXPECT_GT(generation(e), first);
}

TEST_P(BarrierScript, CountsACopyOnceAlsoWhenItHasOpened) {
  claim a = party(2), b = party(2);
  ASSERT_TRUE(waits(a));
  a.ticket = 0;  // the answer was lost
  ASSERT_TRUE(waits(a));
  EXPECT_EQ(arrived(), 1);
  const auto opened = generation(b);
  a.ticket = 0;
  EXPECT_EQ(generation(a), opened);
  EXPECT_EQ(generation(b), opened);
  EXPECT_EQ(arrived(), 0);
}

// The party could not listen any more, and a late copy of an earlier request puts it there again.
TEST_P(BarrierScript, CountsOnceWhoStandsThereInTwoWays) {
  claim listener = party(3, wakeup_way::channel), b = party(3);
  support::raw_connection ear{net::unix_endpoint{server().socket()}};
  ear.command({"SUBSCRIBE", channel_of(key_space{}, client_id{{1}})});
  claim poller = listener;
  poller.way = wakeup_way::poll;
  ASSERT_TRUE(waits(poller) && waits(listener));
  listener.ticket = 0;
  EXPECT_TRUE(waits(listener)) << "a copy of its own";
  EXPECT_TRUE(waits(b));
  EXPECT_GT(generation(party(3)), 0U);
}

TEST_P(BarrierScript, TellsWhoListens) {
  support::raw_connection ear{net::unix_endpoint{server().socket()}};
  ear.command({"SUBSCRIBE", channel_of(key_space{}, client_id{{1}})});
  claim a = party(2, wakeup_way::channel), b = party(2, wakeup_way::channel);
  ASSERT_TRUE(waits(a));
  const auto opened = generation(b);
  const auto message = read_message(key_space{}, client_id{{1}}, ear.read_value().items.at(2).text);
  ASSERT_TRUE(message && std::holds_alternative<handed_over>(*message));
  EXPECT_EQ(std::get<handed_over>(*message).request, a.owner.counter());
  EXPECT_EQ(std::get<handed_over>(*message).major, opened);
}

TEST_P(BarrierScript, DoesNotCountWhoIsGone) {
  claim gone = party(2, wakeup_way::channel), silent = party(3), a = party(2), b = party(2);
  ASSERT_TRUE(waits(gone)) << "nobody listens to its channel";
  EXPECT_TRUE(waits(a)) << "it is noticed when it would be the last that is missing";
  EXPECT_EQ(arrived(), 1);
  EXPECT_GT(generation(b), 0U);
  EXPECT_THAT(said(gone), ::testing::HasSubstr("may have gone on without it"));

  ASSERT_TRUE(waits(silent));
  const std::string member =
      barrier().command({"ZRANGE", key.value_key() + ":w", "0", "0"}).items.at(0).text;
  barrier().command(
      {"HSET", key.value_key() + ":i", member, std::to_string(barrier().micros() - 6'000'000)});
  claim c = party(3), d = party(3);
  ASSERT_TRUE(waits(c));
  EXPECT_TRUE(waits(d)) << "a poller that has not asked for six seconds";
  EXPECT_TRUE(waits(d) && arrived() == 2);
}

TEST_P(BarrierScript, DropsWhatIsNoParty) {
  claim a = party(2), b = party(2);
  ASSERT_TRUE(waits(a));
  barrier().command({"ZADD", key.value_key() + ":w", "1", "somebody else"});
  EXPECT_NE(generation(b), 0U);
  EXPECT_NE(generation(a), 0U);
}

TEST_P(BarrierScript, GivesNoPlaceWhereSomebodyHasTakenTheKeyOfWhenWaitersAsked) {
  claim one = party(2);
  barrier().command({"SET", key.value_key() + ":i", "x"});
  EXPECT_TRUE(std::holds_alternative<refused>(barrier().acquire(one)));
  EXPECT_EQ(arrived(), 0);
}

TEST_P(BarrierScript, DoesNotCountWhoGivesUp) {
  claim a = party(2), b = party(2), c = party(2);
  ASSERT_TRUE(waits(a));
  EXPECT_EQ(std::get<not_mine>(barrier().withdraw(a)), not_mine{});
  EXPECT_EQ(keys(), 0U);
  ASSERT_TRUE(waits(b));
  EXPECT_GT(generation(c), 0U);
  barrier().withdraw(c);
  EXPECT_GT(generation(b), 0U) << "it has gone on, whoever leaves now";
}

TEST_P(BarrierScript, RefusesAnotherNumberOfParties) {
  claim a = party(3), b = party(2);
  ASSERT_TRUE(waits(a));
  EXPECT_EQ(code_of(barrier().acquire(b)), errc::invalid_argument);
  EXPECT_EQ(arrived(), 1);
  barrier().withdraw(a);
  EXPECT_TRUE(waits(b));
}

TEST_P(BarrierScript, ForgetsTheNumberOfTheDead) {
  claim dead = party(3, wakeup_way::channel), a = party(2);
  ASSERT_TRUE(waits(dead));
  EXPECT_TRUE(waits(a));
}

TEST_P(BarrierScript, DoesNotCountWhoDoesNotWait) {
  claim a = party(2);
  a.waits = false;
  EXPECT_TRUE(std::holds_alternative<busy>(barrier().acquire(a)));
  EXPECT_EQ(keys(), 0U);
  claim waiter = party(2), last = party(2);
  last.waits = false;
  ASSERT_TRUE(waits(waiter));
  EXPECT_GT(generation(last), 0U);
}

TEST_P(BarrierScript, ArrivesAgainWhereTheServerHasForgotten) {
  claim a = party(2), b = party(2);
  ASSERT_TRUE(waits(a));
  barrier().command({"FLUSHALL"});
  ASSERT_TRUE(waits(a));
  EXPECT_GT(generation(b), 0U);
  claim late_riser = party(2);
  late_riser.ticket = barrier().micros() - 601'000'000;
  EXPECT_EQ(code_of(barrier().acquire(late_riser)), errc::lost)
      << "the server does not remember any more whether it was let on";
}

TEST_P(BarrierScript, DrawsGenerationsAboveAllThatTheirPartiesKnow) {
  claim a = party(2), b = party(2);
  a.floor = barrier().micros() + 1'000'000;
  ASSERT_TRUE(waits(a));
  EXPECT_GT(generation(b), a.floor);
}

// A copy of what it asked comes late, by a connection that has broken: until its not-after.
TEST_P(BarrierScript, CountsACopyOnceAlsoManyGenerationsLater) {
  claim early = party(2);
  ASSERT_TRUE(waits(early));
  const auto opened = generation(party(2));
  for (int i = 0; i < 30; ++i) {
    claim a = party(2);
    ASSERT_TRUE(waits(a));
    EXPECT_GT(generation(party(2)), opened);
  }
  early.ticket = 0;
  EXPECT_EQ(generation(early), opened);
}

TEST_P(BarrierScript, RemembersABoundedNumber) {
  went_on(10'500, 1s);
  claim a = party(2);
  ASSERT_TRUE(waits(a));
  EXPECT_GT(generation(party(2)), 0U);
  EXPECT_EQ(remembered(), 10'002);
}

TEST_P(BarrierScript, ForgetsWhoWentOnMoreThanAMinuteAgo) {
  went_on(30, 61s);
  went_on(20, 30s);
  claim a = party(2);
  ASSERT_TRUE(waits(a));
  EXPECT_GT(generation(party(2)), 0U);
  EXPECT_EQ(remembered(), 22);
}

// A party that asks so late has been overtaken by others: there are more of them than parties.
TEST_P(BarrierScript, RemembersTheLastGenerationsHoweverLongAgo) {
  went_on(30, 62s);
  const claim late_riser = party(2);
  went_on(1, 61s, std::string{late_riser.owner.text()});
  for (int i = 0; i < 3; ++i) {
    claim a = party(2);
    ASSERT_TRUE(waits(a));
    EXPECT_GT(generation(party(2)), 0U);
    EXPECT_GT(generation(late_riser), 0U) << i;
  }
}

TEST_P(BarrierScript, LetsTheGreatestNumberGoOn) {
  support::raw_connection ear{net::unix_endpoint{server().socket()}};
  ear.command({"SUBSCRIBE", channel_of(key_space{}, client_id{{1}})});
  for (int i = 0; i < 999; ++i) {
    claim one = party(1000, wakeup_way::channel);
    ASSERT_TRUE(waits(one));
  }
  EXPECT_GT(generation(party(1000)), 0U);
  EXPECT_EQ(keys(), 0U);
}

TEST_P(BarrierScript, RefusesWhatIsNoBarrier) {
  claim lock = claims.next();
  redis().must_acquire(lock);
  const auto before = barrier().contents();
  EXPECT_EQ(code_of(barrier().acquire(party(2))), errc::foreign_key);
  EXPECT_EQ(barrier().contents(), before);
  redis().release(lock);
  claim a = party(2);
  ASSERT_TRUE(waits(a));
  EXPECT_EQ(code_of(redis().acquire(claims.next())), errc::foreign_key);
  EXPECT_TRUE(std::holds_alternative<late>(
      barrier().acquire(party(2), false, server_time{microseconds(1)})));
  EXPECT_EQ(arrived(), 1);
}

}  // namespace
}  // namespace holdfast::dialects
