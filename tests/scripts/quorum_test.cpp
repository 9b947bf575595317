// quorum/*.lua: what one member of a quorum does with what it is asked.
#include "redis/dialects/holdfast/quorum.hpp"

#include "base/lock_key.hpp"
#include "redis/dialects/holdfast/quorum_inspect.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

constexpr milliseconds longest{30'000};

class QuorumScripts : public scripts_test {
 protected:
  quorum_claim wanted(std::uint8_t client = 1) {
    return {.key = &key, .owner = request_id{client_id{{client}}, ++counter_}, .lease = lease};
  }
  vote ask(const quorum_claim& c, newcomer how = newcomer::tells, server_time not_after = never) {
    return read_vote(
        c, redis().ask([&](auto& out) { write_quorum_acquire(c, how, longest, not_after, out); }));
  }
  token_major must_vote(const quorum_claim& c, newcomer how = newcomer::joins) {
    const auto said = ask(c, how);
    const auto* const given = std::get_if<granted>(&said);
    EXPECT_NE(given, nullptr) << script_client::why(said);
    return given != nullptr ? given->major : 0;
  }
  renew_verdict keep(quorum_claim c, token_major token, bool again = true,
                     server_time not_after = never) {
    c.token = token;
    return read_quorum_keep(
        redis().ask([&](auto& out) { write_quorum_keep(c, again, longest, not_after, out); }));
  }
  release_verdict release(quorum_claim c, token_major token = 0, bool hears_on = true) {
    c.token = token;
    return read_quorum_release(
        redis().ask([&](auto& out) { write_quorum_release(c, hears_on, out); }));
  }
  vote_seen look() {
    return read_quorum_inspect(redis().ask([&](auto& out) { write_quorum_inspect(key, out); }));
  }
  break_verdict break_vote(token_major largest = 0) {
    return read_quorum_break(
        key, redis().ask([&](auto& out) { write_quorum_break(key, largest, never, out); }));
  }
  quorum_claim wanted_of_group(std::uint8_t client = 1) {
    auto c = wanted(client);
    c.at_group = true;
    return c;
  }
  // What is remembered is another's, as after a failover.
  void replace_master() { redis().command({"SET", master(), "another"}); }
  std::string master() const { return fence() + ":master"; }
  std::string reached() { return redis().get(fence()); }
  std::string fence() const { return "hf:q:fence:{" + slot_tag(key.slot()) + "}"; }
  std::string out() const { return "hf:q:out:{" + slot_tag(key.slot()) + "}"; }

  const std::string value = quorum_value_key(key);

 private:
  std::uint64_t counter_ = 0;
};
HOLDFAST_ON_EACH_SERVER(QuorumScripts);

TEST_P(QuorumScripts, VoteOnceAndCountFromTheClock) {
  const auto first = wanted(), second = wanted(2);
  const auto before = redis().micros();
  const auto major = must_vote(first);
  EXPECT_GE(major, before);
  EXPECT_EQ(reached(), std::to_string(major));
  EXPECT_GT(redis().pttl(value), 20'000);
  const auto other = ask(second);
  ASSERT_TRUE(std::holds_alternative<busy>(other));
  EXPECT_GT(*std::get<busy>(other).remaining, milliseconds(20'000));
  EXPECT_EQ(ask(first), vote{voted_before{}});
  EXPECT_EQ(release(first), release_verdict{released{}});
  EXPECT_EQ(release(first), release_verdict{not_mine{}});
  EXPECT_EQ(must_vote(second, newcomer::tells), major + 1);
}

TEST_P(QuorumScripts, SayThatTheyRememberNothing) {
  EXPECT_EQ(ask(wanted()), vote{without_memory{}});
  EXPECT_EQ(redis().contents(), "");
  EXPECT_EQ(ask(wanted(), newcomer::enters), vote{staying_out{}});
  EXPECT_FALSE(redis().exists(out()));
  EXPECT_GT(must_vote(wanted(), newcomer::tells), 1'000'000u);
}

TEST_P(QuorumScripts, StayOutWhenToldSo) {
  EXPECT_TRUE(std::holds_alternative<staying_out>(ask(wanted(), newcomer::waits)));
  for (const auto how : {newcomer::tells, newcomer::joins}) {
    const auto said = ask(wanted(), how);
    ASSERT_TRUE(std::holds_alternative<staying_out>(said));
    EXPECT_GT(std::get<staying_out>(said).remaining, milliseconds(20'000));
  }
  EXPECT_FALSE(redis().exists(value));
  redis().command({"DEL", out()});  // as its expiry does
  EXPECT_GT(must_vote(wanted(), newcomer::tells), 1'000'000u);
}

TEST_P(QuorumScripts, AreToldTheTokenOnlyWhereTheVoteIsOurs) {
  const auto first = wanted(), second = wanted(2);
  const auto major = must_vote(first);
  EXPECT_TRUE(std::holds_alternative<renewed>(keep(first, major + 5, false)));
  EXPECT_EQ(reached(), std::to_string(major + 5));
  EXPECT_EQ(redis().get(value).substr(0, 2 + std::to_string(major).size()),
            "1:" + std::to_string(major + 5));
  EXPECT_EQ(keep(second, major + 9, false), renew_verdict{not_mine{}});
  EXPECT_EQ(keep(second, major + 9, true), renew_verdict{not_mine{}});
  EXPECT_EQ(reached(), std::to_string(major + 5));
}

TEST_P(QuorumScripts, VoteAgainUnlessTheyHaveVotedForAnotherSince) {
  const auto first = wanted(), second = wanted(2);
  const auto major = must_vote(first);
  redis().command({"DEL", value});
  EXPECT_EQ(keep(first, major, false), renew_verdict{not_mine{}});
  EXPECT_EQ(keep(first, major), renew_verdict{renewed{lease}});
  redis().command({"DEL", value});
  must_vote(second, newcomer::tells);
  release(second);
  EXPECT_EQ(keep(first, major), renew_verdict{not_mine{}});
  EXPECT_FALSE(redis().exists(value));
}

TEST_P(QuorumScripts, DoNotVoteAgainForWhatWasReleased) {
  const auto first = wanted();
  const auto major = must_vote(first);
  release(first, major);
  EXPECT_EQ(reached(), std::to_string(major + 1));
  EXPECT_EQ(keep(first, major), renew_verdict{not_mine{}});
  EXPECT_FALSE(redis().exists(value));
}

// It may have voted for another just before it forgot.
TEST_P(QuorumScripts, GiveARenewalNoVoteWithoutMemory) {
  const auto first = wanted();
  EXPECT_EQ(keep(first, 77), renew_verdict{not_mine{}});
  EXPECT_EQ(keep(first, 77), renew_verdict{not_mine{}});
  EXPECT_FALSE(redis().exists(value));
  EXPECT_EQ(reached(), "077");
  EXPECT_GT(redis().pttl(out()), 20'000);
  EXPECT_TRUE(std::holds_alternative<staying_out>(ask(wanted(), newcomer::joins)));
  redis().command({"DEL", out()});  // as its expiry does
  EXPECT_EQ(keep(first, 77), renew_verdict{renewed{lease}});
  release(first, 77);
  EXPECT_EQ(reached(), "078");
  EXPECT_EQ(keep(first, 77), renew_verdict{not_mine{}});
}

// The hash slot is new to all members, and this one is the last to say so: the renewal of the
// request that founded it comes before the invitation.
TEST_P(QuorumScripts, StayInANewHashSlotWhereARenewalComesFirst) {
  auto first = wanted();
  first.is_unheard = true;
  EXPECT_EQ(keep(first, 77), renew_verdict{not_mine{}});
  EXPECT_FALSE(redis().exists(out()));
  EXPECT_FALSE(redis().exists(fence()));
  (void)ask(wanted(), newcomer::enters);
  EXPECT_EQ(keep(first, 77), renew_verdict{renewed{lease}});
}

TEST_P(QuorumScripts, GiveARenewalNoVoteWhileTheyStayOut) {
  (void)ask(wanted(), newcomer::waits);
  EXPECT_EQ(keep(wanted(), 77), renew_verdict{not_mine{}});
  EXPECT_EQ(keep(wanted(), 77, false), renew_verdict{not_mine{}});
  EXPECT_FALSE(redis().exists(value));
  // What it is told it may count from.
  EXPECT_EQ(reached(), "077");
}

// Somebody, or an eviction, took the counter alone: it may have taken more.
TEST_P(QuorumScripts, ProlongNoVoteWithoutACounter) {
  const auto first = wanted();
  const auto major = must_vote(first);
  redis().command({"DEL", fence()});
  EXPECT_EQ(keep(first, major, false), renew_verdict{not_mine{}});
  EXPECT_EQ(keep(first, major), renew_verdict{not_mine{}});
  EXPECT_TRUE(redis().exists(out()));
}

// It is told the token of one lock, and there may be later ones of others of the hash slot.
TEST_P(QuorumScripts, BeginWithTheClockWhatWasForgottenAlsoWhenToldAToken) {
  enum class told { by_keeping, by_releasing, with_the_marker };
  for (const auto how : {told::by_keeping, told::by_releasing, told::with_the_marker}) {
    redis().command({"FLUSHALL"});
    const auto old = wanted(), next = wanted(2);
    if (how == told::with_the_marker) (void)ask(wanted(), newcomer::waits);
    EXPECT_EQ(keep(old, 77), renew_verdict{not_mine{}});
    if (how == told::by_releasing) release(old, 77);
    redis().command({"DEL", out(), value});  // as their expiry does
    const auto now = redis().micros();
    const auto major = must_vote(next, newcomer::tells);
    EXPECT_GE(major, now);
    release(next, major);
    EXPECT_EQ(must_vote(wanted(3), newcomer::tells), major + 2) << "it remembers again";
  }
}

// Its clock may be behind those that began the others' counters.
TEST_P(QuorumScripts, VoteAboveATokenThatTheyWereToldWithoutMemory) {
  const auto old = wanted();
  const auto token = redis().micros() + 3'600'000'000;
  EXPECT_EQ(keep(old, token), renew_verdict{not_mine{}});
  redis().command({"DEL", out(), value});
  EXPECT_EQ(must_vote(wanted(2), newcomer::tells), token + 1);
}

// What one has been told does not keep it from voting again for the later ones of its slot.
TEST_P(QuorumScripts, VoteAgainForSeveralLocksOfTheSlotWhenTheyHaveStayedOut) {
  const auto first = wanted();
  EXPECT_EQ(keep(first, 77), renew_verdict{not_mine{}});
  redis().command({"DEL", out()});
  EXPECT_EQ(keep(first, 77), renew_verdict{renewed{lease}});
  redis().command({"DEL", value});  // its lease ends here, while its owner still holds a majority
  EXPECT_EQ(keep(first, 77), renew_verdict{renewed{lease}});
  redis().command({"DEL", value});
  EXPECT_EQ(keep(wanted(2), 99), renew_verdict{renewed{lease}});
  EXPECT_EQ(reached(), "099");
}

TEST_P(QuorumScripts, ShowAVoteAndChangeNothing) {
  EXPECT_EQ(look(), vote_seen{.what = lock_free{}});
  const auto mine = wanted();
  const auto major = must_vote(mine);
  auto second = wanted(2);
  second.listener = request_id{client_id{{2}}, 1};
  (void)ask(second);
  const auto before = redis().contents();
  const auto seen = look();
  const auto& held = std::get<lock_held>(seen.what);
  EXPECT_EQ(held.major, major);
  EXPECT_EQ(held.owner, mine.owner.shortened());
  EXPECT_GT(held.ttl, milliseconds(20'000));
  EXPECT_EQ(seen.waiting, 1U);
  EXPECT_EQ(seen.stays_out, milliseconds(0));
  EXPECT_EQ(redis().contents(), before);
  redis().command({"SET", value, "theirs"});
  EXPECT_TRUE(std::holds_alternative<lock_foreign>(look().what));
}

TEST_P(QuorumScripts, ShowForHowLongTheyStayOut) {
  (void)ask(wanted(), newcomer::waits);
  EXPECT_GT(look().stays_out, milliseconds(20'000));
}

TEST_P(QuorumScripts, AreNotGivenBackWhatAnOperatorTook) {
  const auto first = wanted(), second = wanted(2);
  const auto major = must_vote(first);
  EXPECT_EQ(std::get<lock_broken>(break_vote()).owner, first.owner.shortened());
  EXPECT_FALSE(redis().exists(value));
  EXPECT_EQ(keep(first, major), renew_verdict{not_mine{}});
  EXPECT_EQ(break_vote(), break_verdict{lock_free{}});
  EXPECT_GT(must_vote(second, newcomer::tells), major);
}

// A member that has not been told the chosen token, and one without a vote.
TEST_P(QuorumScripts, AreNotGivenBackWhatAnOperatorTookElsewhere) {
  const auto first = wanted();
  const auto token = must_vote(first) + 7;
  (void)break_vote(token);
  EXPECT_EQ(keep(first, token), renew_verdict{not_mine{}});
  (void)break_vote(token + 7);
  EXPECT_EQ(keep(first, token + 7), renew_verdict{not_mine{}});
}

TEST_P(QuorumScripts, BreakNothingTooLate) {
  must_vote(wanted());
  EXPECT_TRUE(
      redis().refuses_late([&](auto when, auto& out) { write_quorum_break(key, 77, when, out); }));
}

TEST_P(QuorumScripts, StayWithoutMemoryWhenAnOperatorBreaksNothing) {
  (void)ask(wanted(), newcomer::enters);
  EXPECT_EQ(break_vote(), break_verdict{lock_free{}});
  EXPECT_EQ(reached(), "0");
  redis().command({"DEL", fence()});
  EXPECT_EQ(break_vote(77), break_verdict{lock_free{}});
  EXPECT_EQ(redis().contents(), "");
}

TEST_P(QuorumScripts, AreNotBrokenWhereTheyAreForeign) {
  redis().command({"SET", value, "theirs"});
  EXPECT_EQ(std::get<refused>(break_vote(77)).code, errc::foreign_key);
  EXPECT_EQ(redis().get(value), "theirs");
}

TEST_P(QuorumScripts, LetANewMasterOfAGroupStayOut) {
  const auto first = wanted_of_group();
  EXPECT_EQ(ask(first), vote{without_memory{}});
  const auto major = must_vote(first);
  EXPECT_EQ(redis().get(master()).size(), 40U);
  release(first);
  EXPECT_EQ(must_vote(wanted_of_group(2), newcomer::tells), major + 1);
  redis().command({"DEL", value});

  replace_master();
  for (const auto how : {newcomer::tells, newcomer::joins, newcomer::enters, newcomer::waits}) {
    const auto said = ask(wanted_of_group(), how);
    ASSERT_TRUE(std::holds_alternative<staying_out>(said));
    EXPECT_GT(std::get<staying_out>(said).remaining, milliseconds(20'000));
  }
  EXPECT_FALSE(redis().exists(value));
  redis().command({"DEL", out()});  // as its expiry does
  const auto now = redis().micros();
  const auto next = must_vote(wanted_of_group(), newcomer::tells);
  EXPECT_GE(next, now) << "the clock, since counts may have been forgotten";
  redis().command({"DEL", value});
  EXPECT_EQ(must_vote(wanted_of_group(), newcomer::tells), next + 1) << "it is the same again";
}

// A vote that it has heard of may have been taken back, or given to another, since.
TEST_P(QuorumScripts, KeepNoVoteAtANewMasterUntilItHasStayedOut) {
  const auto first = wanted_of_group();
  const auto major = must_vote(first);
  replace_master();
  EXPECT_TRUE(std::holds_alternative<busy>(ask(wanted_of_group(2))));
  replace_master();
  redis().command({"PEXPIRE", value, "5000"});
  EXPECT_EQ(keep(first, major, false), renew_verdict{not_mine{}});
  EXPECT_EQ(keep(first, major), renew_verdict{not_mine{}});
  EXPECT_LE(redis().pttl(value), 5000);
  redis().command({"DEL", out()});  // as its expiry does
  EXPECT_EQ(keep(first, major), renew_verdict{renewed{lease}});
  redis().command({"DEL", value});  // a vote that was forgotten
  replace_master();
  EXPECT_EQ(keep(first, major, false), renew_verdict{not_mine{}});
  EXPECT_EQ(reached(), "0" + std::to_string(major));
  EXPECT_EQ(keep(first, major), renew_verdict{not_mine{}});
  EXPECT_FALSE(redis().exists(value));
  release(first, major);
  redis().command({"DEL", out()});
  EXPECT_EQ(keep(first, major), renew_verdict{not_mine{}});
  EXPECT_GT(must_vote(wanted_of_group(2), newcomer::tells), major);
}

// What it has heard of may have been taken back at its master. Also where nothing would change.
TEST_P(QuorumScripts, KeepNoVoteAtAReplica) {
  const auto first = wanted();
  const auto major = must_vote(first);
  redis().command({"PEXPIRE", value, "60000"});
  redis().command({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_EQ(code_of(keep(first, major)), errc::read_only);
}

// Nobody knows which master gave the votes there: a program that knew nothing of groups, for one.
TEST_P(QuorumScripts, TakeAMasterThatNobodyKnowsForANewOne) {
  const auto first = wanted();
  must_vote(first);
  EXPECT_FALSE(redis().exists(master())) << "a single server is the same when it starts again";
  release(first);
  EXPECT_TRUE(std::holds_alternative<staying_out>(ask(wanted_of_group())));
}

TEST_P(QuorumScripts, DoNotVoteAtAGroupWhereNobodyMayAskWhichMasterItIs) {
  redis().command({"ACL", "SETUSER", "default", "-info"});
  EXPECT_EQ(code_of(ask(wanted_of_group(), newcomer::joins)), errc::permission_denied);
  EXPECT_EQ(code_of(keep(wanted_of_group(), 7)), errc::permission_denied);
  EXPECT_EQ(redis().contents(), "");
  redis().command({"ACL", "SETUSER", "default", "+info"});
  must_vote(wanted_of_group());
}

// Waiters whose processes are gone: one script passes over a part of them.
TEST_P(QuorumScripts, PassOverABoundedNumberOfTheDeadWhoWait) {
  const auto list = quorum_waiters_key(key);
  std::vector<std::string> add{"ZADD", list};
  for (std::size_t i = 0; i < 250; ++i) {
    add.push_back(std::to_string(i));
    add.push_back("dead-" + std::to_string(i));
  }
  redis().command(add);
  const auto first = wanted();
  must_vote(first);
  EXPECT_EQ(release(first), release_verdict{released{}});
  EXPECT_EQ(redis().command({"ZCARD", list}).number, 150);
}

TEST_P(QuorumScripts, NeverShortenAVote) {
  auto first = wanted();
  const auto major = must_vote(first);
  first.lease = milliseconds(100);
  const auto said = keep(first, major);
  ASSERT_TRUE(std::holds_alternative<renewed>(said));
  EXPECT_GT(std::get<renewed>(said).ttl, milliseconds(20'000));
}

TEST_P(QuorumScripts, RefuseWhatComesTooLateAndWhatIsNoVote) {
  const server_time past{microseconds{1}};
  EXPECT_TRUE(std::holds_alternative<late>(ask(wanted(), newcomer::joins, past)));
  EXPECT_TRUE(std::holds_alternative<late>(keep(wanted(), 7, true, past)));
  EXPECT_EQ(redis().contents(), "");
  redis().command({"SET", value, "something else"});
  EXPECT_EQ(code_of(ask(wanted(), newcomer::joins)), errc::foreign_key);
  redis().command({"SET", value, "2:7:x"});
  EXPECT_EQ(code_of(ask(wanted(), newcomer::joins)), errc::layout_version);
  EXPECT_EQ(redis().get(value), "2:7:x");
}

TEST_P(QuorumScripts, TellWhoHasWaitedLongestThatTheyAreFree) {
  const auto holder = wanted();
  must_vote(holder);
  support::raw_connection subscriber{net::unix_endpoint{server().socket()}};
  const client_id oldest{{7}};
  (void)subscriber.command({"SUBSCRIBE", "hf:c:" + std::string{oldest.text()}});
  const auto waits = [&](std::uint8_t client, milliseconds since) {
    auto c = wanted(client);
    c.listener = request_id{client_id{{client}}, 9};
    c.waited = since;
    return c;
  };
  // The last has no connection; who came first has not waited longest.
  (void)ask(waits(5, milliseconds(10)));
  (void)ask(waits(7, milliseconds(500)));
  (void)ask(waits(6, milliseconds(9'000)));
  release(holder);
  const auto message = subscriber.read_value();
  const std::string expected = "free " + std::string{oldest.text()} + "-9";
  ASSERT_EQ(message.items.size(), 3U);
  EXPECT_EQ(message.items[2].text, expected);
  EXPECT_EQ(redis().command({"ZCARD", value + ":w"}).number, 1);
  // A waiter that leaves is forgotten.
  release(waits(5, {}), 0, false);
  EXPECT_FALSE(redis().exists(value + ":w"));
}

}  // namespace
}  // namespace holdfast::dialects
