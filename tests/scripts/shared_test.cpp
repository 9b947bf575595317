// Locks that several may hold: who goes together, in what order they come in, and what they leave.
#include <gmock/gmock.h>

#include <memory>
#include <optional>

#include "redis/dialects/holdfast/shared_lock.hpp"
#include "redis/dialects/holdfast/value_block.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "scripts/shared_script.hpp"

namespace holdfast::dialects {
namespace {

class SharedScript : public shared_script_test {};
HOLDFAST_ON_EACH_SERVER(SharedScript);

// The table of the classic lock managers, and U.
TEST_P(SharedScript, LetsInWhoGoesTogether) {
  constexpr std::string_view together[] = {"ncdrpxu", "ncdrpu", "ncd", "ncru", "nc", "n", "ncr"};
  for (std::size_t i = 0; i < modes.size(); ++i) {
    for (const char mode : modes) {
      claim first = in_mode(modes[i]), second = in_mode(mode);
      ASSERT_TRUE(granted_to(first));
      const bool expected = together[i].find(mode) != std::string_view::npos;
      EXPECT_EQ(granted_to(second), expected) << modes[i] << " and " << mode;
      shared().release(first);
      shared().release(second);
      EXPECT_FALSE(shared().exists(key.value_key())) << "what nobody holds leaves nothing";
    }
  }
}

TEST_P(SharedScript, GivesEveryHolderATokenOfHisOwn) {
  claim a = in_mode('r'), b = in_mode('r'), writer = in_mode('x');
  ASSERT_TRUE(granted_to(a) && granted_to(b));
  EXPECT_LT(a.granted, b.granted);
  shared().release(a);
  shared().release(b);
  ASSERT_TRUE(granted_to(writer));
  EXPECT_LT(b.granted, writer.granted);
}

TEST_P(SharedScript, WithdrawsOnlyTheGrantThatIsNamed) {
  claim a = in_mode('r');
  ASSERT_TRUE(granted_to(a));
  claim earlier = a;
  --earlier.granted;
  EXPECT_EQ(shared().withdraw(earlier), release_verdict(not_mine{}));
  EXPECT_TRUE(holds(a));
  EXPECT_EQ(shared().withdraw(a), release_verdict(released{}));
  EXPECT_FALSE(holds(a));
}

TEST_P(SharedScript, TakesAHolderOutByTheLocksOwnKeyAlone) {
  claim a = in_mode('r'), b = in_mode('r'), writer = waiting(in_mode('x'));
  ASSERT_TRUE(granted_to(a) && granted_to(b));
  ASSERT_EQ(place_of(writer), 0U);
  claim wrong_token = a;
  ++wrong_token.granted;
  EXPECT_EQ(shared().lone_release(wrong_token), release_verdict(not_mine{}));
  EXPECT_TRUE(holds(a));
  EXPECT_EQ(shared().lone_release(a), release_verdict(released{}));
  EXPECT_FALSE(holds(a));
  EXPECT_TRUE(holds(b));
  EXPECT_EQ(place_of(writer), 0U) << "there is another reader";
  EXPECT_EQ(shared().lone_release(a), release_verdict(not_mine{}));
  EXPECT_EQ(shared().lone_release(b), release_verdict(released{}));
  EXPECT_FALSE(shared().exists(key.value_key())) << "nobody was let in";
  EXPECT_EQ(shared().lone_release(b), release_verdict(not_mine{}));
  EXPECT_TRUE(granted_to(writer)) << "when it asks";
}

TEST_P(SharedScript, CountsPermitsThatWereGivenUpAlone) {
  claim two = permits(2, 3), one = permits(1, 3), another = permits(2, 3);
  ASSERT_TRUE(granted_to(two) && granted_to(one));
  EXPECT_EQ(shared().lone_release(two), release_verdict(released{}));
  EXPECT_TRUE(granted_to(another));
  claim third = permits(1, 3);
  EXPECT_FALSE(granted_to(third));
}

TEST_P(SharedScript, AnswersTheSameRequestWithTheSameGrant) {
  claim one = in_mode('r');
  ASSERT_TRUE(granted_to(one));
  const auto first = one.granted;
  ASSERT_TRUE(granted_to(one));
  EXPECT_EQ(one.granted, first);
  shared().release(one);
  EXPECT_FALSE(shared().exists(key.value_key())) << "it was counted once";
}

TEST_P(SharedScript, NeverGivesMorePermitsThanThereAre) {
  claim two = permits(2, 3), one = permits(1, 3), another = permits(1, 3), four = permits(4, 3);
  EXPECT_TRUE(granted_to(two));
  EXPECT_TRUE(granted_to(one));
  EXPECT_FALSE(granted_to(another));
  EXPECT_EQ(code_of(shared().acquire(four)), errc::invalid_argument);
  shared().release(two);
  EXPECT_TRUE(granted_to(another));
}

TEST_P(SharedScript, LetsTheNumberOfPermitsChange) {
  claim held = permits(1, 1), more = waiting(permits(1, 1)), third = permits(1, 1);
  ASSERT_TRUE(granted_to(held));
  ASSERT_EQ(place_of(more), 0U);
  const auto set = [&](std::uint32_t count) {
    const auto reply = shared().ask([&](auto& out) { write_set_permits(key, count, never, out); });
    EXPECT_TRUE(std::get<bool>(read_permits_set(key, reply)));
  };
  set(2);
  EXPECT_TRUE(holds(more)) << "who waited comes in at once";
  set(1);
  shared().release(held);
  EXPECT_FALSE(granted_to(third)) << "one of one is in use";
  set(0);
  EXPECT_FALSE(shared().exists(key.value_key() + ":n"));
}

TEST_P(SharedScript, DoesTooLateNothingThatAnOperatorHasAskedFor) {
  claim held = permits(1, 1);
  ASSERT_TRUE(granted_to(held));
  EXPECT_TRUE(
      shared().refuses_late([&](auto when, auto& out) { write_set_permits(key, 2, when, out); }));
  EXPECT_TRUE(
      shared().refuses_late([&](auto when, auto& out) { write_break_shared(key, when, out); }));
}

TEST_P(SharedScript, SetsNoPermitsOfAnythingElse) {
  const auto refusal = [&] {
    const auto reply = shared().ask([&](auto& out) { write_set_permits(key, 7, never, out); });
    const auto verdict = read_permits_set(key, reply);
    const auto* const why = std::get_if<refused>(&verdict);
    EXPECT_FALSE(shared().exists(key.value_key() + ":n"));
    return why != nullptr ? why->code : errc::busy;
  };
  claim plain = claims.next(), reader = in_mode('r');
  redis().must_acquire(plain);
  EXPECT_EQ(refusal(), errc::foreign_key);
  redis().release(plain);
  ASSERT_TRUE(granted_to(reader));
  EXPECT_EQ(refusal(), errc::foreign_key);
  shared().release(reader);
  shared().command({"HSET", key.value_key(), "field", "value"});
  EXPECT_EQ(refusal(), errc::foreign_key);
  shared().command({"HSET", key.value_key(), "=", "2s:17"});
  EXPECT_EQ(refusal(), errc::layout_version);
}

TEST_P(SharedScript, HandsOverWhenMemoryIsShort) {
  claim writer = in_mode('x'), next = waiting(in_mode('x'));
  ASSERT_TRUE(granted_to(writer));
  ASSERT_EQ(place_of(next), 0U);
  redis().command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(shared().release(writer), release_verdict(released{}));
  EXPECT_TRUE(holds(next));
}

// Of waiters on channels to which nobody listens.
TEST_P(SharedScript, GivesATryWhatOnlyTheDeadWaitFor) {
  claim writer = in_mode('x'), gone = waiting(in_mode('x'), wakeup_way::channel);
  ASSERT_TRUE(granted_to(writer));
  ASSERT_EQ(place_of(gone), 0U);
  end_the_lease();
  claim attempt = in_mode('x');
  EXPECT_TRUE(std::holds_alternative<unfinished>(shared().acquire(attempt)));
  EXPECT_TRUE(granted_to(attempt));
}

TEST_P(SharedScript, CountsTheDeadAgainstNoLimit) {
  claim writer = in_mode('x'), gone = waiting(in_mode('x'), wakeup_way::channel);
  ASSERT_TRUE(granted_to(writer));
  ASSERT_EQ(place_of(gone), 0U);
  claim next = waiting(in_mode('x')), another = waiting(in_mode('x'));
  next.queue_limit = another.queue_limit = 1;
  EXPECT_EQ(place_of(next), 0U) << "the dead one is dropped";
  EXPECT_EQ(code_of(shared().acquire(another)), errc::queue_full);
  EXPECT_EQ(place_of(next), 0U);
  end_the_lease();
  EXPECT_TRUE(granted_to(next));
}

TEST_P(SharedScript, LetsTheDeadBlockNobodyWhereItMayNotPublish) {
  claim writer = in_mode('x'), gone = waiting(in_mode('x'), wakeup_way::channel),
        next = waiting(in_mode('x'));
  ASSERT_TRUE(granted_to(writer));
  ASSERT_EQ(place_of(gone), 0U);
  ASSERT_TRUE(place_of(next));
  redis().command({"ACL", "SETUSER", "default", "-publish"});
  end_the_lease();
  EXPECT_TRUE(granted_to(next));
}

TEST_P(SharedScript, LetsAllReadersBeforeTheNextWriterInAtOnce) {
  claim writer = in_mode('x');
  ASSERT_TRUE(granted_to(writer));
  claim r1 = waiting(in_mode('r')), r2 = waiting(in_mode('r')), w = waiting(in_mode('x')),
        r3 = waiting(in_mode('r'));
  std::uint64_t place = 0;
  for (claim* one : {&r1, &r2, &w, &r3}) EXPECT_EQ(place_of(*one), place++);
  shared().release(writer);
  EXPECT_TRUE(holds(r1) && holds(r2));
  EXPECT_FALSE(holds(w) || holds(r3));
  claim late_reader = in_mode('r');
  EXPECT_FALSE(granted_to(late_reader)) << "a writer waits: readers do not overtake it";
  ASSERT_TRUE(granted_to(r1) && granted_to(r2)) << "it asks which token it has";
  shared().release(r1);
  EXPECT_FALSE(holds(w));
  shared().release(r2);
  EXPECT_TRUE(holds(w));
  ASSERT_TRUE(granted_to(w));
  shared().release(w);
  EXPECT_TRUE(holds(r3));
}

TEST_P(SharedScript, TellsEachOfThemHisToken) {
  support::raw_connection ear{net::unix_endpoint{server().socket()}};
  ear.command({"SUBSCRIBE", channel_of(key_space{}, client_id{{1}})});
  claim writer = in_mode('x');
  ASSERT_TRUE(granted_to(writer));
  claim a = waiting(in_mode('r'), wakeup_way::channel),
        b = waiting(in_mode('r'), wakeup_way::channel);
  ASSERT_TRUE(place_of(a) && place_of(b));
  shared().release(writer);
  token_major last = writer.granted;
  for (const claim* one : {&a, &b}) {
    const auto said = read_message(key_space{}, client_id{{1}}, ear.read_value().items.at(2).text);
    ASSERT_TRUE(said && std::holds_alternative<handed_over>(*said));
    const auto& grant = std::get<handed_over>(*said);
    EXPECT_EQ(grant.request, one->owner.counter());
    EXPECT_EQ(grant.of, family::several);
    EXPECT_EQ(grant.proof, one->proof);
    EXPECT_GT(grant.major, last);
    last = grant.major;
  }
  claim next = in_mode('r');
  ASSERT_TRUE(granted_to(next));
  EXPECT_GT(next.granted, last) << "the counter knows of all of them";
}

TEST_P(SharedScript, TellsWhoComesToTheFront) {
  support::raw_connection ear{net::unix_endpoint{server().socket()}};
  ear.command({"SUBSCRIBE", channel_of(key_space{}, client_id{{1}})});
  claim writer = in_mode('x');
  ASSERT_TRUE(granted_to(writer));
  claim reader = waiting(in_mode('r')), behind = waiting(in_mode('x'), wakeup_way::channel);
  ASSERT_EQ(place_of(reader), 0U);
  ASSERT_EQ(place_of(behind), 1U);
  shared().release(writer);
  const auto said = read_message(key_space{}, client_id{{1}}, ear.read_value().items.at(2).text);
  ASSERT_TRUE(said && std::holds_alternative<first_in_line>(*said));
  const auto& first = std::get<first_in_line>(*said);
  EXPECT_EQ(first.request, behind.owner.counter());
  EXPECT_GT(first.owner_has, milliseconds(0));
  EXPECT_LE(first.owner_has, longest_claim);
}

TEST_P(SharedScript, SkipsWhoIsGoneAlsoWhenHeCouldNotComeInYet) {
  claim reader = in_mode('r');
  ASSERT_TRUE(granted_to(reader));
  claim gone = waiting(in_mode('x'), wakeup_way::channel), behind = waiting(in_mode('r'));
  ASSERT_EQ(place_of(gone), 0U) << "nobody listens to its channel";
  EXPECT_TRUE(granted_to(behind));
}

// Found by the simulation (mode-lock, seed 12): nobody notified the waiter, and it asked when it
// was due to.
TEST_P(SharedScript, TellsWhoComesToTheFrontSinceTheFirstIsGone) {
  support::raw_connection ear{net::unix_endpoint{server().socket()}};
  ear.command({"SUBSCRIBE", channel_of(key_space{}, client_id{{1}})});
  auto of_who_goes =
      std::make_unique<support::raw_connection>(net::unix_endpoint{server().socket()});
  of_who_goes->command({"SUBSCRIBE", channel_of(key_space{}, client_id{{2}})});
  claim reader = in_mode('r'), gone = waiting(in_mode('x'), wakeup_way::channel);
  gone.owner = request_id{client_id{{2}}, 1};
  claim next = waiting(in_mode('x'), wakeup_way::channel), last = waiting(in_mode('x'));
  ASSERT_TRUE(granted_to(reader));
  ASSERT_EQ(place_of(gone), 0U);
  ASSERT_EQ(place_of(next), 1U);
  of_who_goes.reset();
  const auto ears = [&] {
    return shared()
        .command({"PUBSUB", "NUMSUB", channel_of(key_space{}, client_id{{2}})})
        .items.at(1)
        .number;
  };
  ASSERT_TRUE(support::eventually([&] { return ears() == 0; }));
  ASSERT_EQ(place_of(last), 1U);
  const auto said = read_message(key_space{}, client_id{{1}}, ear.read_value().items.at(2).text);
  ASSERT_TRUE(said && std::holds_alternative<first_in_line>(*said));
  EXPECT_EQ(std::get<first_in_line>(*said).request, next.owner.counter());
}

// Found by the simulation: a server whose clock was set back could give the same token again.
// No client of ours stands there twice, since it leaves before it asks in another way.
TEST_P(SharedScript, CountsWhoStandsInTheQueueTwiceOnce) {
  claim writer = in_mode('x'), reader = waiting(in_mode('r'), wakeup_way::channel);
  writer.lease = brief_lease;
  ASSERT_TRUE(granted_to(writer));
  ASSERT_EQ(place_of(reader), 0U);
  reader.way = wakeup_way::poll;
  ASSERT_TRUE(place_of(reader));
  outlive_brief_leases();
  ASSERT_TRUE(granted_to(reader));
  shared().release(reader);
  EXPECT_FALSE(shared().exists(key.value_key()));
}

TEST_P(SharedScript, CountsTheTokenThatNobodyHeardOf) {
  std::optional<support::raw_connection> ear{net::unix_endpoint{server().socket()}};
  const auto channel = channel_of(key_space{}, client_id{{2}});
  ear->command({"SUBSCRIBE", channel});
  claim writer = in_mode('x');
  ASSERT_TRUE(granted_to(writer));
  claim gone = waiting(in_mode('r'), wakeup_way::channel), behind = waiting(in_mode('r'));
  gone.owner = request_id{client_id{{2}}, 1};
  ASSERT_TRUE(place_of(gone) && place_of(behind));
  ear.reset();
  while (shared().command({"PUBSUB", "NUMSUB", channel}).items.at(1).number > 0) continue;
  shared().release(writer);
  ASSERT_TRUE(granted_to(behind));
  EXPECT_EQ(shared().counted(key), behind.granted);
}

TEST_P(SharedScript, LetsThoseBehindInWhenAWaiterGivesUp) {
  claim reader = in_mode('r');
  ASSERT_TRUE(granted_to(reader));
  claim writer = waiting(in_mode('x')), behind = waiting(in_mode('r'));
  ASSERT_EQ(place_of(writer), 0U);
  ASSERT_EQ(place_of(behind), 1U);
  shared().withdraw(writer);
  EXPECT_TRUE(holds(behind));
}

TEST_P(SharedScript, ForgetsWhoseLeaseHasEnded) {
  claim brief = in_mode('x');
  brief.lease = brief_lease;
  claim long_reader = in_mode('r');
  ASSERT_TRUE(granted_to(brief));
  while (!granted_to(long_reader)) continue;
  claim brief_reader = in_mode('r');
  brief_reader.lease = brief_lease;
  ASSERT_TRUE(granted_to(brief_reader));
  EXPECT_GT(shared().pttl(key.value_key()), 25'000) << "a reader's lease is its own";
  shared().release(long_reader);
  claim writer = in_mode('x');
  while (!granted_to(writer)) continue;
  EXPECT_EQ(std::get<not_mine>(shared().release(brief_reader)), not_mine{});
}

TEST_P(SharedScript, CountsWhatEndedAndIsGivenBackOnce) {
  claim brief = permits(2, 3), staying = permits(1, 3), waiter = waiting(permits(3, 3));
  brief.lease = brief_lease;
  ASSERT_TRUE(granted_to(brief) && granted_to(staying));
  ASSERT_EQ(place_of(waiter), 0U);
  outlive_brief_leases();
  shared().release(brief);
  shared().withdraw(waiter);
  claim two = permits(2, 3), one_more = permits(1, 3);
  EXPECT_TRUE(granted_to(two));
  EXPECT_FALSE(granted_to(one_more)) << "three of three are in use";
}

// Found by the simulation: the permits of the dead were lost for as long as anybody held one.
TEST_P(SharedScript, CountsTheDeadNoMoreWhenItRefuses) {
  claim brief = permits(2, 3), staying = permits(1, 3), too_many = permits(4, 3);
  brief.lease = brief_lease;
  ASSERT_TRUE(granted_to(brief) && granted_to(staying));
  outlive_brief_leases();
  ASSERT_TRUE(std::holds_alternative<refused>(shared().acquire(too_many)));
  claim two = permits(2, 3);
  EXPECT_TRUE(granted_to(two));
}

TEST_P(SharedScript, RenewsEachHolderForHimself) {
  claim a = in_mode('r'), b = in_mode('r');
  a.lease = milliseconds{5'000};
  b.lease = milliseconds{10'000};
  ASSERT_TRUE(granted_to(a) && granted_to(b));
  a.lease = milliseconds{60'000};
  const auto verdicts = shared().renew(std::vector<const claim*>{&a, &b});
  EXPECT_EQ(std::get<renewed>(verdicts[0]).ttl, milliseconds{60'000});
  EXPECT_LE(std::get<renewed>(verdicts[1]).ttl, milliseconds{10'000});
  EXPECT_GT(shared().pttl(key.value_key()), 55'000);
  shared().release(a);
  EXPECT_EQ(std::get<not_mine>(shared().renew(a)), not_mine{});
}

// Found by the simulation: a server that was emptied may grant a late copy what it granted before.
TEST_P(SharedScript, RenewsNoOtherGrantOfTheSameRequest) {
  claim mine = in_mode('r');
  ASSERT_TRUE(granted_to(mine));
  claim older = mine;
  --older.granted;
  EXPECT_EQ(shared().renew(older), renew_verdict(not_mine{}));
  EXPECT_EQ(shared().renew(mine), renew_verdict(renewed{lease}));
}

TEST_P(SharedScript, WritesTheValueBlockForWhoHoldsItToWrite) {
  const auto write = [&](const claim& by, std::string_view bytes) {
    const auto asked = value_block_write(by, bytes);
    const auto id = claims.next().owner;
    const auto got =
        read_once(shared().ask([&](auto& out) { write_once(key_space{}, asked, id, never, out); }));
    return read_value_block_written(std::get<once_answer>(got));
  };
  const auto read = [&] {
    return read_value_block(key,
                            shared().ask([&](auto& out) { write_value_block_query(key, out); }));
  };
  using written = std::variant<bool, refused>;
  EXPECT_EQ(std::get<std::string>(read()), "");
  claim writer = in_mode('x');
  ASSERT_TRUE(granted_to(writer));
  EXPECT_EQ(write(writer, std::string_view{"a:b\0c\r\n", 7}), written{true});
  EXPECT_EQ(std::get<std::string>(read()), (std::string{"a:b\0c\r\n", 7}));
  claim elder = writer;
  --elder.granted;
  EXPECT_EQ(write(elder, "of an earlier grant"), written{false});
  shared().release(writer);
  EXPECT_EQ(write(writer, "too late"), written{false});
  claim reader = in_mode('r');
  ASSERT_TRUE(granted_to(reader));
  EXPECT_EQ(write(reader, "not for it to write"), written{false});
  EXPECT_EQ(std::get<std::string>(read()).substr(0, 3), "a:b");
  shared().release(reader);
  ASSERT_TRUE(granted_to(writer));
  EXPECT_EQ(write(writer, ""), written{true});
  EXPECT_FALSE(shared().exists(key.value_key() + ":v")) << "nothing leaves nothing";
  shared().command({"SET", key.value_key() + ":v", "strange"});
  EXPECT_EQ(code_of(read()), errc::foreign_key);
}

TEST_P(SharedScript, DoesNotMixKinds) {
  // By the key's name, and not by what the server says of types.
  const auto is_told_of_the_key = [&](const acquire_verdict& v) {
    const auto* const why = std::get_if<refused>(&v);
    return why != nullptr && why->code == errc::foreign_key &&
           why->detail.starts_with("the key " + key.value_key() + " holds something else");
  };
  claim reader = in_mode('r'), permit = permits(1, 5), plain = claims.next();
  ASSERT_TRUE(granted_to(reader));
  EXPECT_EQ(code_of(shared().acquire(permit)), errc::foreign_key);
  EXPECT_TRUE(is_told_of_the_key(redis().acquire(plain)));
  shared().release(reader);
  ASSERT_TRUE(granted_to(permit));
  EXPECT_EQ(code_of(shared().acquire(reader)), errc::foreign_key);
  shared().release(permit);
  ASSERT_EQ(redis().must_acquire(plain).major, plain.granted);
  EXPECT_TRUE(is_told_of_the_key(shared().acquire(reader)));
}

// Those who wait for a lock that has gone, as one of another kind.
TEST_P(SharedScript, DoesNotMixKindsInAQueue) {
  const auto lose_the_lock = [&] { shared().command({"DEL", key.value_key()}); };
  claim plain = claims.next(), second = waiting(claims.next());
  claim writer = in_mode('x'), reader = waiting(in_mode('r'));
  redis().must_acquire(plain);
  ASSERT_TRUE(std::holds_alternative<queued>(redis().acquire(second)));
  lose_the_lock();
  EXPECT_EQ(code_of(shared().acquire(reader)), errc::foreign_key);
  ASSERT_EQ(redis().must_acquire(second).major, second.granted);
  redis().release(second);

  ASSERT_TRUE(granted_to(writer));
  ASSERT_TRUE(place_of(reader));
  lose_the_lock();
  EXPECT_EQ(code_of(redis().acquire(claims.next())), errc::foreign_key);
  EXPECT_TRUE(granted_to(reader)) << "it has kept its place";
}

TEST_P(SharedScript, LeavesAForeignHashAlone) {
  shared().command({"HSET", key.value_key(), "field", "value"});
  const auto before = shared().contents();
  claim reader = in_mode('r');
  EXPECT_EQ(code_of(shared().acquire(reader)), errc::foreign_key);
  EXPECT_EQ(std::get<not_mine>(shared().release(reader)), not_mine{});
  EXPECT_EQ(shared().contents(), before);
}

TEST_P(SharedScript, LimitsTheQueue) {
  claim writer = in_mode('x'), a = waiting(in_mode('x')), b = waiting(in_mode('x'));
  ASSERT_TRUE(granted_to(writer));
  a.queue_limit = b.queue_limit = 1;
  ASSERT_EQ(place_of(a), 0U);
  EXPECT_EQ(code_of(shared().acquire(b)), errc::queue_full);
}

TEST_P(SharedScript, LimitsAQueueInWhichNobodyStandsYet) {
  claim writer = in_mode('x'), a = waiting(in_mode('x'));
  ASSERT_TRUE(granted_to(writer));
  a.queue_limit = 0;
  EXPECT_EQ(code_of(shared().acquire(a)), errc::queue_full);
}

TEST_P(SharedScript, DoesNotCountAnOldTicketAgainstTheLimit) {
  claim writer = in_mode('x'), a = waiting(in_mode('x')), b = waiting(in_mode('x'));
  ASSERT_TRUE(granted_to(writer));
  ASSERT_EQ(place_of(a), 0U);
  shared().command({"DEL", key.value_key() + ":w"});
  ASSERT_EQ(place_of(b), 0U);
  a.queue_limit = 1;
  EXPECT_EQ(place_of(a), 0U);
}

TEST_P(SharedScript, RefusesWhatComesTooLate) {
  claim reader = in_mode('r');
  const auto verdict = shared().acquire(reader, false, server_time{microseconds{1}});
  EXPECT_TRUE(std::holds_alternative<late>(verdict));
  EXPECT_FALSE(holds(reader));
}

}  // namespace
}  // namespace holdfast::dialects
