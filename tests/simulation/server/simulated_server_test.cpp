// The simulated server answers as real ones do.
#include "simulation/server/simulated_server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "dialects/catalog.hpp"
#include "resp/writer.hpp"
#include "support/each_server.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::simulation {
namespace {

using resp::type;
using resp::value;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string bytes_of(const std::vector<std::string>& command) {
  std::string bytes;
  resp::writer out{bytes};
  out.command(command.size());
  for (const auto& word : command) out.arg(std::string_view{word});
  return bytes;
}

// What may differ between two servers: the wording of errors, behind their code.
value comparable(value v) {
  if (v.is(type::error)) v.text.resize(std::min(v.text.size(), v.text.find(' ')));
  return v;
}

class SimulatedServerAndReal : public support::server_test {
 protected:
  void SetUp() override {
    server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_ = std::make_unique<support::private_server>(start());
    real_ = std::make_unique<support::raw_connection>(net::unix_endpoint{server_->socket()});
    real_->command({"HELLO", "3"});
  }

  value real(std::string_view bytes) {
    real_->send(bytes);
    return comparable(real_->read_value());
  }
  value simulated(std::string_view bytes) { return comparable(simulated_.execute(us_, bytes)); }

  std::size_t pick(std::size_t below) { return random_() % below; }
  std::string pick(std::initializer_list<const char*> from) {
    return from.begin()[pick(from.size())];
  }

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
        {"PTTL", "missing"},
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

  // Runs scripts for four who want this.
  void run_scripts(const dialects::recipe& recipe,
                   const std::vector<const dialects::demand*>& wants) {
    const lock_key key{"orders:42"};
    std::vector<dialects::claim> claims;
    for (std::uint8_t i = 1; i <= 4; ++i) {
      claims.push_back({.key = &key,
                        .wants = wants.at(i - 1U),
                        .owner = request_id{client_id{std::array<std::uint8_t, 16>{i}}, i},
                        .lease = seconds{3000},
                        .floor = 0,
                        .granted = 0,
                        .waits = pick(2) == 0});
    }
    const server_time never{std::chrono::microseconds(std::int64_t{1} << 53)};
    for (int i = 0; i < 4000; ++i) {
      const auto& one = claims[pick(claims.size())];
      const auto what = pick(4);
      std::string bytes;
      resp::writer out{bytes, resp::writer::scripts::by_text};
      if (what == 0) recipe.write_acquire(one, false, never, out);
      if (what == 1) recipe.write_renew(std::vector{&one}, never, out);
      if (what == 2) recipe.write_release(one, out);
      if (what == 3) recipe.write_withdraw(one, out);
      const auto ours = simulated(bytes);
      const auto theirs = real(bytes);
      if (what == 0) {
        ASSERT_EQ(recipe.read_acquire(one, ours).index(), recipe.read_acquire(one, theirs).index())
            << i << ": " << resp::to_string(ours) << " but really " << resp::to_string(theirs);
      } else {
        ASSERT_EQ(ours.kind, theirs.kind) << i << ": " << resp::to_string(theirs);
      }
    }
  }

  std::unique_ptr<support::private_server> server_;
  std::unique_ptr<support::raw_connection> real_;
  simulated_server simulated_;
  int us_ = simulated_.connect();
  std::mt19937_64 random_{4711};
};

HOLDFAST_ON_EACH_SERVER(SimulatedServerAndReal);

TEST_P(SimulatedServerAndReal, AnswerCommandsAlike) {
  for (int i = 0; i < 20'000; ++i) {
    const auto bytes = bytes_of(any_command());
    ASSERT_EQ(resp::to_string(simulated(bytes)), resp::to_string(real(bytes)))
        << i << ": " << bytes;
  }
}

// Times differ between the two: answers are compared by what the recipe reads from them.
TEST_P(SimulatedServerAndReal, RunTheScriptsAlike) {
  run_scripts(dialects::native_mutex(fencing::on), {nullptr, nullptr, nullptr, nullptr});
}

TEST_P(SimulatedServerAndReal, RunTheScriptsOfSharedLocksAlike) {
  const dialects::demand reads{.mode = 'r'}, writes{.mode = 'x'};
  run_scripts(dialects::native_shared_lock(), {&reads, &reads, &reads, &writes});
}

TEST_P(SimulatedServerAndReal, RunTheScriptsOfSemaphoresAlike) {
  const dialects::demand one{.mode = 's', .limit = 3}, two{.mode = 's', .weight = 2, .limit = 3};
  run_scripts(dialects::native_shared_lock(), {&one, &one, &two, &two});
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
