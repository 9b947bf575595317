// Locks of a quorum, over private servers: what they promise while a minority fails, and what they
// say when a majority does.
#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/all_of.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/quorum.hpp>
#include <holdfast/run_while_held.hpp>

#include "conformance/conformance.hpp"
#include "net/clock.hpp"
#include "support/library_threads.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::milliseconds;
using support::library_threads;
using support::library_threads_end;

class Quorum : public support::server_test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS_ONE_SERVER("as members they are refused");
    support::server_test::SetUp();
  }
  void make(std::size_t members, std::vector<std::string> arguments = {}) {
    for (std::size_t i = 0; i < members; ++i) servers_.push_back(start({.arguments = arguments}));
  }
  // Clients of their own, as another process would have.
  quorum nodes(quorum_options options = {}, client_options of_each = {}) const {
    std::vector<client> members;
    for (const auto& each : servers_) members.emplace_back(each.url(), of_each);
    return quorum{std::move(members), options};
  }
  private_server& server(std::size_t i) { return servers_[i]; }
  std::int64_t called(std::size_t i, const std::string& command) const {
    return servers_[i].calls(command);
  }
  std::size_t holders(const std::string& name) const {
    std::size_t many = 0;
    for (const auto& each : servers_) {
      const auto there = each.command({"EXISTS", "hf:q:{" + name + "}"}).number;
      many += static_cast<std::size_t>(there);
    }
    return many;
  }
  // Until all members have its scripts and know its hash slot; then they have counted the same, as
  // they would after some use.
  bool settle(const lock& one) const {
    std::string most;
    const bool all_know = eventually([&] {
      one.acquire().release().value();
      return std::ranges::all_of(servers_, [&](const auto& each) {
        const auto fence = each.command({"KEYS", fences}).items;
        if (fence.empty()) return false;
        most = std::max(most, each.command({"GET", fence.front().text}).text);
        return true;
      });
    });
    for (const auto& each : servers_) {
      const auto fence = each.command({"KEYS", fences}).items;
      if (!fence.empty()) each.command({"SET", fence.front().text, most});
    }
    return all_know;
  }
  // At how many members somebody stands in the list: they have voted for another.
  std::ptrdiff_t lists() const {
    return std::ranges::count_if(servers_, [](const auto& each) {
      return each.command({"EXISTS", "hf:q:{leader}:w"}).number == 1;
    });
  }
  bool somebody_waits() const { return lists() > 0; }

 private:
  static constexpr auto fences = "hf:q:fence:*";

  std::vector<private_server> servers_;
};
HOLDFAST_ON_EACH_SERVER(Quorum);

TEST_P(Quorum, IsHeldByOneAtATimeWithGrowingTokens) {
  make(3);
  const auto here = nodes();
  const auto there = nodes();
  fencing_token last{0};
  for (int i = 0; i < 20; ++i) {
    const auto& turn = i % 2 == 0 ? here : there;
    const auto& other = i % 2 == 0 ? there : here;
    auto held = turn.mutex("leader", {.lease = 10s}).acquire();
    EXPECT_TRUE(held.held());
    EXPECT_GT(held.token(), last);
    last = held.token();
    EXPECT_GT(held.remaining(), 9s);
    expect_reason(other.mutex("leader").try_acquire(), errc::busy);
    held.release().value();
  }
  // The release is told when a majority has done it.
  EXPECT_TRUE(eventually([&] { return holders("leader") == 0; }));
}

TEST_P(Quorum, IsALockLikeOthers) {
  make(3);
  const auto here = nodes();
  const auto wanted = here.mutex("job");
  bool ran = false;
  run_while_held(wanted, [&](const lease& held) { ran = held.held(); });
  EXPECT_TRUE(ran);
  lockable as_mutex{wanted};
  {
    const std::scoped_lock guard{as_mutex};
    EXPECT_GE(holders("job"), 2U);
    const auto again = thrown_by([&] { (void)wanted.acquire(); });
    EXPECT_EQ(again.reason(), errc::would_deadlock);
  }
  const auto coroutine = [](lock one) -> task<fencing_token> {
    auto held = co_await one.async_acquire();
    const auto token = held.token();
    (co_await held.async_release()).value();
    co_return token;
  };
  EXPECT_TRUE(sync_wait(coroutine(wanted)));
  auto both = all_of({wanted, here.mutex("other")}).acquire();
  EXPECT_TRUE(both.held());
  both.release().value();
  EXPECT_TRUE(eventually([&] { return holders("job") == 0; }));
}

