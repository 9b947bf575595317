// Locks of redsync and node-redlock on several servers: what the libraries' own clients see of
// them, and we of theirs.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class Redlock : public support::server_test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS_ONE_SERVER("as members they are refused");
    support::server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (int i = 0; i < 3; ++i) servers_.push_back(start());
  }
  quorum nodes() const {
    std::vector<client> members;
    for (const auto& each : servers_) members.emplace_back(each.url());
    return quorum{std::move(members)};
  }
  private_server& server(std::size_t i) { return servers_[i]; }
  // As the library's own clients would.
  void take(std::size_t i, const std::string& key = "orders") {
    servers_[i].command({"SET", key, "theirs", "PX", "30000"});
  }
  std::int64_t votes(const std::string& key = "orders") const {
    std::int64_t many = 0;
    for (const auto& each : servers_) many += each.command({"EXISTS", key}).number;
    return many;
  }
  bool comes_to(std::int64_t wanted, const std::string& key = "orders") const {
    return eventually([&] { return votes(key) == wanted; });
  }
  bool is_renewed() const {
    auto left = servers_[1].command({"PTTL", "orders"}).number;
    return eventually([&] {
      const auto now = servers_[1].command({"PTTL", "orders"}).number;
      return std::exchange(left, now) < now;
    });
  }
  std::int64_t asked(std::size_t i) const {
    return servers_[i].calls("evalsha") + servers_[i].calls("eval");
  }

 private:
  std::vector<private_server> servers_;
};
HOLDFAST_ON_EACH_SERVER(Redlock);

