// The scripts of counters, and what all requests that are executed once have in common.
#include "redis/dialects/holdfast/counter.hpp"
#include "lease/server_clock.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
constexpr auto largest = std::numeric_limits<std::int64_t>::max();

class CounterScripts : public scripts_test {
 protected:
  once_verdict send(const once_call& asked, const request_id& id, server_time not_after) {
    return read_once(
        redis().ask([&](auto& out) { write_once(key_space{}, asked, id, not_after, out); }));
  }
  server_time soon() {
    return server_time(microseconds(static_cast<std::int64_t>(redis().micros() + 5'000'000)));
  }
  request_id next() { return {client_, ++requests_}; }
  std::variant<counted, refused> change(const once_call& asked) {
    const auto verdict = send(asked, next(), soon());
    if (const auto* why = std::get_if<refused>(&verdict)) return *why;
    return read_counted(stock, std::get<once_answer>(verdict));
  }
  std::int64_t now_is() {
    const auto reply = redis().ask([&](auto& out) { write_counter_query(stock, out); });
    return std::get<std::int64_t>(read_counter(stock, reply));
  }
  std::variant<counted, refused> update(const std::string& body,
                                        const std::vector<std::string>& args = {}) {
    const auto script = update_script(body);
    return change(counter_update(stock, script, args));
  }
  static std::variant<counted, refused> done(std::int64_t value) { return counted{true, value}; }
  static std::variant<counted, refused> unmet(std::int64_t value) { return counted{false, value}; }

  const value_key stock{key_space{}, "counter", "stock{1}"};

 private:
  client_id client_{{3}};
  std::uint64_t requests_ = 0;
};
HOLDFAST_ON_EACH_SERVER(CounterScripts);

TEST_P(CounterScripts, AddsFromZero) {
  EXPECT_EQ(now_is(), 0);
  EXPECT_EQ(change(counter_add(stock, 5)), done(5));
  EXPECT_EQ(change(counter_add(stock, -7)), done(-2));
  EXPECT_EQ(redis().get("hf:counter:{stock%7B1%7D}"), "-2");
  EXPECT_EQ(now_is(), -2);
}

TEST_P(CounterScripts, ZeroHasNoKey) {
  for (const auto& to_zero : {counter_add(stock, -5), counter_subtract(stock, 5, 0),
                              counter_set(stock, 0), counter_compare_and_set(stock, 5, 0)}) {
    EXPECT_EQ(change(counter_set(stock, 5)), done(5));
    EXPECT_EQ(change(to_zero), done(0));
    EXPECT_FALSE(redis().exists(stock.key));
  }
  EXPECT_EQ(update("return 5"), done(5));
  EXPECT_EQ(update("return value - 5"), done(0));
  EXPECT_FALSE(redis().exists(stock.key));
}

TEST_P(CounterScripts, HasSixtyFourBits) {
  EXPECT_EQ(change(counter_set(stock, largest - 1)), done(largest - 1));
  EXPECT_EQ(change(counter_add(stock, 1)), done(largest));
  const auto before = redis().get(stock.key);
  EXPECT_EQ(code_of(change(counter_add(stock, 1))), errc::invalid_argument);
  EXPECT_EQ(redis().get(stock.key), before);
  EXPECT_EQ(change(counter_compare_and_set(stock, largest - 1, 0)), unmet(largest));
  EXPECT_EQ(change(counter_compare_and_set(stock, largest, smallest)), done(smallest));
  EXPECT_EQ(code_of(change(counter_add(stock, -1))), errc::invalid_argument);
  EXPECT_EQ(now_is(), smallest);
}

TEST_P(CounterScripts, SubtractsNotBelowABound) {
  struct row {
    std::int64_t from, n, bound;
    bool changes;
  };
  const row rows[] = {
      {10, 10, 0, true},
      {10, 11, 0, false},
      {9, 1, 0, true},
      {10, 1, 9, true},
      {9, 1, 9, false},
      {0, 0, 0, true},
      {-5, 0, -5, true},
      {-5, 1, -5, false},
      {-5, 4, -9, true},
      {-9, 1, -10, true},
      {-9, 2, -10, false},
      {5, 10, -5, true},
      {5, 11, -5, false},
      {largest, largest, 0, true},
      {largest, 1, largest, false},
      {largest, largest, largest, false},
      {largest, 0, largest, true},
      {-1, largest, smallest, true},
      {0, largest, smallest, true},
      {smallest, 0, smallest, true},
  };
  for (const auto& one : rows) {
    SCOPED_TRACE(std::to_string(one.from) + " - " + std::to_string(one.n));
    ASSERT_EQ(change(counter_set(stock, one.from)), done(one.from));
    EXPECT_EQ(change(counter_subtract(stock, one.n, one.bound)),
              one.changes ? done(one.from - one.n) : unmet(one.from));
  }
}