TEST_P(Quorum, RefusesWhatItsMembersCannotGive) {
  make(1);
  const client one{server(0).url()};
  const quorum alone{{one}};
  const auto reason = [](auto&& act) { return thrown_by(act).reason(); };
  EXPECT_EQ(reason([&] { (void)alone.mutex("x", {.lease = 31s}); }), errc::invalid_argument);
  EXPECT_EQ(reason([&] { (void)alone.mutex(""); }), errc::invalid_name);
  EXPECT_EQ(reason([&] { (void)quorum{{}}; }), errc::invalid_argument);
  EXPECT_EQ(reason([&] { (void)quorum{{one, client{server(0).url()}}}; }), errc::invalid_argument);
  auto held = alone.mutex("x").acquire();
  expect_reason(held.extend(31s), errc::invalid_argument);
}

TEST_P(Quorum, NoticesOneServerUnderTwoAddresses) {
  const auto server = start({.tcp = true});
  const quorum twice{{client{server.url()}, client{server.tcp_url()}}};
  const auto got = twice.mutex("x").try_acquire();
  expect_reason(got, errc::invalid_argument);
  EXPECT_NE(std::string{got.error().what()}.find("same server"), std::string::npos);
}

TEST_P(Quorum, DoesWithoutAMinorityThatIsDeadOrFrozen) {
  make(5);
  const auto here = nodes();
  const auto wanted = here.mutex("leader", {.lease = 10s});
  auto last = wanted.acquire().token();
  server(0).kill9();
  server(3).freeze();
  for (int i = 0; i < 5; ++i) {
    auto held = wanted.acquire({.timeout = 5s});
    EXPECT_GT(held.token(), last);
    last = held.token();
    held.release().value();
  }
  server(3).thaw();
}

// The caller reads the members' answers one after the other, and sleeps at the one that it waits
// for.
TEST_P(Quorum, IsNotKeptByTheFirstMemberThoughTheOthersHaveAnswered) {
  make(5);
  const auto here = nodes({}, {.response_timeout = 20s});
  const auto wanted = here.mutex("leader", {.lease = 20s});  // does without a member after 5 s
  ASSERT_TRUE(settle(wanted));
  server(0).freeze();
  const auto begin = net::now();
  wanted.acquire().release().value();
  EXPECT_LT(net::now() - begin, 2500ms);
  server(0).thaw();
}

TEST_P(Quorum, SaysWhichMembersAreMissingWhenAMajorityIs) {
  make(3);
  const auto here = nodes();
  const auto wanted = here.mutex("leader");
  ASSERT_TRUE(settle(wanted));
  server(0).kill9();
  server(2).kill9();
  const auto tells = [&](const std::string& why, std::size_t member) {
    const auto without_login = client{server(member).url()}.url();
    return why.find(without_login) != why.npos;
  };
  // The first news is that the connections broke.
  ASSERT_TRUE(eventually([&] {
    const auto got = wanted.try_acquire();
    const std::string why = got ? std::string{} : got.error().what();
    return !got && got.error().reason() == errc::unavailable && why.find("2 of 3") != why.npos &&
           tells(why, 0) && tells(why, 2) && !tells(why, 1);
  }));
}

