// The layouts of other libraries: each key after each operation, byte for byte.
#include <gmock/gmock.h>

#include "redis/dialects/redisson/redisson_recipe.hpp"
#include "redis/dialects/token/token_recipe.hpp"
#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

using ::testing::MatchesRegex;

class TokenLayout : public foreign_test<token_recipe> {
 protected:
  TokenLayout() : foreign_test({{.name = "token"}, {.key_prefix = "app:"}}) {}
  const std::string at = "app:orders:42";
};
HOLDFAST_ON_EACH_SERVER(TokenLayout);

TEST_P(TokenLayout, IsOneTextWithAnExpiry) {
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(redis().get(at), drawn_value(token_form::hex, mine.owner));
  EXPECT_THAT(redis().get(at), MatchesRegex("[0-9a-f]{32}"));
  expect_ttl(at, lease);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 0U);
}

// For operators: the one who was seen there, and nobody else.
TEST_P(TokenLayout, IsBrokenForTheOneWhoHasIt) {
  const auto break_of = [&](const std::string& owner, server_time not_after) {
    return layout().read_break(
        theirs().ask([&](auto& out) { layout().write_break(key.name(), owner, not_after, out); }));
  };
  using verdict = std::variant<break_end, refused>;
  const server_time past{microseconds{1}};
  const server_time soon{microseconds{(1LL << 53) - 1}};
  EXPECT_EQ(break_of("theirs", soon), verdict(break_end::free));
  command({"SET", at, "theirs"});
  EXPECT_EQ(break_of("another's", soon), verdict(break_end::changed));
  EXPECT_TRUE(std::holds_alternative<refused>(break_of("theirs", past))) << "a late copy";
  EXPECT_EQ(redis().get(at), "theirs");
  EXPECT_EQ(break_of("theirs", soon), verdict(break_end::broken));
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 0U);
  command({"RPUSH", at, "theirs"});
  EXPECT_EQ(break_of("theirs", soon), verdict(break_end::changed)) << "no lock";
  EXPECT_EQ(command({"EXISTS", at}).number, 1);
}

