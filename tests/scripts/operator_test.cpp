// What operators do: looking at locks, breaking one, finding out who is behind it.
#include "redis/dialects/holdfast/client_registry.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

class OperatorScripts : public scripts_test {};
HOLDFAST_ON_EACH_SERVER(OperatorScripts);

TEST_P(OperatorScripts, InspectAFreeLock) {
  EXPECT_EQ(redis().inspect(key), inspect_verdict(lock_free{}));
}

TEST_P(OperatorScripts, InspectAHeldLock) {
  redis().let_the_counter_begin(key);
  claim mine = claims.next();
  redis().must_acquire(mine);
  const auto before = redis().contents();
  const auto held = std::get<lock_held>(redis().inspect(key));
  EXPECT_EQ(held.major, mine.granted);
  EXPECT_EQ(held.owner, mine.owner.shortened());
  EXPECT_EQ(held.client, std::string_view{mine.owner.text()}.substr(0, 32));
  EXPECT_GT(held.ttl, milliseconds(25'000));
  EXPECT_GE(held.now, server_time(microseconds(static_cast<std::int64_t>(mine.granted))));
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(OperatorScripts, TellWhenTheFirstGrantOfASlotWasMade) {
  const server_time before{microseconds(static_cast<std::int64_t>(redis().micros()))};
  claim mine = claims.next();
  redis().must_acquire(mine);
  const auto held = std::get<lock_held>(redis().inspect(key));
  EXPECT_GT(held.major, redis().micros()) << "a counter begins ahead of the clock";
  EXPECT_EQ(held.last.major, held.major);
  EXPECT_GE(held.last.at, before);
  EXPECT_LE(held.last.at, held.now);
}

TEST_P(OperatorScripts, InspectWhatIsForeign) {
  redis().command({"SET", key.value_key(), std::string(10'000'000, 'x')});
  EXPECT_TRUE(std::holds_alternative<lock_foreign>(redis().inspect(key)));
  redis().command({"DEL", key.value_key()});
  redis().command({"ZADD", key.value_key(), "1", "a"});
  EXPECT_EQ(std::get<lock_foreign>(redis().inspect(key)).detail,
            "a zset that is not a Holdfast lock");
}

// So that a lock with very many holders keeps the server no longer than others.
TEST_P(OperatorScripts, InspectAPartOfManyHolders) {
  const auto fields_told = [&] {
    const auto reply = redis().ask([&](auto& out) { write_inspect(key, out); });
    return reply.items.at(1).items.at(2).items.size() / 2;
  };
  for (int i = 1; i <= 500; ++i) {
    redis().command({"HSET", key.value_key(), "holder " + std::to_string(i), "x"});
  }
  EXPECT_EQ(fields_told(), 500U);
  for (int i = 501; i <= 600; ++i) {  // a server tells all of 512
    redis().command({"HSET", key.value_key(), "holder " + std::to_string(i), "x"});
  }
  EXPECT_GE(fields_told(), 200U);
  EXPECT_LT(fields_told(), 400U);
}

TEST_P(OperatorScripts, BreakALockSoThatItsTokenNeverComesAgain) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  EXPECT_EQ(redis().break_lock(key),
            break_verdict(lock_broken{
                mine.granted, std::string{std::string_view{mine.owner.text()}.substr(0, 32)},
                mine.owner.shortened()}));
  EXPECT_FALSE(redis().exists(key.value_key()));
  EXPECT_EQ(redis().release(mine), release_verdict(not_mine{}));
  EXPECT_EQ(redis().renew(mine), renew_verdict(not_mine{}));
  claim next = others.next();
  EXPECT_GT(redis().must_acquire(next).major, mine.granted);
}

TEST_P(OperatorScripts, BreakRaisesALostCounterAboveTheBrokenToken) {
  // A token of the future, as after a clock that stepped back; and then the counter is lost.
  redis().let_the_counter_begin(key);
  claim mine = claims.next(lease, redis().micros() + longest_lead.count() / 2);
  redis().must_acquire(mine);
  const auto late = std::to_string(redis().micros());
  for (const std::string& content : {late, std::string{"17"}, std::string{"junk"}}) {
    redis().command({"SET", key.fence_key(), content});
    ASSERT_TRUE(std::holds_alternative<lock_broken>(redis().break_lock(key)));
    claim next = others.next();
    EXPECT_GT(redis().must_acquire(next).major, mine.granted);
    EXPECT_EQ(redis().release(next), release_verdict(released{}));
    redis().command({"SET", key.value_key(),
                     "1:" + std::to_string(mine.granted) + ":" + std::string{mine.owner.text()}});
  }
}

// The counter is that of the slot's other locks, too: one lock's damage must not spread to them.
TEST_P(OperatorScripts, BreakBelievesNoTokenThatIsFarAhead) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  claim waiter = others.next();
  waiter.waits = true;
  for (const bool waits : {false, true}) {
    ASSERT_EQ(waits, waits && std::holds_alternative<queued>(redis().acquire(waiter)));
    const auto far = std::to_string(redis().micros() + 3'600'000'000);
    redis().command({"SET", key.value_key(), "1:" + far + ":" + std::string{mine.owner.text()}});
    redis().let_the_counter_begin(key);
    const auto before = redis().get(key.fence_key());
    ASSERT_TRUE(std::holds_alternative<lock_broken>(redis().break_lock(key)));
    EXPECT_EQ(redis().get(key.fence_key()), before);
    EXPECT_FALSE(redis().exists(key.value_key()));
    redis().command(
        {"SET", key.value_key(), "1:1:" + std::string{mine.owner.text()}, "PX", "9999"});
  }
}

TEST_P(OperatorScripts, BreakALockThatWouldNeverEnd) {
  redis().command({"SET", key.value_key(), "1:0:somebody"});
  EXPECT_EQ(redis().break_lock(key), break_verdict(lock_broken{0, "", "somebody"}));
  EXPECT_EQ(redis().contents(), "");
}

// A later holder's lock, when the break was sent over a connection that has broken.
TEST_P(OperatorScripts, BreakNothingTooLate) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  EXPECT_TRUE(redis().refuses_late([&](auto when, auto& out) { write_break(key, when, out); }));
}

TEST_P(OperatorScripts, BreakNothingElse) {
  EXPECT_EQ(redis().break_lock(key), break_verdict(lock_free{}));
  redis().command({"SET", key.value_key(), "somebody"});
  EXPECT_EQ(code_of(redis().break_lock(key)), errc::foreign_key);
  EXPECT_EQ(redis().get(key.value_key()), "somebody");
  redis().command({"SET", key.value_key(), "2:17:x"});
  EXPECT_EQ(code_of(redis().break_lock(key)), errc::layout_version);
  EXPECT_EQ(redis().get(key.value_key()), "2:17:x");
  redis().command({"DEL", key.value_key()});
  redis().command({"RPUSH", key.value_key(), "a"});
  EXPECT_EQ(code_of(redis().break_lock(key)), errc::foreign_key);
  EXPECT_TRUE(redis().exists(key.value_key()));
}

TEST_P(OperatorScripts, BreakNothingWhenTheCounterIsForeign) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  redis().command({"DEL", key.fence_key()});
  redis().command({"RPUSH", key.fence_key(), "a"});
  const auto before = redis().contents();
  EXPECT_EQ(code_of(redis().break_lock(key)), errc::foreign_key);
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(OperatorScripts, RegisterAClientForAWhile) {
  const client_id client{{7}};
  client_entry entry{.host = "web1",
                     .pid = 4711,
                     .program = "shop\r\n'\"",
                     .version = "0.1.0",
                     .since = server_time(microseconds(1795240014867674))};
  const auto write = [&](milliseconds ttl) {
    return read_client_written(redis().ask([&](auto& out) {
      write_client({key_space{}, client.text()}, entry, ttl, out);
    }));
  };
  const auto read = [&] {
    return read_client(redis().ask([&](auto& out) {
      write_client_query({key_space{}, client.text()}, out);
    }));
  };
  EXPECT_EQ(read(), client_verdict(std::optional<client_entry>{}));
  EXPECT_EQ(write(milliseconds(60'000)), std::nullopt);
  EXPECT_EQ(read(), client_verdict(std::optional{entry}));
  const std::string name = "hf:client:" + std::string{client.text()};
  EXPECT_GT(redis().pttl(name), 50'000);
  entry.program = "other";
  EXPECT_EQ(write(milliseconds(20)), std::nullopt);
  EXPECT_TRUE(support::eventually([&] { return !redis().exists(name); }));
  // What others have written there is no entry, or is told in part.
  redis().command({"SET", name, "a text"});
  EXPECT_EQ(read(), client_verdict(std::optional<client_entry>{}));
  redis().command({"DEL", name});
  redis().command({"HSET", name, "host", std::string(100'000, 'x')});
  const auto told = redis().ask([&](auto& out) {
    write_client_query({key_space{}, client.text()}, out);
  });
  ASSERT_EQ(told.items.size(), 5U);
  EXPECT_EQ(told.items[0].text, std::string(129, 'x'));
  EXPECT_EQ(told.items[1].text, "");
}

TEST_P(OperatorScripts, RememberTheLastThousandBrokenLocks) {
  for (int i = 0; i < 1010; ++i) {
    const std::string reason = std::to_string(i);
    redis().ask([&](auto& out) {
      write_audit(key_space{}, {.name = "n", .owner = "o", .major = 1, .by = "b", .reason = reason},
                  out);
    });
  }
  EXPECT_EQ(redis().command({"XLEN", "hf:audit"}).number, 1000);
  const auto last = redis().command({"XREVRANGE", "hf:audit", "+", "-", "COUNT", "1"});
  EXPECT_EQ(last.items.at(0).items.at(1).items.back().text, "1009");
}

}  // namespace
}  // namespace holdfast::dialects