TEST_P(Redlock, IsTheSameTextAtEachServerWithoutAToken) {
  const auto here = nodes();
  for (const auto library : {redlock_library::redsync, redlock_library::node_redlock}) {
    const auto how = dialect::redlock({library});
    auto held = here.mutex("orders", {.lease = 8s}, how).acquire();
    EXPECT_TRUE(held.held());
    EXPECT_FALSE(held.token());
    EXPECT_LE(held.remaining(), 8s - 80ms - 2ms);  // the drift that both libraries reckon with
    EXPECT_GT(held.remaining(), 6s);
    EXPECT_TRUE(comes_to(3));
    std::set<std::string> values;
    for (std::size_t i = 0; i < 3; ++i) {
      values.insert(server(i).command({"GET", "orders"}).text);
      EXPECT_LE(server(i).command({"PTTL", "orders"}).number, 8'000);
      const auto shown = inspector{client{server(i).url()}}.status("orders", how);
      EXPECT_EQ(shown.state, lock_state::held);
    }
    EXPECT_EQ(values.size(), 1U);
    held.release().value();
    EXPECT_TRUE(comes_to(0));
  }
}

TEST_P(Redlock, LastsAsLongAsTheLibrarysUnlessToldOtherwise) {
  const auto held = nodes().mutex("orders", {}, dialect::redlock()).acquire();
  EXPECT_LE(held.remaining(), 8s);
}

TEST_P(Redlock, IsKeptOutByAMajorityAndNotByLess) {
  const auto mutex = nodes().mutex("orders", {}, dialect::redlock());
  take(1);
  auto held = mutex.acquire();
  EXPECT_TRUE(held.held());
  held.release().value();
  EXPECT_EQ(server(1).command({"GET", "orders"}).text, "theirs");
  take(2);
  expect_reason(mutex.try_acquire(), errc::busy);
  EXPECT_TRUE(comes_to(2));  // the vote that it got is taken back
  server(1).command({"DEL", "orders"});
  EXPECT_TRUE(mutex.try_acquire());
}

TEST_P(Redlock, LocksSeveralResourcesOrNone) {
  const auto here = nodes();
  const std::vector<std::string> further{"stock"};
  const auto how =
      dialect::redlock({.library = redlock_library::node_redlock, .further_resources = further});
  const auto both = here.mutex("orders", {.lease = 5s}, how);
  take(0, "stock");
  take(2, "stock");
  expect_reason(both.try_acquire(), errc::busy);
  EXPECT_TRUE(comes_to(0));
  server(2).command({"DEL", "stock"});
  auto held = both.acquire();
  EXPECT_TRUE(comes_to(2));
  EXPECT_TRUE(comes_to(3, "stock"));
  expect_reason(here.mutex("stock", {}, dialect::redlock()).try_acquire(), errc::busy);
  held.release().value();
  EXPECT_TRUE(comes_to(0));
  EXPECT_TRUE(comes_to(1, "stock"));
}

TEST_P(Redlock, IsRenewedAndLostWithAMajority) {
  const auto how = dialect::redlock();
  auto held = nodes().mutex("orders", {.lease = 300ms}, how).acquire();
  EXPECT_TRUE(comes_to(3));
  // At a third of the lease each: longer than it lasts.
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(is_renewed());
  EXPECT_TRUE(held.held());
  server(0).command({"DEL", "orders"});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(is_renewed());
  EXPECT_TRUE(held.held());
  // No library says whether a server has voted for another since: it does not vote again.
  EXPECT_EQ(votes(), 2);
  server(1).command({"SET", "orders", "theirs"});
  EXPECT_TRUE(triggered(held.lost()));
  expect_reason(held.release(), errc::lost);
  EXPECT_TRUE(comes_to(1));
  EXPECT_EQ(server(1).command({"GET", "orders"}).text, "theirs");
}

TEST_P(Redlock, AsksNoSoonerThanItIsTold) {
  const auto how = dialect::redlock({.retry_interval = 200ms});
  const auto mutex = nodes().mutex("orders", {}, how);
  take(0);  // the votes are split: others would try again at once
  take(1);
  expect_reason(mutex.try_acquire(), errc::busy);
  const auto before = asked(0);
  expect_reason(mutex.try_acquire({.timeout = 900ms}), errc::timed_out);
  EXPECT_GE(asked(0) - before, 2);
  // What is asked is also taken back where the answer is late, or nobody waits any more.
  EXPECT_LE(asked(0) - before, 2 * (1 + 900 / 200));
}

TEST_P(Redlock, AsksWhenTheVotesOfOthersRunOut) {
  const auto how = dialect::redlock({.retry_interval = 30min});
  const auto mutex = nodes().mutex("orders", {}, how);
  for (std::size_t i = 0; i < 2; ++i) server(i).command({"SET", "orders", "theirs", "PX", "300"});
  EXPECT_TRUE(mutex.try_acquire({.timeout = generous}));
}

TEST_P(Redlock, DoesWithoutAMinority) {
  const auto here = nodes();
  const auto there = nodes();
  server(2).kill9();
  const auto how = dialect::redlock({.retry_interval = 10ms});
  for (int i = 0; i < 5; ++i) {
    auto held = here.mutex("orders", {}, how).acquire();
    expect_reason(there.mutex("orders", {}, how).try_acquire(), errc::busy);
    held.release().value();
  }
  server(1).kill9();
  EXPECT_TRUE(eventually([&] {
    const auto got = here.mutex("orders", {}, how).try_acquire();
    return !got && got.error().reason() == errc::unavailable;
  }));
}

TEST_P(Redlock, NoticesOneServerUnderTwoAddresses) {
  const auto one = start({.tcp = true});
  const quorum twice{{client{one.url()}, client{one.tcp_url()}}};
  expect_reason(twice.mutex("x", {}, dialect::redlock()).try_acquire(), errc::invalid_argument);
  EXPECT_TRUE(eventually([&] { return one.command({"EXISTS", "x"}).number == 0; }));
}

TEST_P(Redlock, RefusesWhatItHasNot) {
  const auto here = nodes();
  const auto redlock = dialect::redlock();
  EXPECT_EQ(thrown_by([&] { (void)here.mutex("x", {.lock_delay = 1s}, redlock); }).reason(),
            errc::unsupported);
  for (const auto& other : {dialect::redisson(), dialect::redis_py()}) {
    EXPECT_EQ(thrown_by([&] { (void)here.mutex("x", {}, other); }).reason(), errc::unsupported);
  }
  const auto refused = [](std::vector<std::string> further) {
    return thrown_by([&] { dialect::redlock({.further_resources = further}); }).reason();
  };
  EXPECT_EQ(refused({"a", "b", "a"}), errc::invalid_argument);
  EXPECT_EQ(refused({""}), errc::invalid_name);
  EXPECT_EQ(thrown_by([] { dialect::redlock({.retry_interval = 0ms}); }).reason(),
            errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::conformance
