// Latches: what counts, who goes on, and what is left.
#include <gmock/gmock.h>

#include "redis/dialects/holdfast/latch.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

class LatchScript : public scripts_test {
 protected:
  void SetUp() override {
    scripts_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    latch_ = std::make_unique<script_client>(server(), native_latch());
  }
  script_client& latch() { return *latch_; }

  // Each call is a request of its own, unless `id` says which.
  std::variant<latch_change, refused> change(const once_call& asked,
                                             std::optional<request_id> id = {}) {
    const request_id mine = id.value_or(claims.next().owner);
    const auto reply = latch().ask(
        [&](auto& out) { write_once(key_space{}, asked, mine, server_time{not_after()}, out); });
    const auto verdict = read_once(reply);
    if (const auto* why = std::get_if<refused>(&verdict)) return *why;
    return read_latch_change(key, std::get<once_answer>(verdict));
  }
  latch_change set(std::uint32_t count) {
    return std::get<latch_change>(change(latch_set(key, count)));
  }
  latch_change down(std::uint32_t by = 1, std::optional<request_id> id = {}) {
    return std::get<latch_change>(change(latch_count_down(key, by), id));
  }
  std::uint32_t left() {
    const auto reply = latch().ask([&](auto& out) { write_latch_query(key, out); });
    return std::get<std::uint32_t>(read_latch(key, reply));
  }

  claim waiter(wakeup_way way = wakeup_way::poll) {
    claim made = claims.next(gate_lease);
    made.waits = true;
    made.way = way;
    return made;
  }
  bool is_open_for(const claim& one) {
    return std::holds_alternative<granted>(latch().acquire(one));
  }
  bool waits(claim& one) {
    const auto verdict = latch().acquire(one);
    const auto* where = std::get_if<queued>(&verdict);
    if (where != nullptr) one.ticket = where->ticket;
    return where != nullptr;
  }
  void await(int many) {
    for (int i = 0; i < many; ++i) {
      claim one = waiter();
      ASSERT_TRUE(waits(one));
    }
  }
  std::int64_t waiting() { return latch().command({"ZCARD", key.value_key() + ":w"}).number; }

 private:
  microseconds not_after() { return microseconds(latch().micros() + 10'000'000); }

  std::unique_ptr<script_client> latch_;
};
HOLDFAST_ON_EACH_SERVER(LatchScript);

TEST_P(LatchScript, IsSetOnceAndCountedDownToZero) {
  EXPECT_EQ(left(), 0U);
  EXPECT_EQ(set(3), (latch_change{true, 3, false}));
  EXPECT_EQ(set(9), (latch_change{false, 3, false}));
  EXPECT_EQ(latch().get(key.value_key()), "1l:3");
  EXPECT_EQ(down(), (latch_change{true, 2, false}));
  EXPECT_EQ(left(), 2U);
  EXPECT_EQ(down(5), (latch_change{true, 0, false}));
  EXPECT_FALSE(latch().exists(key.value_key()));
  EXPECT_EQ(down(), (latch_change{true, 0, false})) << "not below zero";
}

TEST_P(LatchScript, CountsACopyOnce) {
  set(3);
  const request_id once = claims.next().owner;
  EXPECT_EQ(down(1, once).left, 2U);
  EXPECT_EQ(down(1, once).left, 2U);
  EXPECT_EQ(left(), 2U);
}

TEST_P(LatchScript, LetsAllWhoWaitGoOnTogether) {
  support::raw_connection ear{net::unix_endpoint{server().socket()}};
  ear.command({"SUBSCRIBE", channel_of(key_space{}, client_id{{1}})});
  set(1);
  claim a = waiter(wakeup_way::channel), b = waiter(wakeup_way::channel);
  ASSERT_TRUE(waits(a) && waits(b));
  EXPECT_FALSE(is_open_for(claims.next()));
  down();
  for (const claim* one : {&a, &b}) {
    const auto said = read_message(key_space{}, client_id{{1}}, ear.read_value().items.at(2).text);
    ASSERT_TRUE(said && std::holds_alternative<handed_over>(*said));
    EXPECT_EQ(std::get<handed_over>(*said).request, one->owner.counter());
    EXPECT_EQ(std::get<handed_over>(*said).claim, gate_lease);
  }
  EXPECT_EQ(waiting(), 0);
  EXPECT_TRUE(is_open_for(a));
}