TEST_P(TokenLayout, TellsOthersHowLongTheyMustWait) {
  command({"SET", at, "theirs", "PX", "20000"});
  const auto left = remaining_of(theirs().acquire(claims.next()));
  EXPECT_GT(left, milliseconds{15'000});
  EXPECT_LE(left, milliseconds{20'000});
  command({"PERSIST", at});
  EXPECT_EQ(remaining_of(theirs().acquire(claims.next())), milliseconds{-1});
  EXPECT_EQ(redis().get(at), "theirs");
}

TEST_P(TokenLayout, KnowsAResend) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  command({"PEXPIRE", at, "1000"});
  EXPECT_EQ(theirs().acquire(mine, true), acquire_verdict(granted{0, lease}));
  expect_ttl(at, lease);
  EXPECT_GT(remaining_of(theirs().acquire(claims.next(), true)).count(), 0);
}

TEST_P(TokenLayout, RenewsAndReleasesOnlyWhatIsItsOwn) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  command({"PEXPIRE", at, "1000"});
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  expect_ttl(at, lease);
  expect_nothing_done_by(others.next());
}

TEST_P(TokenLayout, RefusesWhatComesTooLateAndForeignTypes) {
  const server_time past{microseconds{1}};
  EXPECT_TRUE(std::holds_alternative<late>(theirs().acquire(claims.next(), false, past)));
  EXPECT_FALSE(redis().exists(at));
  command({"HSET", at, "field", "1"});
  EXPECT_EQ(code_of(theirs().acquire(claims.next())), errc::foreign_key);
  EXPECT_EQ(code_of(look()), errc::foreign_key);
}

TEST_P(TokenLayout, ShowsWhoHasIt) {
  EXPECT_EQ(look(), foreign_verdict(foreign_holders{}));
  command({"SET", at, "theirs"});
  EXPECT_EQ(look(), foreign_verdict(foreign_holders{{.owner = "theirs"}}));
}

// Beside the layout, which stays as it is.
class CountedToken : public foreign_test<token_recipe> {
 protected:
  CountedToken() : foreign_test({{.name = "token", .has_tokens = true}, {.key_prefix = "app:"}}) {}
  token_major major_of(const acquire_verdict& verdict) {
    const auto* const grant = std::get_if<granted>(&verdict);
    EXPECT_NE(grant, nullptr) << redis().why(verdict);
    return grant != nullptr ? grant->major : 0;
  }
  const std::string at = "app:orders:42";
  const lock_key where{"orders:42", at};  // the counter is where the lock is
  claim next() {
    auto one = claims.next();
    one.key = &where;
    return one;
  }
};
HOLDFAST_ON_EACH_SERVER(CountedToken);

TEST_P(CountedToken, IsDrawnForEachGrantFromTheCounterOfItsSlot) {
  const claim mine = next();
  const auto first = major_of(theirs().acquire(mine));
  EXPECT_EQ(redis().counted(where), first);
  EXPECT_EQ(redis().pttl(where.fence_key()), -1);
  EXPECT_EQ(redis().get(at), drawn_value(token_form::hex, mine.owner));
  expect_ttl(at, lease);
  EXPECT_GT(remaining_of(theirs().acquire(next())).count(), 0);
  EXPECT_EQ(redis().counted(where), first) << "who is refused draws none";
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  command({"SET", where.fence_key(), "4000000000000000"});  // the clock is behind that
  EXPECT_EQ(theirs().acquire(next()), acquire_verdict(granted{4'000'000'000'000'001, lease}));
}

TEST_P(CountedToken, IsAboveTheFloorAndTheTime) {
  command({"SET", where.fence_key(), "no number"});
  auto mine = next();
  const auto first = major_of(theirs().acquire(mine));
  EXPECT_GT(first, 1'000'000U);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  mine = next();
  mine.floor = first + 3'000'000;  // of a server whose clock was ahead
  EXPECT_TRUE(std::holds_alternative<refused>(theirs().acquire(mine)));
  redis().let_the_counter_begin(where);
  mine.floor = redis().micros() + 3'000'000;
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{mine.floor + 1, lease}));
}

TEST_P(CountedToken, OfAResendIsNotBelowThatOfItsFirstCopy) {
  const claim mine = next();
  const auto first = major_of(theirs().acquire(mine));
  command({"PEXPIRE", at, "1000"});
  EXPECT_GE(major_of(theirs().acquire(mine, true)), first);
  expect_ttl(at, lease);
}

TEST_P(CountedToken, IsRefusedWhereNoneCanBeDrawn) {
  const auto expect_refused = [&](const claim& wanted) {
    const auto before = redis().contents();
    EXPECT_TRUE(std::holds_alternative<refused>(theirs().acquire(wanted)));
    EXPECT_EQ(redis().contents(), before);
  };
  auto mine = next();
  mine.floor = token_major{4'000'000'000'000'000};
  expect_refused(mine);
  command({"SET", where.fence_key(), "4503599627370496"});
  expect_refused(next());
  command({"DEL", where.fence_key()});
  command({"LPUSH", where.fence_key(), "a list"});
  expect_refused(next());
}

class FixedToken : public foreign_test<token_recipe> {
 protected:
  FixedToken() : foreign_test({{.name = "token"}, {.fixed_value = "caller-7"}}) {}
};
HOLDFAST_ON_EACH_SERVER(FixedToken);

TEST_P(FixedToken, IsNotTakenForOursBeforeItWasAskedFor) {
  theirs().acquire(claims.next());
  EXPECT_EQ(redis().get(key.name()), "caller-7");
  EXPECT_GT(remaining_of(theirs().acquire(others.next())).count(), 0);
  EXPECT_EQ(theirs().acquire(others.next(), true), acquire_verdict(granted{0, lease}));
}

class GoZeroLayout : public foreign_test<token_recipe> {
 protected:
  GoZeroLayout() : foreign_test({{.name = "go_zero"}, {.form = token_form::letters}}) {}
};
HOLDFAST_ON_EACH_SERVER(GoZeroLayout);

TEST_P(GoZeroLayout, Is16LettersForHalfASecondMore) {
  claim mine = claims.next(milliseconds{3'000});
  mine.delay = go_zero_surplus;
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, milliseconds{3'000}}));
  EXPECT_THAT(redis().get(key.name()), MatchesRegex("[0-9a-zA-Z]{16}"));
  EXPECT_GT(redis().pttl(key.name()), 3'000);
  EXPECT_LE(redis().pttl(key.name()), 3'500);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
}

class RedissonLayout : public foreign_test<redisson_recipe> {
 protected:
  RedissonLayout() : foreign_test(redisson_recipe{}) {}
  std::string field_of(const claim& c) { return redisson_owner(c.owner); }
  std::string holds(const std::string& owner) { return command({"HGET", key.name(), owner}).text; }
};
HOLDFAST_ON_EACH_SERVER(RedissonLayout);

TEST_P(RedissonLayout, IsAHashThatCountsTheHoldsOfItsOwner) {
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(command({"HLEN", key.name()}).number, 1);
  EXPECT_EQ(holds("01000000-0000-0000-0000-000000000000:1"), "1");
  expect_ttl(key.name(), lease);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 0U);
}

TEST_P(RedissonLayout, TellsOthersHowLongTheyMustWait) {
  command({"HSET", key.name(), "theirs:1", "2"});
  EXPECT_EQ(remaining_of(theirs().acquire(claims.next())), milliseconds{-1});
  command({"PEXPIRE", key.name(), "20000"});
  const auto left = remaining_of(theirs().acquire(claims.next()));
  EXPECT_GT(left, milliseconds{15'000});
  EXPECT_LE(left, milliseconds{20'000});
  EXPECT_EQ(holds("theirs:1"), "2");
  const auto shown = holder();
  EXPECT_EQ(shown.owner, "theirs:1");
  EXPECT_EQ(shown.holds, 2U);
  EXPECT_GT(shown.remaining.value_or(milliseconds{0}), milliseconds{15'000});
}

// Redisson counts a resend as a second hold, and its lock is then not free after the release.
TEST_P(RedissonLayout, CountsAResendOnce) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  EXPECT_EQ(theirs().acquire(mine, true), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(holds(field_of(mine)), "1");
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(key.name()));
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
}

TEST_P(RedissonLayout, SaysOnTheChannelThatItIsFree) {
  support::raw_connection listener{net::unix_endpoint{server().socket()}};
  listener.command({"SUBSCRIBE", "redisson_lock__channel:{orders:42}"});
  const claim mine = claims.next();
  theirs().acquire(mine);
  EXPECT_EQ(theirs().release(others.next()), release_verdict(not_mine{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  const auto message = listener.read_value();
  ASSERT_EQ(message.items.size(), 3U);
  EXPECT_EQ(message.items[2].text, "0");
}

TEST_P(RedissonLayout, RenewsOnlyWhatIsItsOwn) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  command({"PEXPIRE", key.name(), "1000"});
  EXPECT_EQ(theirs().renew(others.next()), renew_verdict(not_mine{}));
  EXPECT_LE(redis().pttl(key.name()), 1000);
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  expect_ttl(key.name(), lease);
}

TEST_P(RedissonLayout, RefusesWhatComesTooLateAndForeignTypes) {
  const server_time past{microseconds{1}};
  EXPECT_TRUE(std::holds_alternative<late>(theirs().acquire(claims.next(), false, past)));
  EXPECT_FALSE(redis().exists(key.name()));
  command({"SET", key.name(), "text"});
  EXPECT_EQ(code_of(theirs().acquire(claims.next())), errc::foreign_key);
  EXPECT_EQ(redis().get(key.name()), "text");
}

class SpinLayout : public foreign_test<redisson_recipe> {
 protected:
  SpinLayout() : foreign_test(redisson_recipe{redisson_lock::spin}) {}
};
HOLDFAST_ON_EACH_SERVER(SpinLayout);

TEST_P(SpinLayout, TellsNobodyThatItIsFree) {
  support::raw_connection listener{net::unix_endpoint{server().socket()}};
  listener.command({"PSUBSCRIBE", "*"});
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(command({"HLEN", key.name()}).number, 1);
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(key.name()));
  EXPECT_EQ(layout().channel_of(key.name()), "");
  command({"PUBLISH", "end", "end"});
  EXPECT_EQ(listener.read_value().items.at(3).text, "end");
}

class FencedLayout : public foreign_test<redisson_recipe> {
 protected:
  FencedLayout() : foreign_test(redisson_recipe{redisson_lock::fenced}) {}
  const std::string counter = "redisson_lock_token:{orders:42}";
};
HOLDFAST_ON_EACH_SERVER(FencedLayout);

TEST_P(FencedLayout, HasTheNextTokenOfTheLibrary) {
  command({"SET", counter, "41"});
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{42, lease}));
  EXPECT_EQ(redis().get(counter), "42");
  EXPECT_EQ(redis().pttl(counter), -1);
  EXPECT_GT(remaining_of(theirs().acquire(others.next())).count(), 0);
  EXPECT_EQ(redis().get(counter), "42");
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(theirs().acquire(others.next()), acquire_verdict(granted{43, lease}));
}

TEST_P(FencedLayout, DrawsOneTokenForAllCopiesOfARequest) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  EXPECT_EQ(theirs().acquire(mine, true), acquire_verdict(granted{1, lease}));
  EXPECT_EQ(redis().get(counter), "1");
  EXPECT_EQ(command({"HVALS", key.name()}).items.at(0).text, "1");
}

}  // namespace
}  // namespace holdfast::dialects
