// Fencing tokens: whatever happens to the counter, the next one is larger (S2 in the guarantees).
#include <gmock/gmock.h>

#include "redis/dialects/holdfast/layout.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

constexpr token_major second = 1'000'000;
constexpr token_major lead = longest_lead.count();

class TokenScript : public scripts_test {
 protected:
  // Acquires and releases once, and gives the major.
  token_major draw(token_major floor = 0) {
    claim mine = claims.next(lease, floor);
    const auto major = redis().must_acquire(mine).major;
    EXPECT_EQ(redis().release(mine), release_verdict(released{}));
    return major;
  }
  void set_counter(const std::string& content) {
    redis().command({"SET", key.fence_key(), content});
  }
  token_major counter() { return redis().counted(key); }
  void begin() { redis().let_the_counter_begin(key); }

  // `grants` acquisitions and releases in one pipeline; their majors in order.
  std::vector<token_major> draw_many(int grants) {
    std::string bytes;
    resp::writer out{bytes, resp::writer::scripts::by_text};
    const auto& how = native_mutex(fencing::on);
    for (int i = 0; i < grants; ++i) {
      const claim mine = claims.next();
      how.write_acquire(mine, false, never, out);
      how.write_withdraw(mine, out);
    }
    redis().connection().send(bytes);
    std::vector<token_major> majors;
    for (int i = 0; i < grants; ++i) {
      majors.push_back(static_cast<token_major>(redis().connection().read_value().number));
      EXPECT_EQ(redis().connection().read_value().number, 1);
    }
    return majors;
  }
};
HOLDFAST_ON_EACH_SERVER(TokenScript);

