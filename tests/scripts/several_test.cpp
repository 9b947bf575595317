// acquire_all.lua and release_all.lua: all or none, and no waiter forgotten.
#include <deque>

#include "dialects/holdfast/mutex.hpp"
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
    const auto answers = acquire(all);
    for (std::size_t i = 0; i < many; ++i) {
      all[i].granted = static_cast<token_major>(answers.items.at(i).number);
    }
    return all;
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
    EXPECT_GT(redis().pttl(keys_[i].value_key()), 20'000);
    EXPECT_EQ(redis().get(keys_[i].fence_key()), std::to_string(all[i].granted));
  }
  EXPECT_EQ(numbers(release(all)), (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(numbers(release(all)), (std::vector<std::int64_t>{0, 0, 0}));
  for (const auto& each : keys_) EXPECT_FALSE(redis().exists(each.value_key()));
}

TEST_P(SeveralScripts, TakeNothingWhenOneIsHeldOrWaitedFor) {
  for (const auto& each : {keys_[1].value_key(), "hf:{" + keys_[2].encoded() + "}:w"}) {
    redis().command({"ZADD", each, "1", "x"});
    const auto before = redis().contents();
    EXPECT_EQ(numbers(acquire(wanted())), (std::vector<std::int64_t>{0, 0, 0}));
    EXPECT_EQ(redis().contents(), before);
    redis().command({"DEL", each});
  }
}

TEST_P(SeveralScripts, TakeNothingWhenTheyComeTooLate) {
  const auto answer = acquire(wanted(), server_time{microseconds{1}});
  EXPECT_EQ(answer.items.at(0).text, "late");
  EXPECT_EQ(redis().contents(), "");
}

TEST_P(SeveralScripts, TakeNothingWhenOneTokenCannotBeDrawn) {
  redis().command({"SET", keys_[1].fence_key(), "4503599627370496"});
  const auto all = wanted();
  const auto answer = acquire(all);
  EXPECT_EQ(answer.items.at(0).number, 0);
  const auto verdict = native_mutex(fencing::on).read_acquire(all[1], answer.items.at(1));
  EXPECT_EQ(code_of(verdict), errc::clock_skew);
  for (const auto& each : keys_) EXPECT_FALSE(redis().exists(each.value_key()));
}

TEST_P(SeveralScripts, DrawTokensAboveEveryCounterAndFloor) {
  // A counter that is ahead of the time, one that is no number, and a floor.
  const auto ahead = static_cast<std::int64_t>(redis().micros()) + 60'000'000;
  redis().command({"SET", keys_[0].fence_key(), std::to_string(ahead)});
  redis().command({"SET", keys_[1].fence_key(), "soon"});
  for (int round = 1; round <= 2; ++round) {
    auto all = wanted();
    all[2].floor = round == 1 ? static_cast<token_major>(ahead) : 0;
    const auto drawn = numbers(acquire(all));
    ASSERT_EQ(drawn.size(), many);
    EXPECT_EQ(drawn[0], ahead + round);
    EXPECT_LT(drawn[1], ahead);
    EXPECT_EQ(drawn[2], ahead + round);
    for (std::size_t i = 0; i < many; ++i) {
      EXPECT_EQ(redis().get(keys_[i].fence_key()), std::to_string(drawn[i]));
      redis().command({"DEL", keys_[i].value_key()});
    }
  }
}

TEST_P(SeveralScripts, LeaveACounterOfAnotherTypeAlone) {
  redis().command({"RPUSH", keys_[1].fence_key(), "a"});
  EXPECT_TRUE(acquire(wanted()).items.at(1).is(resp::type::error));
  EXPECT_EQ(redis().command({"TYPE", keys_[1].fence_key()}).text, "list");
  for (const auto& each : keys_) EXPECT_FALSE(redis().exists(each.value_key()));
}

TEST_P(SeveralScripts, DrawTwiceFromACounterThatTwoLocksShare) {
  const lock_key a{"one"};
  int other = 0;
  while (lock_key{std::to_string(other)}.slot() != a.slot()) ++other;
  const lock_key b{std::to_string(other)};
  claims_of of_a{a, 11}, of_b{b, 11};
  for (int round = 1; round <= 2; ++round) {
    const auto drawn = numbers(acquire({of_a.next(), of_b.next()}));
    EXPECT_LT(drawn.at(0), drawn.at(1));
    EXPECT_EQ(redis().get(a.fence_key()), std::to_string(drawn.at(1)));
    redis().command({"DEL", a.value_key(), b.value_key()});
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
