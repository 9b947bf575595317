// A vote that comes when the lock is held already: it counts at once, in the place of one that is
// lost afterwards.
#include <algorithm>
#include <array>
#include <optional>

#include <holdfast/quorum_inspector.hpp>

#include "faults/faulty_server.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::faults {
namespace {

using support::fault_proxy;
using support::toward;

class QuorumLateVote : public fault_test {
 protected:
  static constexpr std::size_t forgetful = 0, late = 2;

  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    std::vector<client> members;
    for (auto& server : servers_) server.emplace(start());
    proxy_.emplace(net::unix_endpoint{servers_[late]->socket()});
    members.emplace_back("unix://" + servers_[0]->socket(), patient());
    members.emplace_back("unix://" + servers_[1]->socket(), patient());
    members.emplace_back(proxy_->url(), patient());
    all_.emplace(members);
    looks_.emplace(members);
  }

  std::size_t remembering() const {
    return static_cast<std::size_t>(std::ranges::count_if(servers_, [](const auto& one) {
      return !one->command({"KEYS", "hf:q:fence:*"}).items.empty() &&
             one->command({"KEYS", "hf:q:out:*"}).items.empty();
    }));
  }
  // Until each member has voted in this hash slot, none of them stays out.
  bool all_vote(const lock& by) const {
    return eventually([&] {
      EXPECT_TRUE(by.acquire({.timeout = support::generous}).release());
      return remembering() == servers_.size();
    });
  }

  std::array<std::optional<private_server>, 3> servers_;
  std::optional<fault_proxy> proxy_;
  std::optional<quorum> all_;
  std::optional<quorum_inspector> looks_;
};
HOLDFAST_ON_EACH_SERVER(QuorumLateVote);

TEST_P(QuorumLateVote, HoldsTheLockWhenAnotherMemberForgets) {
  const auto mutex = all_->mutex("a", {.lease = 6s});
  ASSERT_TRUE(all_vote(mutex));
  proxy_->stall(toward::client);
  const auto held = mutex.acquire({.timeout = support::generous});
  proxy_->heal();
  // Its vote and what was asked then have been answered when it answers this.
  ASSERT_TRUE(eventually([&] {
    const auto votes = looks_->status("a").members;
    return votes[late].lock.token == held.token();
  }));
  (void)looks_->status("a");
  proxy_->stall(toward::client);
  servers_[forgetful]->command({"FLUSHALL"});
  // It says so when it is asked to renew its vote; the late one says nothing then.
  ASSERT_TRUE(eventually([&] {
    return !servers_[forgetful]->command({"KEYS", "hf:q:out:*"}).items.empty();
  }));
  proxy_->heal();
  EXPECT_TRUE(eventually([&] { return held.remaining() > 5s || !held.held(); }));
  EXPECT_TRUE(held.held()) << "a majority has its votes all the time";
}

}  // namespace
}  // namespace holdfast::faults