TEST_P(TokenScript, GrowsWithEveryGrantOfAPipeline) {
  begin();
  std::vector<token_major> majors;
  for (int part = 0; part < 100; ++part) {
    const auto more = draw_many(100);
    majors.insert(majors.end(), more.begin(), more.end());
  }
  ASSERT_EQ(majors.size(), 10'000U);
  EXPECT_EQ(std::adjacent_find(majors.begin(), majors.end(), std::greater_equal<>{}), majors.end());
  EXPECT_LE(majors.back(), redis().micros());
}

// TIME gives the microseconds of a second without leading zeros.
TEST_P(TokenScript, IsTheTimeAlsoAtTheBeginningOfASecond) {
  const auto drawn_early = [&] {
    begin();
    const auto before = redis().micros();
    const auto major = draw();
    EXPECT_GE(major, before);
    EXPECT_LE(major, redis().micros());
    return major % 1'000'000 < 10'000 || HasFailure();
  };
  EXPECT_TRUE(support::eventually([&] {
    for (int i = 0; i < 1000; ++i) {
      if (drawn_early()) return true;
    }
    return false;
  }));
}

TEST_P(TokenScript, CountsOnWhenTheClockStandsStillOrStepsBack) {
  const auto ahead = redis().micros() + 60 * second;
  set_counter(std::to_string(ahead));
  const auto began = redis().micros();
  EXPECT_EQ(draw(), ahead + 1);
  const auto majors = draw_many(100);
  EXPECT_EQ(std::adjacent_find(majors.begin(), majors.end(), std::greater_equal<>{}), majors.end());
  EXPECT_LE(majors.back(), ahead + 102 + (redis().micros() - began) / 2);
  EXPECT_EQ(counter(), majors.back());
}

// A new master that lacks the last writes has the counter as it was before them.
TEST_P(TokenScript, GrowsAcrossTheLossOfTheLastWritesAlsoWhenItIsAheadOfTheClock) {
  for (const bool is_new : {false, true}) {
    if (is_new) {
      redis().command({"DEL", key.fence_key()});
    } else {
      set_counter(std::to_string(redis().micros() + 60 * second));
    }
    token_major last = draw();
    const auto replicated = redis().get(key.fence_key());
    for (int i = 0; i < 20; ++i) last = draw();
    set_counter(replicated);
    EXPECT_GT(draw(), last) << is_new;
  }
}

// So that also what was ahead of the clock joins it.
TEST_P(TokenScript, IsCaughtUpByTheClock) {
  const auto now = redis().micros();
  set_counter(std::to_string(now + second) + ' ' + std::to_string(now - 3 * second));
  const auto drawn = draw();
  EXPECT_GE(drawn, now + second + 3 * second / 2);
  EXPECT_LE(drawn, redis().micros() + second + 3 * second / 2);
  set_counter(std::to_string(now - 2 * second) + ' ' + std::to_string(now - 3 * second));
  const auto joined = draw();
  EXPECT_LE(joined, redis().micros());
  EXPECT_THAT(redis().get(key.fence_key()), ::testing::Not(::testing::HasSubstr(" ")));
}

TEST_P(TokenScript, CountsOnFromExactlyTheTime) {
  // The counter equal to the time of the next grant: not hit for sure, but never wrong.
  for (int i = 0; i < 200; ++i) {
    const auto near = redis().micros() + static_cast<token_major>(i);
    set_counter(std::to_string(near));
    EXPECT_GT(draw(), near);
  }
}

TEST_P(TokenScript, GrowsAcrossTheLossOfEverything) {
  token_major last = draw();
  const auto expect_growth = [&] {
    const token_major next = draw();
    EXPECT_GT(next, last);
    last = next;
  };
  redis().command({"FLUSHALL"});
  expect_growth();
  redis().command({"DEL", key.fence_key()});
  expect_growth();
  for (const char* content :
       {"", "0", "-1", "17", "junk", "1e300", "inf", "-inf", "nan", "0x7fffffffffffffff",
        " 9007199254740993", "1.5", "9999999999999999999999999x", "\xff"}) {
    set_counter(content);
    expect_growth();
    EXPECT_EQ(counter(), last) << content;
  }
}

TEST_P(TokenScript, KeepsACounterThatHasBeenGivenAnExpiry) {
  draw();
  redis().command({"PEXPIRE", key.fence_key(), "60000"});
  draw();
  EXPECT_EQ(redis().pttl(key.fence_key()), -1);
}

TEST_P(TokenScript, IsSharedByTheLocksOfASlot) {
  const lock_key twin{"orders:42"};
  ASSERT_EQ(twin.fence_key(), key.fence_key());
  const auto first = draw();
  claims_of some{twin, 3};
  claim mine = some.next();
  EXPECT_GT(redis().must_acquire(mine).major, first);
}

TEST_P(TokenScript, RespectsTheFloor) {
  begin();
  const auto floor = redis().micros() + 5 * second;
  EXPECT_EQ(draw(floor), floor + 1);
  EXPECT_GE(draw(floor), floor + 2);
  EXPECT_EQ(draw(floor + second), floor + second + 1);
  EXPECT_GE(draw(0), floor + second + 2);
}

// What is believed of a client is less far ahead than where a lost counter begins.
TEST_P(TokenScript, BeginsAboveEveryFloorThatIsBelieved) {
  for (const char* content : {"-", "junk", "1.5", "1 2 3"}) {
    begin();
    const auto floor = redis().micros() + lead - 1;
    const auto last = draw(floor);
    EXPECT_EQ(last, floor + 1);
    set_counter(content);
    if (content[0] == '-') redis().command({"DEL", key.fence_key()});
    const auto next = draw();
    EXPECT_GT(next, last) << content;
    EXPECT_LE(next, redis().micros() + lead);
  }
}

TEST_P(TokenScript, RefusesAFloorThatIsTooFarAhead) {
  const auto refuses = [&](token_major floor) {
    const auto before = redis().contents();
    const auto verdict = redis().acquire(claims.next(lease, floor));
    EXPECT_EQ(code_of(verdict), errc::clock_skew);
    EXPECT_EQ(redis().contents(), before);
    return std::get<refused>(verdict).detail;
  };
  for (const bool is_counted : {false, true}) {
    if (is_counted) begin();
    EXPECT_THAT(refuses(redis().micros() + 3600 * second),
                ::testing::HasSubstr("is 3600 s ahead of the server's clock"));
    refuses(redis().micros() + lead + second);
    refuses(token_major{1} << 62);
  }
}

// As when the clock was set back: the counter is then as far ahead as the client.
TEST_P(TokenScript, BelievesEachFloorThatTheCounterHasReached) {
  const auto ahead = redis().micros() + 3600 * second;
  set_counter(std::to_string(ahead));
  EXPECT_EQ(code_of(redis().acquire(claims.next(lease, ahead + 1))), errc::clock_skew);
  EXPECT_EQ(draw(ahead), ahead + 1);
}

TEST_P(TokenScript, RefusesACounterOfAnotherTypeBeforeItWritesAnything) {
  redis().command({"RPUSH", key.fence_key(), "a"});
  const auto before = redis().contents();
  EXPECT_EQ(code_of(redis().acquire(claims.next())), errc::foreign_key);
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(TokenScript, RefusesACounterThatCannotBeCountedOn) {
  for (const char* content : {"4503599627370496", "9007199254740993", "99999999999999999999999"}) {
    set_counter(content);
    const auto before = redis().contents();
    const auto verdict = redis().acquire(claims.next());
    EXPECT_EQ(code_of(verdict), errc::clock_skew) << content;
    EXPECT_THAT(std::get<refused>(verdict).detail, ::testing::HasSubstr(content));
    EXPECT_EQ(redis().contents(), before);
  }
}

TEST_P(TokenScript, ReachesTheLargestMajorExactly) {
  set_counter("4503599627370494");
  EXPECT_EQ(draw(), 4503599627370495U);
  EXPECT_EQ(draw(), 4503599627370496U);
  EXPECT_EQ(code_of(redis().acquire(claims.next())), errc::clock_skew);
  EXPECT_EQ(counter(), 4503599627370496U);
}

TEST_P(TokenScript, LeavesNothingBehindButTheCounter) {
  for (int i = 0; i < 50; ++i) draw();
  const auto keys = redis().command({"KEYS", "*"});
  ASSERT_EQ(keys.items.size(), 1U);
  EXPECT_EQ(keys.items[0].text, key.fence_key());
}

}  // namespace
}  // namespace holdfast::dialects
