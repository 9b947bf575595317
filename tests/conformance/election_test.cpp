// Elections: who leads, who is next, and who is told.
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

// Remembers what it was told.
class audience {
 public:
  auto ear() {
    return [this](const std::optional<leader>& who) {
      const std::lock_guard lock(mutex_);
      told_.push_back(who);
      changed_.notify_all();
    };
  }
  // Until the last that was told is this one; false when it is not in time.
  bool hears_of(std::optional<fencing_token> token, milliseconds within = generous) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, within, [&] {
      return !told_.empty() &&
             (told_.back() ? std::optional{told_.back()->token} : std::nullopt) == token;
    });
  }
  std::vector<std::optional<leader>> told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<leader>> told_;
};

class Election : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(Election);

constexpr auto at_once = 3s;  // the server's word comes in a millisecond, asking again takes 5 s

TEST_P(Election, OneLeadsAndTheNextFollows) {
  const auto office = redis().election("scheduler");
  EXPECT_EQ(office.leader(), std::nullopt);
  auto first = office.campaign();
  expect_reason(another_client().election("scheduler").try_acquire(), errc::busy);
  const auto leads = office.leader();
  ASSERT_TRUE(leads);
  EXPECT_EQ(leads->token, first.token());
  EXPECT_EQ(leads->who.pid, ::getpid());
  EXPECT_FALSE(leads->who.id.empty());
  fencing_token next;
  std::jthread candidate{[&] {
    const auto term = another_client().election("scheduler").campaign();
    next = term.token();
  }};
  ASSERT_TRUE(waits("scheduler", 1));
  EXPECT_TRUE(first.release());
  candidate.join();
  EXPECT_GT(next, first.token());
  EXPECT_EQ(office.leader(), std::nullopt);
}

TEST_P(Election, TellsEveryChangeAtOnce) {
  audience audience;
  const auto other = another_client();
  const auto watching = other.election("scheduler").observe(audience.ear());
  EXPECT_TRUE(audience.hears_of(std::nullopt));
  const auto office = redis().election("scheduler");
  for (int i = 0; i < 3; ++i) {
    auto term = office.campaign();
    EXPECT_TRUE(audience.hears_of(term.token(), at_once));
    EXPECT_TRUE(term.release());
    EXPECT_TRUE(audience.hears_of(std::nullopt, at_once));
  }
  EXPECT_EQ(audience.told().size(), 7U);
  EXPECT_EQ(audience.told()[1]->who.pid, ::getpid());
}

TEST_P(Election, TellsTheCandidateOfTheSameClient) {
  audience audience;
  const auto office = redis().election("scheduler");
  const auto watching = office.observe(audience.ear());
  const auto term = office.campaign();
  EXPECT_TRUE(audience.hears_of(term.token(), at_once));
}

TEST_P(Election, TellsOfARenewedLeaderOnce) {
  audience audience;
  const auto office = redis().election("scheduler", {.lease = 100ms});
  const auto watching = office.observe(audience.ear());
  const auto term = office.campaign();
  ASSERT_TRUE(audience.hears_of(term.token()));
  const auto told = audience.told().size();
  const auto renewals = called("pexpire");
  ASSERT_TRUE(eventually([&] { return called("pexpire") >= renewals + 4; }));
  EXPECT_EQ(audience.told().size(), told);
  EXPECT_TRUE(term.held());
}

TEST_P(Election, ReadsAgainAfterTheConnectionBroke) {
  audience audience;
  const auto other = another_client();
  const auto watching = other.election("scheduler").observe(audience.ear());
  ASSERT_TRUE(audience.hears_of(std::nullopt));
  for (int i = 0; i < 3; ++i) {
    server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
    server().command({"CLIENT", "KILL", "TYPE", "normal"});
    const auto term = redis().election("scheduler").campaign();
    EXPECT_TRUE(audience.hears_of(term.token(), at_once));
  }
  EXPECT_TRUE(audience.hears_of(std::nullopt, at_once)) << "the new connection is told, too";
}

TEST_P(Election, PollsWhereItIsNotTold) {
  client_options polls;
  polls.wakeup = wakeup::poll;
  audience audience;
  const client other{server().url(), polls};
  const auto watching = other.election("scheduler").observe(audience.ear());
  ASSERT_TRUE(audience.hears_of(std::nullopt));
  const auto term = redis().election("scheduler").campaign();
  EXPECT_TRUE(audience.hears_of(term.token()));
  EXPECT_EQ(called("client|tracking"), 0);
}