TEST_P(CounterScripts, ComparesAndSets) {
  EXPECT_EQ(change(counter_compare_and_set(stock, 0, 7)), done(7));
  EXPECT_EQ(change(counter_compare_and_set(stock, 0, 8)), unmet(7));
  EXPECT_EQ(change(counter_compare_and_set(stock, 7, 8)), done(8));
}

TEST_P(CounterScripts, UpdatesWithTheUsersFunction) {
  EXPECT_EQ(update("return value + ARGV[1] * ARGV[2] -- the end", {"6", "7"}), done(42));
  EXPECT_EQ(update("if value > 40 then return nil end return 1"), done(42));
  EXPECT_EQ(update(""), done(42));
  EXPECT_EQ(update("return -9007199254740991"), done(-9007199254740991));
  EXPECT_EQ(redis().get(stock.key), "-9007199254740991");
  redis().command({"SET", stock.key, "42"});
}

TEST_P(CounterScripts, UpdateThatFailsChangesNothing) {
  EXPECT_EQ(change(counter_set(stock, 5)), done(5));
  for (const char* const body :
       {"error('no')", "error({err = 'no'})", "error()", "return value.x.y", "return '7'",
        "return 1.5", "return 0/0", "return 1/0", "return 2^53 + 2", "return {}",
        "return redis.call('NO SUCH COMMAND')", "this is not Lua", "end", "#!lua\nreturn 1"}) {
    EXPECT_EQ(code_of(update(body)), errc::server_error) << body;
    EXPECT_EQ(now_is(), 5) << body;
  }
}

TEST_P(CounterScripts, CopiesAreExecutedOnce) {
  const auto script = update_script("return value + 1");
  for (const auto& asked :
       {counter_add(stock, 1), counter_subtract(stock, 1, -100), counter_set(stock, 7),
        counter_compare_and_set(stock, 1, 7), counter_update(stock, script, {})}) {
    redis().command({"SET", stock.key, "1"});
    const auto id = next();
    const auto not_after = soon();
    const auto first = std::get<once_answer>(send(asked, id, not_after));
    const auto left = redis().get(stock.key);
    redis().command({"SET", stock.key, "50"});
    const auto again = std::get<once_answer>(send(asked, id, not_after));
    EXPECT_EQ(again.word, first.word);
    EXPECT_EQ(again.rest, first.rest);
    EXPECT_EQ(redis().get(stock.key), "50");
  }
}

TEST_P(CounterScripts, RefusalIsRememberedToo) {
  const auto id = next();
  const auto not_after = soon();
  const auto asked = counter_compare_and_set(stock, 5, 6);
  EXPECT_EQ(std::get<once_answer>(send(asked, id, not_after)).word, "no");
  redis().command({"SET", stock.key, "5"});
  EXPECT_EQ(std::get<once_answer>(send(asked, id, not_after)).word, "no");
  EXPECT_EQ(now_is(), 5);
}

