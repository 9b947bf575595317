// A quorum whose network is divided: the side with the majority goes on, the other loses what it
// has.
#include <algorithm>
#include <initializer_list>
#include <optional>

#include "faults/partition.hpp"

namespace holdfast::faults {
namespace {

constexpr std::size_t members = 5;
// Hosts behind those of the members.
constexpr std::size_t with_most = members, with_few = members + 1;
constexpr milliseconds lease_time{1000};

class QuorumPartition : public fault_test {
 protected:
  void SetUp() override {
    if (const auto why = support::private_network::obstacle(); !why.empty()) GTEST_SKIP() << why;
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    network_.emplace(members + 2);
    for (std::size_t i = 0; i < members; ++i) {
      servers_.push_back(network_->at(i, [&] {
        return start({.tcp = true, .address = support::private_network::address(i)});
      }));
    }
  }

  quorum nodes() const {
    std::vector<client> all;
    for (const auto& one : servers_) {
      all.emplace_back(one.tcp_url(),
                       client_options{.connect_timeout = patience, .response_timeout = patience});
    }
    return quorum{std::move(all)};
  }
  std::vector<contended> locks() const {
    return mutexes(nodes(), {{"usual", {.lease = lease_time}},
                             {"fixed", {.lease = lease_time, .renewal = renewal::none}}});
  }

  // Until every member votes: one whose answer is late when a lock is first asked for stays out for
  // the longest lease, and then three of five are no majority of those who vote.
  // Asks until then: a member that was silent hears of the lock when it is asked again.
  bool all_vote(const quorum& by, std::initializer_list<const char*> names) const {
    return support::eventually(
        [&] {
          for (const auto* name : names) {
            EXPECT_TRUE(by.mutex(name).acquire({.timeout = 10s}).release());
          }
          return std::ranges::all_of(servers_, [&](const private_server& one) {
            return one.command({"KEYS", "hf:q:fence:*"}).items.size() == names.size() &&
                   one.command({"KEYS", "hf:q:out:*"}).items.empty();
          });
        },
        60s);
  }

  std::optional<support::private_network> network_;
  std::vector<private_server> servers_;
};
HOLDFAST_ON_EACH_SERVER(QuorumPartition);

TEST_P(QuorumPartition, TheMajorityGoesOnAndTheMinorityLosesWhatItHas) {
  const auto here = network_->at(with_most, [&] { return nodes(); });
  const auto there = network_->at(with_few, [&] { return nodes(); });
  ASSERT_TRUE(all_vote(here, {"usual", "fixed", "held"}));
  const auto held = there.mutex("held", {.lease = lease_time}).acquire({.timeout = 10s});
  const auto parties = parties_at(*network_, {with_most, with_few}, [this] { return locks(); });
  divided_run run(GetParam());
  run.play(parties, apart(*network_, {3, 4, with_few}), 6s, false, [&] {
    expect_taken_over(here.mutex("held"), held, 5s);
    expect_lost(held);
  });
  // Until then its threads may have passed on what they had.
  expect_one_side_went_on(run, lease_time + patience);
}

}  // namespace
}  // namespace holdfast::faults
