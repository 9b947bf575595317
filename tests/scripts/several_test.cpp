// acquire_all.lua and release_all.lua: all or none, and no waiter forgotten.
#include <deque>

#include "redis/dialects/holdfast/layout.hpp"
#include "redis/dialects/holdfast/mutex.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

class SeveralScripts : public scripts_test {
 protected:
  static constexpr std::size_t many = 3;

  std::vector<claim> wanted() {
    std::vector<claim> all;
    for (auto& of : claims_) all.push_back(of.next());
    return all;
  }
  resp::value acquire(const std::vector<claim>& all, server_time not_after = never) {
    return redis().ask([&](auto& out) { write_acquire_all(pointers(all), not_after, out); });
  }
  resp::value release(const std::vector<claim>& all) {
    return redis().ask([&](auto& out) { write_release_all(pointers(all), out); });
  }
  std::vector<claim> held() {
    auto all = wanted();
    const auto major = static_cast<token_major>(major_of(acquire(all)));
    for (auto& one : all) one.granted = major;
    return all;
  }
  // One for all of them, or -1.
  static std::int64_t major_of(const resp::value& v) {
    return v.is(resp::type::integer) ? v.number : -1;
  }
  static std::vector<std::int64_t> numbers(const resp::value& v) {
    std::vector<std::int64_t> all;
    for (const auto& item : v.items) all.push_back(item.number);
    return all;
  }

  lock_key keys_[many] = {lock_key{"one"}, lock_key{"two"}, lock_key{"{three}"}};

 private:
  static std::vector<const claim*> pointers(const std::vector<claim>& all) {
    std::vector<const claim*> these;
    for (const auto& one : all) these.push_back(&one);
    return these;
  }
  std::deque<claims_of> claims_{claims_of{keys_[0], 11}, claims_of{keys_[1], 11},
                                claims_of{keys_[2], 11}};
};
HOLDFAST_ON_EACH_SERVER(SeveralScripts);

TEST_P(SeveralScripts, TakeAllThatAreFreeAndGiveThemBack) {
  const auto all = held();
  for (std::size_t i = 0; i < many; ++i) {
    EXPECT_GT(all[i].granted, 0u);
    EXPECT_EQ(redis().get(keys_[i].value_key()), (lock_value{all[i].granted, all[i].owner}.text()));
    EXPECT_GT(redis().pttl(keys_[i].value_key()), 20'000);
    EXPECT_EQ(redis().counted(keys_[i]), all[i].granted);
  }
  EXPECT_EQ(release(all).number, 1);
  EXPECT_EQ(numbers(release(all)), (std::vector<std::int64_t>{0, 0, 0}));
  for (const auto& each : keys_) EXPECT_FALSE(redis().exists(each.value_key()));
}

TEST_P(SeveralScripts, TakeNothingWhenOneIsHeldOrWaitedFor) {
  for (const auto& each : {keys_[1].value_key(), "hf:{" + keys_[2].encoded() + "}:w"}) {
    redis().command({"ZADD", each, "1", "x"});
    const auto before = redis().contents();
    EXPECT_EQ(major_of(acquire(wanted())), 0);
    EXPECT_EQ(redis().contents(), before);
    redis().command({"DEL", each});
  }
}

TEST_P(SeveralScripts, TakeNothingWhenTheyComeTooLate) {
  const auto answer = acquire(wanted(), server_time{microseconds{1}});
  EXPECT_EQ(answer.items.at(0).text, "late");
  EXPECT_EQ(redis().contents(), "");
}

// Neither is a counter changed: who asks for one after another is told which of them it is.
TEST_P(SeveralScripts, TakeNothingWhenOneTokenCannotBeDrawn) {
  redis().command({"SET", keys_[1].fence_key(), "4503599627370496"});
  auto too_far = wanted();
  const auto before = redis().contents();
  EXPECT_EQ(major_of(acquire(too_far)), 0);
  redis().command({"DEL", keys_[1].fence_key()});
  too_far[2].floor = redis().micros() + 2 * 86'400'000'000;
  EXPECT_EQ(major_of(acquire(too_far)), 0);
  redis().command({"SET", keys_[1].fence_key(), "4503599627370496"});
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(SeveralScripts, DrawOneTokenAboveEveryCounterAndFloor) {
  // A counter that is ahead of the time, one that is no number, and a floor.
  const auto now = redis().micros();
  redis().command({"SET", keys_[0].fence_key(), std::to_string(now + longest_lead.count() / 2)});
  redis().command({"SET", keys_[1].fence_key(), "9e99"});
  std::int64_t last = 0;
  for (int round = 0; round < 4; ++round) {
    auto all = wanted();
    if (round == 2) all[2].floor = static_cast<token_major>(last + 10);
    const auto drawn = major_of(acquire(all));
    EXPECT_GT(drawn, round == 2 ? last + 10 : last);
    EXPECT_GT(drawn, static_cast<std::int64_t>(now) + longest_lead.count());
    EXPECT_LE(drawn, static_cast<std::int64_t>(redis().micros()) + longest_lead.count());
    for (const auto& each : keys_) {
      EXPECT_EQ(redis().counted(each), static_cast<token_major>(drawn));
      redis().command({"DEL", each.value_key()});
    }
    last = drawn;
  }
}

// The other slots would stay behind it, and when they are lost begin below it.
TEST_P(SeveralScripts, DrawNoneWhereOneCounterOrFloorIsFarAhead) {
  const auto far = redis().micros() + 60'000'000;
  redis().command({"SET", keys_[0].fence_key(), std::to_string(far)});
  for (const token_major floor : {token_major{0}, far}) {
    auto all = wanted();
    all[0].floor = floor;
    const auto before = redis().contents();
    EXPECT_EQ(major_of(acquire(all)), 0);
    EXPECT_EQ(redis().contents(), before);
  }
}

TEST_P(SeveralScripts, LeaveACounterOfAnotherTypeAlone) {
  redis().command({"RPUSH", keys_[1].fence_key(), "a"});
  EXPECT_TRUE(acquire(wanted()).is(resp::type::error));
  EXPECT_EQ(redis().command({"TYPE", keys_[1].fence_key()}).text, "list");
  for (const auto& each : keys_) EXPECT_FALSE(redis().exists(each.value_key()));
}

TEST_P(SeveralScripts, DrawOnceFromACounterThatTwoLocksShare) {
  const lock_key a{"one"};
  int other = 0;
  while (lock_key{std::to_string(other)}.slot() != a.slot()) ++other;
  const lock_key b{std::to_string(other)};
  claims_of of_a{a, 11}, of_b{b, 11};
  std::int64_t last = 0;
  for (int round = 1; round <= 2; ++round) {
    const auto drawn = major_of(acquire({of_a.next(), of_b.next()}));
    EXPECT_GT(drawn, last);
    EXPECT_EQ(redis().counted(a), static_cast<token_major>(drawn));
    redis().command({"DEL", a.value_key(), b.value_key()});
    last = drawn;
  }
}

TEST_P(SeveralScripts, KeepWhatSomebodyWaitsForAndLeaveStrangersAlone) {
  auto all = held();
  redis().command({"ZADD", "hf:{one}:w", "1", "somebody"});
  redis().command({"DEL", keys_[1].value_key()});
  redis().command({"RPUSH", keys_[1].value_key(), "a"});
  EXPECT_EQ(numbers(release(all)), (std::vector<std::int64_t>{2, 0, 1}));
  EXPECT_TRUE(redis().exists(keys_[0].value_key()));
  EXPECT_TRUE(redis().exists(keys_[1].value_key()));
}

}  // namespace
}  // namespace holdfast::dialects
