// The simulated server answers as real ones do.
#include "simulation/server/simulated_server.hpp"

#include <gtest/gtest.h>

#include "simulation/server/two_servers.hpp"

namespace holdfast::simulation {
namespace {

using resp::type;
using std::chrono::milliseconds;

class SimulatedServerAndReal : public two_servers {
 protected:
  std::vector<std::string> any_command() {
    const auto key = pick({"text", "set", "hash", "other"});
    const auto member = pick({"a", "b", "c"});
    const auto score = pick({"1", "2", "1700000000000001", "-3.5"});
    const std::vector<std::vector<std::string>> all = {
        {"EXISTS", key, "text"},
        {"GET", key},
        {"MGET", key, "text", "missing"},
        {"MSET", key, member, "other", "1"},
        {"SET", key, member},
        {"DEL", key},
        {"SET", key, member, "NX", "PX", "90000000"},
        {"SET", key, "x", "GET"},
        {"SET", key, member, "XX"},
        {"SET", key, member, "PXAT", "90000000000000"},
        {"SET", key, pick({"41", "-9223372036854775807", "9223372036854775807"}), "KEEPTTL"},
        {"INCRBY", key, score},
        {"INCRBY", key, "-2"},
        {"SET", key, member, "PX", "700"},
        {"TIME"},
        {"PTTL", key},
        {"PTTL", "missing"},
        {"PEXPIRE", key, "800"},
        {"PEXPIRE", key, "0"},
        {"PEXPIRE", "missing", "5"},
        {"PEXPIREAT", key, "1"},
        {"PEXPIREAT", key, "90000000000000"},
        {"TYPE", key},
        {"ZADD", key, score, member},
        {"ZADD", key, score, member},
        {"ZREM", key, member, "b"},
        {"ZRANK", key, member},
        {"ZSCORE", key, member},
        {"ZCARD", key},
        {"ZCOUNT", key, "-inf", "1"},
        {"ZPOPMIN", key},
        {"ZPOPMIN", key, "2"},
        {"ZRANGE", key, "0", "-1", "WITHSCORES"},
        {"ZRANGE", key, "-1", "-1"},
        {"ZRANGEBYSCORE", key, "-inf", "1"},
        {"ZRANGEBYSCORE", key, "-inf", "1", "WITHSCORES"},
        {"HSET", key, member, score},
        {"HSET", key, member, score},
        {"HGET", key, member},
        {"HMGET", key, member, "a"},
        {"HDEL", key, member},
        {"HGETALL", key},
        {"HLEN", key},
        {"PUBLISH", "c", "m"},
        {"PUBLISH", "unheard", "m"},
        {"PUBSUB", "NUMSUB", "c"},
        {"GET"},
        {"PING"},
        {"SET", key, "v", "PX", "nothing"},
        {"ZADD", key, "nothing", member},
        {"EVAL", "return {1.9, 'a', false, {ok='y'}, true, {1, nil, 2}}", "0"},
        {"EVAL", "return {err='MINE own'}", "0"},
        {"EVAL", "return redis.call('GET', KEYS[1])", "1", key},
        {"EVAL", "return select(2, pcall(redis.call, 'HGET', KEYS[1], 'a'))", "1", key},
        {"EVAL", "return redis.pcall('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')", "1", key},
        {"EVAL", "return redis.call('TYPE', KEYS[1]).ok", "1", key},
        {"EVALSHA", std::string(40, '0'), "0"}};
    return all[pick(all.size())];
  }
};

HOLDFAST_ON_EACH_SERVER(SimulatedServerAndReal);

TEST_P(SimulatedServerAndReal, AnswerCommandsAlike) {
  listen("c");
  std::size_t messages = 0;
  for (int i = 0; i < 10'000 && !HasFailure(); ++i) {
    both(bytes_of(any_command()));
    if (pick(20) != 0) continue;
    messages += heard().size();
    pass(microseconds(pick(2'000'000)));
  }
  EXPECT_GT(messages, 100U);
}

TEST(SimulatedServer, ExpiresByItsOwnClock) {
  simulated_server server;
  const int us = server.connect();
  server.execute(us, bytes_of({"SET", "k", "v", "PX", "1000"}));
  server.advance(milliseconds{400});
  EXPECT_EQ(server.execute(us, bytes_of({"PTTL", "k"})).number, 600);
  server.step_clock(milliseconds{601});
  EXPECT_EQ(server.execute(us, bytes_of({"EXISTS", "k"})).number, 0);
}

TEST(SimulatedServer, DeliversWhatScriptsPublish) {
  simulated_server server;
  const int listener = server.connect();
  EXPECT_TRUE(server.execute(listener, bytes_of({"SUBSCRIBE", "c"})).is(type::push));
  server.execute(server.connect(), bytes_of({"EVAL", "redis.call('PUBLISH', 'c', 'm')", "0"}));
  const auto pushes = server.take_pushes(listener);
  ASSERT_EQ(pushes.size(), 1U);
  EXPECT_EQ(pushes.front().items.at(2).text, "m");
}

TEST(SimulatedServer, ForgetsEverythingWhenItRestarts) {
  simulated_server server;
  const int us = server.connect();
  server.execute(us, bytes_of({"SET", "k", "v"}));
  server.restart_empty();
  EXPECT_THROW(server.execute(us, bytes_of({"PING"})), std::logic_error);
  EXPECT_EQ(server.execute(server.connect(), bytes_of({"EXISTS", "k"})).number, 0);
}

}  // namespace
}  // namespace holdfast::simulation