// The message is lost, and the latch set again before the waiter asks.
TEST_P(LatchScript, RemembersForWhomItHasOpened) {
  set(1);
  claim early = waiter();
  ASSERT_TRUE(waits(early));
  down();
  set(1);
  claim late = waiter();
  ASSERT_TRUE(waits(late));
  EXPECT_TRUE(is_open_for(early));
  EXPECT_TRUE(waits(late)) << "it came after the latch was set again";
  EXPECT_GT(latch().pttl(key.value_key() + ":o"), 590'000);
}

// It opened at a time that the clock has not reached again.
TEST_P(LatchScript, LetsNobodyPassBecauseTheClockWasSetBack) {
  const auto opened = key.value_key() + ":o";
  const auto last = latch().micros() + 3'000'000;
  set(1);
  latch().command({"SET", opened, std::to_string(last)});
  claim one = waiter();
  ASSERT_TRUE(waits(one));
  EXPECT_TRUE(waits(one)) << "it has not opened since";
  down();
  EXPECT_GT(std::stoll(latch().get(opened)), last);
  set(1);
  EXPECT_TRUE(is_open_for(one)) << "it has opened since";
}

TEST_P(LatchScript, NeverOpensBeforeItLastDid) {
  const auto opened = key.value_key() + ":o";
  set(1);
  claim one = waiter();
  ASSERT_TRUE(waits(one));
  const auto last = latch().micros() + 3'000'000;
  latch().command({"SET", opened, std::to_string(last)});
  down();
  EXPECT_GT(std::stoll(latch().get(opened)), last);
}

// The clock was set back: when the latch opens, it has not reached again the time from which the
// waiter waits.
TEST_P(LatchScript, LetsOnWhoCameBeforeTheClockWasSetBack) {
  const auto since = latch().micros() + 10'000'000;
  set(1);
  claim one = waiter();
  one.ticket = static_cast<std::uint64_t>(since);
  ASSERT_TRUE(waits(one));
  EXPECT_EQ(one.ticket, since) << "it keeps it";
  down();
  set(1);
  EXPECT_TRUE(is_open_for(one));
}

TEST_P(LatchScript, IsNotSetWhenMemoryIsShort) {
  latch().command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(code_of(change(latch_set(key, 1))), errc::out_of_memory);
  latch().command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_FALSE(latch().exists(key.value_key()));
}

TEST_P(LatchScript, TellsACrowdInSeveralSteps) {
  set(1);
  await(250);
  EXPECT_EQ(down(), (latch_change{true, 0, true}));
  EXPECT_EQ(waiting(), 150);
  EXPECT_TRUE(is_open_for(waiter())) << "who asks helps";
  EXPECT_EQ(waiting(), 50);
  EXPECT_EQ(down(0), (latch_change{true, 0, false}));
  EXPECT_EQ(waiting(), 0);
}

TEST_P(LatchScript, IsNotSetAgainBeforeAllAreTold) {
  set(1);
  await(250);
  down();
  EXPECT_EQ(set(2), (latch_change{true, 0, true}));
  EXPECT_EQ(left(), 0U);
  EXPECT_EQ(set(2), (latch_change{true, 2, false}));
}

TEST_P(LatchScript, SetsByACopyNothingThatHasBeenAnswered) {
  set(1);
  await(250);
  down();
  const auto id = claims.next().owner;
  const latch_change told{true, 0, true};
  EXPECT_EQ(std::get<latch_change>(change(latch_set(key, 2), id)), told);
  down(0);
  EXPECT_EQ(std::get<latch_change>(change(latch_set(key, 2), id)), told);
  EXPECT_EQ(left(), 0U) << "nobody would count it down";
}

TEST_P(LatchScript, ForgetsWhoLeaves) {
  set(1);
  claim one = waiter();
  ASSERT_TRUE(waits(one));
  latch().withdraw(one);
  EXPECT_EQ(waiting(), 0);
  EXPECT_FALSE(latch().exists(key.value_key() + ":i"));
}

TEST_P(LatchScript, LetsOnlySoManyWait) {
  set(1);
  claim one = waiter(), another = waiter();
  another.queue_limit = 1;
  ASSERT_TRUE(waits(one));
  EXPECT_EQ(code_of(latch().acquire(another)), errc::queue_full);
}

TEST_P(LatchScript, LetsWhoWaitedBeforeComeBackToAFullQueue) {
  set(1);
  claim one = waiter(), another = waiter();
  ASSERT_TRUE(waits(one));
  latch().command({"DEL", key.value_key() + ":w"});
  ASSERT_TRUE(waits(another));
  one.queue_limit = 1;
  EXPECT_TRUE(waits(one));
}

TEST_P(LatchScript, GivesNoPlaceWhereSomebodyHasTakenTheKeyOfWhenWaitersAsked) {
  set(1);
  claim one = waiter();
  latch().command({"SET", key.value_key() + ":i", "x"});
  EXPECT_TRUE(std::holds_alternative<refused>(latch().acquire(one)));
  EXPECT_EQ(waiting(), 0);
}

TEST_P(LatchScript, RefusesWhatIsNoLatch) {
  claim lock = claims.next();
  redis().must_acquire(lock);
  const auto before = latch().contents();
  EXPECT_EQ(code_of(latch().acquire(waiter())), errc::foreign_key);
  EXPECT_EQ(code_of(change(latch_set(key, 1))), errc::foreign_key);
  EXPECT_EQ(code_of(change(latch_count_down(key, 1))), errc::foreign_key);
  EXPECT_EQ(latch().contents(), before);
  redis().release(lock);
  set(1);
  EXPECT_EQ(code_of(redis().acquire(claims.next())), errc::foreign_key);
}

// Which may not know that it was set again.
TEST_P(LatchScript, OpensForNobodyAtAReplica) {
  claim asks_once = waiter();
  asks_once.waits = false;
  EXPECT_TRUE(is_open_for(asks_once));
  latch().command({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_EQ(code_of(latch().acquire(asks_once)), errc::read_only);
  EXPECT_EQ(code_of(latch().acquire(waiter())), errc::read_only);
}

TEST_P(LatchScript, RefusesWhatComesTooLate) {
  set(1);
  EXPECT_TRUE(
      std::holds_alternative<late>(latch().acquire(waiter(), false, server_time{microseconds(1)})));
  EXPECT_EQ(waiting(), 0);
}

}  // namespace
}  // namespace holdfast::dialects
