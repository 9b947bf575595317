// Redisson's RCountDownLatch: the key, the messages and the answers after each operation.
#include "redis/dialects/redisson/count_down_latch_recipe.hpp"

#include <gmock/gmock.h>

#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

const std::string channel = "redisson_countdownlatch__channel__{orders:42}";

class RedissonLatchLayout : public foreign_test<count_down_latch_recipe> {
 protected:
  using words = std::vector<std::string>;

  RedissonLatchLayout() : foreign_test(count_down_latch_recipe{}) {}

  // Each call is a request of its own, unless `id` says which.
  std::variant<latch_change, refused> change(const once_call& asked,
                                             std::optional<request_id> id = {}) {
    const request_id mine = id.value_or(claims.next().owner);
    const server_time not_after{microseconds(redis().micros() + 10'000'000)};
    const auto reply =
        theirs().ask([&](auto& out) { write_once(key_space{}, asked, mine, not_after, out); });
    const auto verdict = read_once(reply);
    if (const auto* const why = std::get_if<refused>(&verdict)) return *why;
    return layout().read_change(key, std::get<once_answer>(verdict));
  }
  latch_change set(std::uint32_t count) {
    return std::get<latch_change>(change(layout().set(key, count)));
  }
  latch_change down(std::uint32_t by = 1, std::optional<request_id> id = {}) {
    return std::get<latch_change>(change(layout().count_down(key, by), id));
  }
  std::variant<std::uint32_t, refused> left() {
    const auto reply = theirs().ask([&](auto& out) { layout().write_query(key.name(), out); });
    return layout().read_count(key.name(), reply);
  }
  bool is_open() { return std::holds_alternative<granted>(theirs().acquire(claims.next())); }

  // The messages on the channel while `act` runs.
  template <typename Act>
  words said_during(Act&& act) {
    support::raw_connection ear{net::unix_endpoint{server().socket()}};
    ear.command({"SUBSCRIBE", channel});
    act();
    command({"PUBLISH", channel, "that is all"});
    words all;
    for (auto word = ear.read_value().items.at(2).text; word != "that is all";
         word = ear.read_value().items.at(2).text) {
      all.push_back(word);
    }
    return all;
  }
};
HOLDFAST_ON_EACH_SERVER(RedissonLatchLayout);

TEST_P(RedissonLatchLayout, IsANumberUntilItOpens) {
  EXPECT_TRUE(is_open());
  EXPECT_EQ(left(), (std::variant<std::uint32_t, refused>(0U)));
  EXPECT_EQ(set(3), (latch_change{true, 3, false}));
  EXPECT_EQ(set(9), (latch_change{false, 3, false}));
  EXPECT_EQ(redis().get(key.name()), "3");
  EXPECT_EQ(redis().pttl(key.name()), -1);
  EXPECT_FALSE(is_open());
  EXPECT_EQ(down(), (latch_change{true, 2, false}));
  EXPECT_EQ(redis().get(key.name()), "2");
  EXPECT_EQ(left(), (std::variant<std::uint32_t, refused>(2U)));
  EXPECT_EQ(down(7), (latch_change{true, 0, false}));
  EXPECT_FALSE(redis().exists(key.name()));
  EXPECT_TRUE(is_open());
  EXPECT_EQ(down(), (latch_change{true, 0, false})) << "not below zero";
  EXPECT_FALSE(redis().exists(key.name()));
}

// Without the 1 those of Redisson who were woken before would ask again and again.
TEST_P(RedissonLatchLayout, SaysWhenItIsSetAndWhenItOpens) {
  EXPECT_EQ(said_during([&] { set(2); }), words{"1"});
  EXPECT_EQ(said_during([&] { set(2); }), words{});
  EXPECT_EQ(said_during([&] { down(); }), words{});
  EXPECT_EQ(said_during([&] { down(); }), words{"0"});
  EXPECT_EQ(said_during([&] { down(); }), words{});
  set(2);
  EXPECT_EQ(said_during([&] { down(3); }), words{"0"});
}

TEST_P(RedissonLatchLayout, CountsACopyOnceAndTellsOnce) {
  set(2);
  const request_id once = claims.next().owner, last = claims.next().owner;
  EXPECT_EQ(down(1, once).left, 1U);
  EXPECT_EQ(down(1, once).left, 1U);
  EXPECT_EQ(redis().get(key.name()), "1");
  EXPECT_EQ(said_during([&] {
              EXPECT_EQ(down(1, last).left, 0U);
              set(5);
              EXPECT_EQ(down(1, last).left, 0U);
            }),
            (words{"0", "1"}));
  EXPECT_EQ(redis().get(key.name()), "5");
}

