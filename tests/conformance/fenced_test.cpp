// Fenced writes and the fence gate: a late holder cannot write.
#include <set>
#include <thread>
#include <vector>

#include "base/lock_key.hpp"
#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class Fenced : public mutex_test {
 protected:
  std::string get(const std::string& key) const { return server().command({"GET", key}).text; }
  // Two grants of one lock, the older one broken.
  std::pair<fencing_token, fencing_token> two_tokens() const {
    const auto slow = redis().mutex("report").acquire();
    inspector{redis()}.break_lock("report", "a test");
    const auto fast = another_client().mutex("report").acquire();
    return {slow.token(), fast.token()};
  }
};
HOLDFAST_ON_EACH_SERVER(Fenced);

TEST_P(Fenced, LateHolderIsRefused) {
  const auto [slow, fast] = two_tokens();
  EXPECT_TRUE(redis().fenced_set("report:1", "slow", slow));
  EXPECT_TRUE(redis().fenced_set("report:1", "fast", fast));
  const auto late = another_client().fenced_set("report:1", "slow again", slow);
  EXPECT_FALSE(late);
  EXPECT_EQ(late.last, fast);
  EXPECT_EQ(get("report:1"), "fast");
  EXPECT_TRUE(redis().fenced_set("report:1", "faster", fast));
  EXPECT_EQ(get("report:1"), "faster");
}

TEST_P(Fenced, AllWaysOfWritingSeeEachOther) {
  const auto [slow, fast] = two_tokens();
  EXPECT_TRUE(redis().fenced_hset("h", {{"a", "1"}, {"b", "2"}}, fast));
  EXPECT_EQ(server().command({"HGET", "h", "b"}).text, "2");
  const auto late = redis().fenced_eval("return redis.call('DEL', KEYS[1])", {"h"}, {}, slow);
  EXPECT_FALSE(late);
  EXPECT_EQ(late.last, fast);
  EXPECT_FALSE(late.value);
  EXPECT_FALSE(redis().fenced_hset("h", {{"a", "9"}}, slow));
  const auto told = redis().fenced_eval("return redis.call('HINCRBY', KEYS[1], 'a', ARGV[1])",
                                        {"h"}, {"41"}, fast);
  EXPECT_TRUE(told);
  EXPECT_EQ(told.last, fast);
  EXPECT_EQ(told.value, "42");
}

TEST_P(Fenced, BadInputIsRefused) {
  const auto fast = redis().mutex("a").acquire().token();
  const auto reason = [&](auto&& act) { return thrown_by(act).reason(); };
  EXPECT_EQ(reason([&] { (void)redis().fenced_set("a", "x", fencing_token{}); }),
            errc::unsupported);
  EXPECT_EQ(reason([&] { (void)redis().fenced_hset("a", {}, fast); }), errc::invalid_argument);
  EXPECT_EQ(reason([&] { (void)redis().fenced_eval("", {}, {}, fast); }), errc::invalid_argument);
  EXPECT_EQ(reason([&] {
              (void)redis().fenced_eval("", {"a", "b"}, {}, fast);
            }),
            errc::invalid_argument);
  EXPECT_EQ(reason([&] { (void)redis().fenced_eval("no Lua", {"a"}, {}, fast); }),
            errc::server_error);
  server().command({"RPUSH", "list", "x"});
  EXPECT_EQ(reason([&] {
              (void)redis().fenced_hset("list", {{"a", "1"}}, fast);
            }),
            errc::foreign_key);
  EXPECT_EQ(reason([&] { (void)redis().raise_floor("", fast); }), errc::invalid_name);
  EXPECT_EQ(reason([&] { (void)redis().raise_floor("a", fencing_token{}); }), errc::unsupported);
  EXPECT_EQ(server().command({"EXISTS", "a"}).number, 0);
}

TEST_P(Fenced, EachWriteCostsOneCommand) {
  const auto token = redis().mutex("a").acquire().token();
  const auto write = [&] {
    EXPECT_TRUE(redis().fenced_set("a", "x", token));
    EXPECT_TRUE(redis().fenced_hset("b", {{"f", "x"}}, token));
    EXPECT_TRUE(redis().fenced_eval("return 1", {"a"}, {}, token));
  };
  write();
  const auto lock = redis().mutex("a");
  const auto scripts = called("evalsha");
  const auto texts = called("eval");
  for (int i = 0; i < 20; ++i) write();
  EXPECT_EQ(called("evalsha") - scripts, 20 * 3);
  EXPECT_EQ(called("eval"), texts);
}