// A waiter asks again by itself after a quarter of a second at the earliest: one that has it sooner
// was notified.
TEST_P(Quorum, WakesWhoWaitsWhenItIsReleased) {
  make(3);
  const auto here = nodes().mutex("leader"), there = nodes().mutex("leader");
  ASSERT_TRUE(settle(here));
  const auto handed_over_within = [&] {
    auto held = here.acquire();
    EXPECT_TRUE(eventually([&] { return holders("leader") == 3; }));
    const auto begin = net::now();
    nanoseconds took{};
    std::thread waiter([&] {
      const auto next = there.acquire({.timeout = generous});
      if (next.held()) took = net::now() - begin;
    });
    // From a member that was not asked before, the waiter gets the vote at once, and needs no hint.
    EXPECT_TRUE(eventually([&] { return lists() == 3; }));
    held.release().value();
    waiter.join();
    EXPECT_GT(took, 0ns);
    return took;
  };
  // On a loaded machine a round may take as long as that.
  bool was_told = false;
  for (int round = 0; round < 10 && !was_told; ++round) was_told = handed_over_within() < 250ms;
  EXPECT_TRUE(was_told);
}

TEST_P(Quorum, AsksRarelyWhileHeWaits) {
  make(3);
  const auto here = nodes().mutex("leader"), there = nodes().mutex("leader");
  ASSERT_TRUE(settle(here));
  const auto held = here.acquire();
  EXPECT_TRUE(eventually([&] { return holders("leader") == 3; }));
  const auto begin = net::now();
  expect_reason(there.try_acquire({.timeout = 1500ms}), errc::timed_out);
  // Then a quarter of a second later, half a second after that, and a second, at the earliest. Each
  // time the waiter is put on the list of those to be notified.
  const auto most = 3 + (net::now() - begin) / 1s;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GT(called(i, "zadd"), 0) << i;
    EXPECT_LE(called(i, "zadd"), most) << i;
  }
}

TEST_P(Quorum, EndsAWaitWithItsTimeOutOrStop) {
  make(3);
  const auto here = nodes();
  const auto there = nodes();
  const auto held = here.mutex("leader").acquire();
  expect_reason(there.mutex("leader").try_acquire({.timeout = 50ms}), errc::timed_out);
  std::stop_source stop;
  std::thread stopper([&] {
    (void)eventually([&] { return somebody_waits(); });
    stop.request_stop();
  });
  expect_reason(there.mutex("leader").try_acquire({.timeout = generous}, stop.get_token()),
                errc::cancelled);
  stopper.join();
  // A waiter that has left wants to hear nothing any more.
  EXPECT_TRUE(eventually([&] { return !somebody_waits(); }));
}

TEST_P(Quorum, KeepsAReadModifyWriteCounterWhole) {
  make(5);
  constexpr int clients = 4, rounds = 15;
  int counter = 0;  // nothing but the lock guards it: a sanitizer sees it as well
  std::vector<std::uint64_t> tokens;
  std::vector<std::thread> all;
  for (int c = 0; c < clients; ++c) {
    all.emplace_back([&] {
      const auto mine = nodes();
      const auto wanted = mine.mutex("counter", {.lease = 10s});
      for (int i = 0; i < rounds; ++i) {
        auto held = wanted.acquire({.timeout = 60s});
        const int seen = counter;
        std::this_thread::yield();
        counter = seen + 1;
        tokens.push_back(held.token().value());
        held.release().value();
      }
    });
  }
  for (auto& each : all) each.join();
  EXPECT_EQ(counter, clients * rounds);
  for (std::size_t i = 1; i < tokens.size(); ++i) EXPECT_GT(tokens[i], tokens[i - 1]);
}

TEST_P(Quorum, OrdersTokensWhateverTheMembersHaveCounted) {
  make(3);
  const auto here = nodes();
  const auto wanted = here.mutex("leader", {.lease = 10s});
  ASSERT_TRUE(settle(wanted));
  auto last = wanted.acquire().token();
  const auto fence = server(0).command({"KEYS", "hf:q:fence:*"}).items.at(0).text;
  for (const std::size_t ahead : {0U, 1U, 2U}) {
    const auto reached = std::stoll(server(ahead).command({"GET", fence}).text);
    server(ahead).command({"SET", fence, std::to_string(reached + 1000)});
    // A majority without the member that is ahead must know of it from now on.
    auto held = wanted.acquire();
    EXPECT_GT(held.token(), last);
    last = held.token();
    held.release().value();
  }
}