TEST_P(RedissonLatchLayout, IsSetOnceByAllCopies) {
  const request_id once = claims.next().owner;
  const auto asked = layout().set(key, 2);
  EXPECT_TRUE(std::get<latch_change>(change(asked, once)).changed);
  down(2);
  EXPECT_TRUE(std::get<latch_change>(change(asked, once)).changed);
  EXPECT_TRUE(is_open());
}

// Redisson's trySetCount takes any number of 64 bits.
TEST_P(RedissonLatchLayout, BearsEveryNumberOfTheLibrarys) {
  for (const auto* open : {"0", "-3"}) {
    command({"SET", key.name(), open});
    EXPECT_TRUE(is_open()) << open;
    EXPECT_EQ(left(), (std::variant<std::uint32_t, refused>(0U))) << open;
    EXPECT_EQ(set(3), (latch_change{false, 0, false})) << open;
    EXPECT_EQ(said_during([&] { EXPECT_EQ(down().left, 0U); }), words{}) << open;
    EXPECT_FALSE(redis().exists(key.name())) << open;
  }
  command({"SET", key.name(), "9223372036854775807"});
  EXPECT_FALSE(is_open());
  EXPECT_EQ(left(), (std::variant<std::uint32_t, refused>(4'294'967'295U)));
  EXPECT_EQ(set(3), (latch_change{false, 4'294'967'295U, false}));
  EXPECT_EQ(down(7).left, 4'294'967'295U);
  EXPECT_EQ(redis().get(key.name()), "9223372036854775800");
}

TEST_P(RedissonLatchLayout, KeepsTheTimeThatOthersGaveIt) {
  command({"SET", key.name(), "3", "PX", "20000"});
  down();
  expect_ttl(key.name(), milliseconds{20'000});
}

TEST_P(RedissonLatchLayout, LeavesNothingOfThoseWhoWait) {
  set(1);
  const auto before = redis().contents();
  const claim one = claims.next();
  EXPECT_EQ(remaining_of(theirs().acquire(one)), milliseconds{-1});
  EXPECT_FALSE(std::holds_alternative<refused>(theirs().withdraw(one)));
  EXPECT_EQ(redis().contents(), before);
  down();
  EXPECT_FALSE(std::holds_alternative<refused>(theirs().withdraw(one)));
}

TEST_P(RedissonLatchLayout, RefusesWhatIsNoLatch) {
  const std::vector<words> everything_else = {
      {"HSET", key.name(), "field", "1"},
      {"SET", key.name(), "three"},
      {"SET", key.name(), "1.5"},
      {"SET", key.name(), ""},
  };
  for (const auto& other : everything_else) {
    SCOPED_TRACE(other.back());
    command({"DEL", key.name()});
    command(other);
    const auto before = redis().contents();
    EXPECT_EQ(code_of(change(layout().set(key, 1))), errc::foreign_key);
    EXPECT_EQ(code_of(change(layout().count_down(key, 1))), errc::foreign_key);
    EXPECT_EQ(code_of(left()), errc::foreign_key);
    EXPECT_EQ(code_of(theirs().acquire(claims.next())), errc::foreign_key);
    EXPECT_EQ(redis().contents(), before);
  }
  EXPECT_THAT(std::get<refused>(left()).detail, ::testing::HasSubstr("orders:42"));
}

TEST_P(RedissonLatchLayout, RefusesWhatComesTooLate) {
  const auto reply = theirs().ask([&](auto& out) {
    write_once(key_space{}, layout().set(key, 1), claims.next().owner, server_time{microseconds(1)},
               out);
  });
  EXPECT_TRUE(std::holds_alternative<late>(read_once(reply)));
  EXPECT_EQ(command({"DBSIZE"}).number, 0);
}

TEST_P(RedissonLatchLayout, HasBracesOfItsOwnAroundEveryName) {
  EXPECT_EQ(layout().channel_of("orders:42"), channel);
  EXPECT_EQ(layout().channel_of("a{b}"), "redisson_countdownlatch__channel__{a{b}}");
  EXPECT_EQ(layout().key_of("a{b}"), "a{b}");
}

}  // namespace
}  // namespace holdfast::dialects