TEST_P(Fenced, OnlyTheLastTokenIsKept) {
  client_options options;
  options.connect_timeout = options.response_timeout = 300ms;
  const client quick{server().url(), options};
  EXPECT_TRUE(quick.fenced_set("a", "x", fencing_token{4096}));
  EXPECT_FALSE(quick.fenced_set("a", "x", fencing_token{4095}));
  EXPECT_TRUE(eventually([&] { return server().command({"DBSIZE"}).number == 2; }));
  const auto keys = server().command({"KEYS", "hf:*"}).items;
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_THAT(keys[0].text, ::testing::MatchesRegex("hf:fenced:\\{[0-9]+\\}:a"));
}

// After a failover to a server whose clock is behind, say: what the resource has seen counts.
// Of a lock whose hash slot has been in use for a while: its fence counter is behind the server's
// clock, so that a floor some seconds ahead of it is believed.
fencing_token seen_seconds_ahead(const lock& of) {
  constexpr std::uint64_t tokens_per_second = 2048 * 1'000'000ULL;
  return fencing_token{of.acquire().token().value() + 3 * tokens_per_second};
}

constexpr auto long_ago = "1500000000000000";
std::string fence_key(const std::string& name) { return lock_key{name}.fence_key(); }

TEST_P(Fenced, ALockIsGrantedWithATokenAboveTheFloor) {
  server().command({"SET", fence_key("a"), long_ago});
  const auto seen = seen_seconds_ahead(redis().mutex("a"));
  const auto other = another_client();
  other.raise_floor("a", seen);
  EXPECT_GT(other.mutex("a").acquire().token(), seen);
  other.raise_floor("a", fencing_token{1});
  EXPECT_GT(redis().mutex("a").acquire().token(), seen) << "for everybody, from then on";
}

// Also where the client has the lock and would pass it on, or let more readers in.
TEST_P(Fenced, NobodyIsPassedOnATokenBelowTheFloor) {
  const auto next_is_above_the_floor = [&](const lock& wanted) {
    const auto seen = seen_seconds_ahead(wanted);
    redis().raise_floor(wanted.name(), seen);
    EXPECT_GT(wanted.acquire().token(), seen);
  };
  for (const auto* name : {"a", "b"}) server().command({"SET", fence_key(name), long_ago});
  const auto kept = redis().mutex("a", {.retain = 1min});
  next_is_above_the_floor(kept);
  next_is_above_the_floor(kept);
  const auto reader = redis().read_write_lock("b").shared();
  const auto reads = reader.acquire();
  next_is_above_the_floor(reader);
}

TEST(FenceGate, RemembersTheLargestOfEachResource) {
  fence_gate gate;
  EXPECT_FALSE(gate.last("disk"));
  EXPECT_TRUE(gate.admit("disk", fencing_token{5}));
  EXPECT_TRUE(gate.admit("disk", fencing_token{5}));
  const auto late = gate.admit("disk", fencing_token{4});
  EXPECT_FALSE(late);
  EXPECT_EQ(late.last, fencing_token{5});
  const auto next = gate.admit("disk", fencing_token{9});
  EXPECT_TRUE(next);
  EXPECT_EQ(next.last, fencing_token{9});
  EXPECT_TRUE(gate.admit("tape", fencing_token{1}));
  EXPECT_EQ(gate.last("disk"), fencing_token{9});
  gate.forget("disk");
  gate.forget("none");
  EXPECT_TRUE(gate.admit("disk", fencing_token{1}));
  EXPECT_EQ(thrown_by([&] { (void)gate.admit("disk", {}); }).reason(), errc::unsupported);
}

TEST(FenceGate, OfManyThreadsTheLargestStays) {
  fence_gate gate;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t first = 1; first <= 4; ++first) {
      threads.emplace_back([&, first] {
        for (auto token = first; token <= 4000; token += 4) {
          const auto verdict = gate.admit("disk", fencing_token{token});
          EXPECT_EQ(verdict.accepted, verdict.last == fencing_token{token});
        }
      });
    }
  }
  EXPECT_EQ(gate.last("disk"), fencing_token{4000});
}

}  // namespace
}  // namespace holdfast::conformance
