// What operators see of a lock of a quorum, and how they take it away.
#include <unistd.h>

#include <algorithm>

#include <holdfast/quorum.hpp>
#include <holdfast/quorum_inspector.hpp>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class QuorumInspector : public support::server_test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS_ONE_SERVER("as members they are refused");
    support::server_test::SetUp();
    for (int i = 0; i < 3; ++i) servers_.push_back(start());
  }
  // Clients of their own, as another process would have.
  std::vector<client> members() const {
    std::vector<client> all;
    for (const auto& each : servers_) all.emplace_back(each.url());
    return all;
  }
  quorum nodes() const { return quorum{members()}; }
  quorum_inspector look() const { return quorum_inspector{members()}; }
  private_server& server(std::size_t i) { return servers_[i]; }

  // All have voted, with the same token: as after a renewal.
  bool is_settled(fencing_token token) const {
    return eventually([&] {
      const auto seen = look().status("leader");
      return seen.votes == 3 && std::ranges::all_of(seen.members, [&](const auto& one) {
               return one.lock.token == token;
             });
    });
  }

 private:
  std::vector<private_server> servers_;
};
HOLDFAST_ON_EACH_SERVER(QuorumInspector);

TEST_P(QuorumInspector, WhatIsFreeIsFree) {
  const auto seen = look().status("leader");
  EXPECT_EQ(seen.state, quorum_state::free);
  EXPECT_EQ(seen.name, "leader");
  ASSERT_EQ(seen.members.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(seen.members[i].member, client(server(i).url()).url());
    EXPECT_EQ(seen.members[i].lock.state, lock_state::free);
    EXPECT_EQ(seen.members[i].unavailable, "");
  }
  EXPECT_EQ(look().break_lock("leader", "a test").state, quorum_state::free);
}

TEST_P(QuorumInspector, WhatIsHeldTellsItsHolderAndTheVotes) {
  const auto held = nodes().mutex("leader", {.lease = 3s}).acquire();
  ASSERT_TRUE(is_settled(held.token()));
  const auto seen = look().status("leader");
  EXPECT_EQ(seen.state, quorum_state::held);
  EXPECT_EQ(seen.owner.pid, ::getpid());
  EXPECT_EQ(seen.token, held.token());
  EXPECT_EQ(seen.votes, 3U);
  ASSERT_TRUE(seen.remaining);
  EXPECT_GT(*seen.remaining, 0s);
  EXPECT_LE(*seen.remaining, 3s);
  for (const auto& one : seen.members) {
    EXPECT_EQ(one.lock.owner.id, seen.owner.id);
    EXPECT_FALSE(one.lock.since) << "a major of a quorum is no time";
  }
}

TEST_P(QuorumInspector, VotesOfAMinorityHoldNothing) {
  server(1).command({"SET", "hf:q:{leader}", "1:77:somebody", "PX", "60000"});
  auto seen = look().status("leader");
  EXPECT_EQ(seen.state, quorum_state::free);
  EXPECT_EQ(seen.votes, 0U);
  EXPECT_EQ(seen.members[1].lock.state, lock_state::held);
  server(2).command({"SET", "hf:q:{leader}", "1:78:another", "PX", "60000"});
  EXPECT_EQ(look().status("leader").state, quorum_state::free);
  server(0).kill9();
  EXPECT_EQ(look().status("leader").state, quorum_state::unknown);
}

TEST_P(QuorumInspector, MissingMembersAreToldUntilNobodyAnswers) {
  const auto held = nodes().mutex("leader", {.lease = 9s}).acquire();
  ASSERT_TRUE(is_settled(held.token()));
  server(2).kill9();
  auto seen = look().status("leader");
  EXPECT_EQ(seen.state, quorum_state::held);
  EXPECT_EQ(seen.votes, 2U);
  EXPECT_NE(seen.members[2].unavailable, "");
  server(1).kill9();
  seen = look().status("leader");
  EXPECT_EQ(seen.state, quorum_state::unknown);
  EXPECT_EQ(seen.members[0].lock.state, lock_state::held);
  const auto why = thrown_by([&] { look().break_lock("leader", "a test"); });
  EXPECT_EQ(why.reason(), errc::unavailable);
  EXPECT_EQ(look().status("leader").members[0].lock.state, lock_state::held);
  server(0).kill9();
  EXPECT_EQ(thrown_by([&] { (void)look().status("leader"); }).reason(), errc::unavailable);
}

TEST_P(QuorumInspector, BrokenLockIsLostAndGoesToAnother) {
  const auto here = nodes(), there = nodes();
  const auto held = here.mutex("leader", {.lease = 1s}).acquire();
  ASSERT_TRUE(is_settled(held.token()));
  const auto broken = look().break_lock("leader", "a test");
  EXPECT_EQ(broken.state, quorum_state::held);
  EXPECT_EQ(broken.votes, 3U);
  EXPECT_EQ(broken.owner.pid, ::getpid());
  EXPECT_EQ(broken.token, held.token());
  const auto next = there.mutex("leader", {.lease = 9s}).acquire();
  EXPECT_GT(next.token(), held.token());
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  EXPECT_TRUE(next.held());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(server(i).command({"XLEN", "hf:audit"}).number, 1);
  }
}

TEST_P(QuorumInspector, MemberThatStaysOutSaysSo) {
  const auto held = nodes().mutex("leader", {.lease = 9s}).acquire();
  ASSERT_TRUE(is_settled(held.token()));
  const auto knows = [&] { return look().status("leader").members[1].stays_out > 0ms; };
  EXPECT_FALSE(knows());
  server(1).command({"FLUSHALL"});
  EXPECT_TRUE(eventually(knows)) << "at the next renewal";
}

TEST_P(QuorumInspector, WhatIsNoVoteIsLeftAlone) {
  server(0).command({"SET", "hf:q:{leader}", "theirs"});
  EXPECT_EQ(look().status("leader").members[0].lock.state, lock_state::foreign);
  EXPECT_EQ(look().break_lock("leader", "a test").members[0].lock.state, lock_state::foreign);
  EXPECT_EQ(server(0).command({"GET", "hf:q:{leader}"}).text, "theirs");
}

}  // namespace
}  // namespace holdfast::conformance