TEST_P(Quorum, KeepsOutAMemberThatHasForgottenItsVote) {
  make(3);
  const auto here = nodes();
  const auto there = nodes();
  // Now all of them remember the slot.
  ASSERT_TRUE(settle(here.mutex("leader")));
  auto held = here.mutex("leader", {.lease = 15s, .renewal = renewal::none}).acquire();
  EXPECT_TRUE(eventually([&] { return holders("leader") == 3; }));
  // One member never got the vote, another has lost it: without a rule for those the second client
  // would have a majority while the first one holds the lock.
  server(0).command({"DEL", "hf:q:{leader}"});
  server(1).restart();
  expect_reason(there.mutex("leader").try_acquire(), errc::busy);
  const auto got = there.mutex("leader").try_acquire();
  ASSERT_FALSE(got);
  EXPECT_NE(std::string{got.error().what()}.find("lost its memory"), std::string::npos)
      << got.error().what();
  EXPECT_TRUE(held.held());
}

// Two clients contend, and each often gets one vote of the two that are left: the frozen member
// could decide, but each client waits for it only until it has noticed it.
TEST_P(Quorum, DoesNotWaitForAFrozenMemberWhereVotesAreSplit) {
  make(3);
  const quorum_mutex_options lock{.lease = 16s};
  constexpr auto member_timeout = 2s;  // the response time-out, which is less than a quarter lease
  const client_options of_each{.response_timeout = member_timeout};
  const auto here = nodes({}, of_each), there = nodes({}, of_each);
  EXPECT_TRUE(settle(here.mutex("leader", lock)));
  server(2).freeze();
  std::atomic<int> waits{0};
  const auto play = [&](const quorum& mine) {
    const auto leader = mine.mutex("leader", lock);
    for (int i = 0; i < 80; ++i) {
      const auto began = net::now();
      const auto held = leader.acquire();
      if (net::now() - began > member_timeout / 2) ++waits;
    }
  };
  std::thread other{[&] { play(there); }};
  play(here);
  other.join();
  EXPECT_LE(waits, 8) << "of 160, where each that was split had to wait";
  server(2).thaw();
}

TEST_P(Quorum, HasAMemberVoteAgainThatCameBackEmptyWhenItHasStayedOut) {
  make(3);
  constexpr auto longest = 3s;
  const auto here = nodes({.longest_lease = longest});
  constexpr auto lease_time = 2500ms;
  auto held = here.mutex("leader", {.lease = lease_time}).acquire();
  // The owner alone: the token before that may be another until it is renewed.
  const auto vote = [&](std::size_t i) {
    const auto value = server(i).command({"GET", "hf:q:{leader}"}).text;
    return value.substr(value.rfind(':') + 1);
  };
  EXPECT_TRUE(eventually([&] { return holders("leader") == 3; }));
  const auto ours = vote(2);
  server(1).restart();
  const auto stays_out = [&] { return !server(1).command({"KEYS", "hf:q:out:*"}).items.empty(); };
  ASSERT_TRUE(eventually(stays_out));
  // It may have voted for another just before: so for nobody now.
  while (stays_out()) {
    const auto given = vote(1);
    if (!given.empty() && stays_out()) FAIL() << "it has voted for " << given;
  }
  ASSERT_TRUE(eventually([&] { return vote(1) == ours; }));
  // Another may go now: of the majority that is left the one that came back is needed.
  server(0).kill9();
  const auto over = net::now() + 2 * lease_time;
  EXPECT_TRUE(eventually([&] { return net::now() > over || !held.held(); }));
  EXPECT_TRUE(held.held());
  EXPECT_EQ(vote(1), ours);
}

