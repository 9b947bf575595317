// A quorum of two servers and a Sentinel group, whose master dies: docs/quorum.md says what such a
// member is good for.
#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "faults/faulty_server.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::faults {
namespace {

using support::sentinel_group;

const quorum_mutex_options brief{.lease = 6s};  // renewed every two seconds
constexpr milliseconds longest_lease_time{16'000};

class SentinelInQuorum : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    first_.emplace(start());
    second_.emplace(start());
    group_.emplace(GetParam());
    // A member that is connected too late to found a hash slot stays out of it for the longest
    // lease.
    for (const auto* const name : {"held", "other"}) {
      const auto settling = nodes().mutex(name, brief);
      const auto all_vote = [&] {
        const auto got = settling.acquire({.timeout = support::generous});
        return has_vote(*first_, name) && has_vote(*second_, name) && has_vote(master(), name);
      };
      ASSERT_TRUE(eventually(all_vote, 2 * longest_lease_time));
    }
    // The counter of who came late is ahead: it would not give a vote again for a smaller token.
    second_->freeze();
    for (const auto* const name : {"held", "other"}) {
      EXPECT_TRUE(nodes().mutex(name, brief).acquire({.timeout = support::generous}).release());
    }
    second_->thaw();
    ASSERT_TRUE(eventually([&] { return counters(*first_) == counters(master()); }));
    ASSERT_TRUE(eventually([&] { return group_->replicas_in_step() == 2; }));
  }

  // As another process has it.
  quorum nodes() const {
    const client_options impatient{.response_timeout = 500ms};
    return quorum{{client{first_->url(), impatient}, client{second_->url(), impatient},
                   client{group_->url(), impatient}},
                  {.longest_lease = longest_lease_time}};
  }
  private_server& master() { return group_->server(group_->master()); }
  static bool has_vote(const private_server& at, const std::string& name) {
    return at.command({"EXISTS", "hf:q:{" + name + "}"}).number == 1;
  }
  // Until the holder has renewed it at both servers: one of the votes may have come late, and does
  // not count before it was confirmed.
  void await_renewal(const std::string& name) {
    const auto lasts = [&](const private_server& at) {
      return milliseconds{at.command({"PTTL", "hf:q:{" + name + "}"}).number};
    };
    ASSERT_TRUE(eventually([&] { return lasts(*first_) < *brief.lease - 1s; }));
    ASSERT_TRUE(
        eventually([&] { return std::min(lasts(*first_), lasts(*second_)) > *brief.lease - 1s; }));
  }
  static std::set<std::string> counters(const private_server& at) {
    std::set<std::string> all;
    for (const auto& key : at.command({"KEYS", "hf:q:fence:*}"}).items) {
      all.insert(key.text + " " + at.command({"GET", key.text}).text);
    }
    return all;
  }
  void kill_master() {
    const auto old = group_->master();
    group_->server(old).kill9();
    ASSERT_TRUE(eventually([&] { return group_->has_moved_from(old); }));
  }

  std::optional<private_server> first_, second_;
  std::optional<sentinel_group> group_;
};
HOLDFAST_ON_EACH_SERVER(SentinelInQuorum);

TEST_P(SentinelInQuorum, ItsFailoverDisturbsNobody) {
  const auto mine = nodes(), others = nodes();
  auto held = mine.mutex("held", brief).acquire();
  ASSERT_NO_FATAL_FAILURE(await_renewal("held"));
  ASSERT_TRUE(eventually([&] { return has_vote(group_->server(group_->a_replica()), "held"); }));
  const auto lost = held.lost();
  const auto old = group_->master();
  group_->server(old).kill9();
  EXPECT_TRUE(others.mutex("other", brief).acquire({.timeout = support::generous}).release());
  ASSERT_TRUE(eventually([&] { return group_->has_moved_from(old); }));
  EXPECT_TRUE(eventually(
      [&] {
        const auto got = others.mutex("other", brief).acquire({.timeout = support::generous});
        return has_vote(master(), "other");
      },
      2 * longest_lease_time))
      << "the new master votes when it has stayed out";
  expect_failure(others.mutex("held", brief).try_acquire(), errc::busy, "");
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(eventually([&] { return !has_vote(master(), "held"); }));
}

// The other two remember whom they voted for. The new master cannot know, and votes for nobody
// until it has stayed out; then the next renewal has its vote.
TEST_P(SentinelInQuorum, ItsFailoverMayForgetAVoteWhichIsGivenAgainLater) {
  const auto mine = nodes(), others = nodes();
  group_->cut_replication();
  auto held = mine.mutex("held", brief).acquire();
  ASSERT_NO_FATAL_FAILURE(await_renewal("held"));
  ASSERT_TRUE(eventually([&] { return has_vote(master(), "held"); }));
  ASSERT_NO_FATAL_FAILURE(kill_master());
  expect_failure(others.mutex("held", brief).try_acquire(), errc::busy, "");
  EXPECT_FALSE(has_vote(master(), "held"));
  EXPECT_TRUE(eventually([&] { return has_vote(master(), "held"); }, 2 * longest_lease_time));
  EXPECT_TRUE(held.held());
  const auto token = held.token();
  EXPECT_TRUE(held.release());
  EXPECT_GT(others.mutex("held", brief).acquire({.timeout = support::generous}).token(), token);
}

// Its new master has old counters and knows nothing of the vote. Who was away does not either.
TEST_P(SentinelInQuorum, ItsNewMasterStaysOutAndItsTokensGrow) {
  const auto mine = nodes(), others = nodes();
  second_->freeze();
  group_->cut_replication();
  const auto held = mine.mutex("held", {.lease = 15s, .renewal = renewal::none})
                        .acquire({.timeout = support::generous});
  ASSERT_NO_FATAL_FAILURE(kill_master());
  second_->thaw();
  const auto beside = others.mutex("held", brief).try_acquire({.timeout = 3s});
  EXPECT_FALSE(beside) << "both remember nothing, and are a majority";
  EXPECT_TRUE(held.held());
  // Only those two are left: one that knows no token, and the clock of the new master.
  first_->freeze();
  const auto next = others.mutex("held", brief).acquire({.timeout = 2 * longest_lease_time});
  EXPECT_FALSE(held.held());
  EXPECT_GT(next.token(), held.token());
}

}  // namespace
}  // namespace holdfast::faults