TEST_P(Election, PollsWhereTrackingIsForbidden) {
  server().command({"ACL", "SETUSER", "default", "-client"});
  audience audience;
  const auto other = another_client();
  const auto watching = other.election("scheduler").observe(audience.ear());
  ASSERT_TRUE(audience.hears_of(std::nullopt));
  const auto term = redis().election("scheduler").campaign();
  EXPECT_TRUE(audience.hears_of(term.token()));
}

TEST_P(Election, ObservingCostsNothingWhileNothingHappens) {
  audience audience;
  const auto other = another_client();
  const auto watching = other.election("scheduler").observe(audience.ear());
  ASSERT_TRUE(audience.hears_of(std::nullopt));
  const auto before = called("get");
  const auto term = redis().election("scheduler").campaign();
  ASSERT_TRUE(audience.hears_of(term.token()));
  // The candidate's script does not GET a key that is not there.
  EXPECT_LE(called("get") - before, 2);
  EXPECT_EQ(called("client|tracking"), 1) << "when it was found to be off";
}

TEST_P(Election, TellsNobodyAfterTheEnd) {
  audience audience;
  const auto office = redis().election("scheduler");
  {
    auto watching = office.observe(audience.ear());
    ASSERT_TRUE(audience.hears_of(std::nullopt));
    auto moved = std::move(watching);
    watching = std::move(moved);
  }
  const auto told = audience.told().size();
  auto term = office.campaign();
  EXPECT_TRUE(term.release());
  EXPECT_EQ(office.leader(), std::nullopt);
  EXPECT_EQ(audience.told().size(), told);
}

TEST_P(Election, AnObservationMayEndInItsOwnCall) {
  std::optional<observation> watching;
  std::mutex guard;
  std::atomic<bool> ended{false};
  {
    const std::lock_guard lock(guard);
    watching.emplace(redis().election("scheduler").observe([&](const auto&) {
      const std::lock_guard in(guard);
      watching.reset();
      ended = true;
    }));
  }
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

// The server has gone, so a reading is under way nearly always.
TEST_P(Election, AnObservationMayOwnItsClient) {
  auto server = start();
  std::optional<client> own{std::in_place, server.url()};
  audience audience;
  std::optional watching{
      own->election("scheduler").observe([client = *own, ear = audience.ear()](const auto& leader) {
        ear(leader);
      })};
  ASSERT_TRUE(audience.hears_of(std::nullopt));
  server.kill9();
  EXPECT_FALSE(own->mutex("a").try_acquire());
  own.reset();
  watching.reset();
}

TEST_P(Election, RefusesWhatNobodyCanMean) {
  EXPECT_EQ(thrown_by([&] { (void)redis().election(""); }).reason(), errc::invalid_name);
  EXPECT_EQ(thrown_by([&] { (void)redis().election("a", {.lease = 1ms}); }).reason(),
            errc::invalid_argument);
  server().command({"RPUSH", "hf:{list}", "x"});
  EXPECT_EQ(thrown_by([&] { (void)redis().election("list").leader(); }).reason(),
            errc::foreign_key);
  audience audience;
  const auto watching = redis().election("list").observe(audience.ear());
  EXPECT_TRUE(audience.hears_of(std::nullopt)) << "what holds no leader has none";
}

// Forks before there are threads.
class ElectionProcesses : public support::server_test {};
HOLDFAST_ON_EACH_SERVER(ElectionProcesses);

TEST_P(ElectionProcesses, ALeaderThatDiesIsFollowed) {
  const auto server = start();
  support::forked dies{[&](const support::forked::teller& parent) {
    const client mine{server.url()};
    const auto term = mine.election("scheduler", {.lease = 300ms}).campaign();
    parent.tell(term.token().to_string());
    parent.sleep_until_killed();
  }};
  const auto old = dies.heard();
  const client redis{server.url()};
  audience audience;
  const auto office = redis.election("scheduler");
  const auto watching = office.observe(audience.ear());
  dies.kill9();
  const auto term = office.campaign({.timeout = generous});
  EXPECT_GT(term.token().value(), std::stoull(old));
  EXPECT_TRUE(audience.hears_of(term.token()));
}

}  // namespace
}  // namespace holdfast::conformance