TEST_P(Quorum, TellsALossWhenAMajorityIsGoneOrForgets) {
  make(3);
  const auto here = nodes();
  {
    auto held = here.mutex("one", {.lease = 1500ms}).acquire();
    const auto lost = held.lost();
    server(0).command({"DEL", "hf:q:{one}"});
    server(0).command({"SET", "hf:q:{one}", "1:7:another", "PX", "60000"});
    server(1).command({"SET", "hf:q:{one}", "1:7:another", "PX", "60000"});
    EXPECT_TRUE(triggered(lost));
    EXPECT_FALSE(held.held());
    expect_reason(held.release(), errc::lost);
  }
  auto held = here.mutex("two", {.lease = 1500ms}).acquire();
  const auto lost = held.lost();
  EXPECT_FALSE(lost.stop_requested());
  server(0).kill9();
  server(1).kill9();
  EXPECT_TRUE(triggered(lost));
  EXPECT_FALSE(held.held());
}

// Whatever is still under way to a member: a vote too many, a renewal, a release.
TEST_P(Quorum, IsClosedWhenItsLastHandleGoes) {
  make(3);
  ASSERT_TRUE(library_threads_end()) << "those of other tests";
  for (int i = 0; i < 10; ++i) {
    const auto here = nodes();
    const auto held = here.mutex("leader").acquire();
    EXPECT_GT(library_threads(), 0U);
  }
  EXPECT_EQ(library_threads(), 0U);
}

// A vote of a member that is gone is taken back until it has run out: but for nobody who has left.
TEST_P(Quorum, LeavesNoThreadBehindWhereAMemberIsGone) {
  make(3);
  {
    const auto here = nodes();
    auto held = here.mutex("leader").acquire();
    server(0).kill9();
    held.release().value();
  }
  EXPECT_TRUE(library_threads_end());
}

// What was asked of one is under way when another has not answered in time.
TEST_P(Quorum, LeavesNoThreadBehindWhereMembersDoNotAnswer) {
  make(3);
  std::vector<quorum> here;
  std::vector<lease> held;
  for (const auto* name : {"a", "b", "c", "d", "e"}) {
    std::vector<client> members;
    for (const auto& [i, patience] : {std::pair{0U, 200ms}, {1U, 330ms}, {2U, 500ms}}) {
      members.emplace_back(server(i).url(), client_options{.response_timeout = patience});
    }
    here.emplace_back(std::move(members), quorum_options{});
    held.push_back(here.back().mutex(name).acquire());
  }
  for (std::size_t i = 0; i < 3; ++i) server(i).freeze();
  held.clear();
  here.clear();
  EXPECT_TRUE(library_threads_end(10s)) << "a third of the lease";
}

TEST_P(Quorum, ExtendsAFixedLease) {
  make(3);
  const auto here = nodes();
  // In a new hash slot the last member to answer votes only after it was invited.
  ASSERT_TRUE(settle(here.mutex("leader")));
  auto held = here.mutex("leader", {.lease = 5s, .renewal = renewal::none}).acquire();
  held.extend(20s).value();
  EXPECT_GT(held.remaining(), 15s);
  server(0).kill9();
  held.extend(25s).value();
  EXPECT_GT(held.remaining(), 20s);
}

TEST_P(Quorum, CostsOneCommandAtEachMemberAndOneToRelease) {
  make(3);
  std::vector<client> members;
  for (std::size_t i = 0; i < 3; ++i) members.emplace_back(server(i).url());
  const quorum here{members};
  // What is asked behind a command is answered after it.
  const auto called_at = [&](std::size_t i) {
    (void)members[i].counter("seen").get();
    return called(i, "evalsha");
  };
  const auto wanted = here.mutex("leader");
  ASSERT_TRUE(settle(wanted));
  std::int64_t before[3];
  for (std::size_t i = 0; i < 3; ++i) before[i] = called_at(i);
  auto held = wanted.acquire();
  // A majority has answered, and perhaps not yet all: a vote that comes while the lock is held is
  // confirmed by one command more.
  const auto calls_are = [&](std::int64_t many) {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(eventually([&] { return called_at(i) - before[i] >= many; })) << i;
    }
    for (std::size_t i = 0; i < 3; ++i) all += called_at(i) - before[i];
    EXPECT_LE(all, 3 * many + 1);
  };
  calls_are(1);
  held.release().value();
  calls_are(2);
}

}  // namespace
}  // namespace holdfast::conformance