TEST_P(CounterScripts, NothingIsDoneAfterNotAfter) {
  redis().command({"SET", stock.key, "5"});
  const auto before = redis().contents();
  const server_time past{microseconds(static_cast<std::int64_t>(redis().micros() - 1))};
  const auto script = update_script("return value + 1");
  for (const auto& asked : {counter_add(stock, 1), counter_update(stock, script, {})}) {
    const auto verdict = send(asked, next(), past);
    ASSERT_TRUE(std::holds_alternative<late>(verdict));
    EXPECT_GT(std::get<late>(verdict).now, past);
  }
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(CounterScripts, WhoDoesNotKnowTheTimeIsToldIt) {
  const auto before = redis().contents();
  const auto began = redis().micros();
  const auto verdict = send(counter_add(stock, 1), next(), leasing::far_future);
  ASSERT_TRUE(std::holds_alternative<late>(verdict));
  EXPECT_GE(std::get<late>(verdict).now, server_time{microseconds(std::int64_t(began))});
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(CounterScripts, AnswersAreForgottenASecondAfterNotAfter) {
  const auto id = next();
  const auto not_after = soon();
  ASSERT_TRUE(std::holds_alternative<once_answer>(send(counter_add(stock, 1), id, not_after)));
  const auto told = "hf:once:{" + slot_tag(stock.slot) + "}:" + once_id{id}.text();
  EXPECT_EQ(hash_slot(told), hash_slot(stock.key));
  EXPECT_EQ(redis().get(told), "ok 1");
  const auto expires = redis().command({"PEXPIRETIME", told});
  if (expires.is(resp::type::integer)) {  // Redis 7
    EXPECT_EQ(expires.number, not_after.time_since_epoch().count() / 1000 + 1000);
  }
  EXPECT_LE(redis().pttl(told), 6000);
  EXPECT_GT(redis().pttl(told), 1000);
}

// Lua's numbers are doubles: the function would see another number, and write that.
TEST_P(CounterScripts, AnUpdateNeverRoundsANumber) {
  for (const std::string text : {"9007199254740992", "9007199254740993", "-9007199254740992",
                                 "1152921504606846977", "9223372036854775807"}) {
    redis().command({"SET", stock.key, text});
    for (const std::string body : {"return value - 1152921504606846976", "return 1", "return 0"}) {
      EXPECT_EQ(code_of(update(body)), errc::server_error) << text;
      EXPECT_EQ(redis().get(stock.key), text);
    }
  }
  redis().command({"SET", stock.key, "9007199254740991"});
  for (const std::string more : {"1", "2", "9007199254740991"}) {
    EXPECT_EQ(code_of(update("return value + " + more)), errc::server_error) << more;
    EXPECT_EQ(redis().get(stock.key), "9007199254740991");
  }
  EXPECT_TRUE(std::holds_alternative<counted>(update("return value - 1")));
  EXPECT_EQ(redis().get(stock.key), "9007199254740990");
}

TEST_P(CounterScripts, ForeignKeysAreRefusedAndUntouched) {
  const auto script = update_script("return 1");
  const auto refuse_all = [&] {
    const auto before = redis().contents();
    for (const auto& asked :
         {counter_add(stock, 1), counter_subtract(stock, 1, 0), counter_set(stock, 7),
          counter_compare_and_set(stock, 0, 7), counter_update(stock, script, {})}) {
      EXPECT_EQ(code_of(change(asked)), errc::foreign_key);
    }
    const auto reply = redis().ask([&](auto& out) { write_counter_query(stock, out); });
    EXPECT_EQ(code_of(read_counter(stock, reply)), errc::foreign_key);
    EXPECT_EQ(redis().contents(), before);
  };
  for (const char* const text :
       {"", "x", "1x", "007", "01", "-0", "+1", " 1", "1.5", "1e3", "9223372036854775808",
        "-9223372036854775809", "99999999999999999999"}) {
    redis().command({"SET", stock.key, text});
    refuse_all();
  }
  redis().command({"DEL", stock.key});
  redis().command({"RPUSH", stock.key, "1"});
  refuse_all();
}

TEST_P(CounterScripts, NothingIsDoneWhenMemoryIsShort) {
  redis().command({"SET", stock.key, "5"});
  const auto before = redis().contents();
  redis().command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(code_of(change(counter_add(stock, 1))), errc::out_of_memory);
  EXPECT_EQ(code_of(change(counter_set(stock, 1))), errc::out_of_memory);
  EXPECT_EQ(code_of(update("return 7")), errc::out_of_memory);
  redis().command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(CounterScripts, AForeignAnswerIsRefused) {
  const auto id = next();
  const auto told = "hf:once:{" + slot_tag(stock.slot) + "}:" + once_id{id}.text();
  redis().command({"RPUSH", told, "x"});
  const auto verdict = send(counter_add(stock, 1), id, soon());
  EXPECT_EQ(code_of(verdict), errc::foreign_key);
  EXPECT_FALSE(redis().exists(stock.key));
}

}  // namespace
}  // namespace holdfast::dialects
