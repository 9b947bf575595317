// A name that leads to another server after a failover, as at managed services: nobody tells the
// client, and the old server may go on as a replica, be gone, or answer nothing.
#include "faults/moving_name.hpp"

#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "faults/faulty_server.hpp"
#include "net/clock.hpp"

namespace holdfast::faults {
namespace {

constexpr const char* old_address = "127.0.0.2";
constexpr const char* new_address = "127.0.0.3";

// Two servers on one port of two addresses. The second follows the first until promote().
class MovingName : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (support::over_cluster()) GTEST_SKIP() << "the nodes of a cluster say where they are";
    first_.emplace(settings(old_address, {}));
    port_ = std::to_string(first_->port());
    second_.emplace(settings(new_address, {"--port", port_, "--replicaof", old_address, port_}));
    // It is in step as soon as it is sent everything, and answers when it has loaded that.
    ASSERT_TRUE(eventually([&] { return first().command({"WAIT", "1", "1"}).number == 1; }));
    ASSERT_FALSE(first().command({"SET", "hf:{first}", ""}).is(resp::type::error));
    ASSERT_TRUE(eventually([&] { return knows("first"); }));
    lead_to({old_address});
  }

  support::server_settings settings(const char* address, std::vector<std::string> more) const {
    more.insert(more.begin(), {"--repl-diskless-sync-delay", "0"});
    return {.program = GetParam(), .tcp = true, .address = address, .arguments = more};
  }

  // That of the first server, but for the host.
  std::string url() const {
    auto its = first_->tcp_url();
    return its.replace(its.find(old_address), std::string(old_address).size(), moving_name);
  }

  private_server& first() { return *first_; }
  private_server& second() { return *second_; }
  bool knows(const std::string& name) {
    return second().command({"EXISTS", value_key(name)}).number == 1;
  }
  void promote() { ASSERT_EQ(second().command({"REPLICAOF", "NO", "ONE"}).text, "OK"); }
  void demote() { ASSERT_EQ(first().command({"REPLICAOF", new_address, port_}).text, "OK"); }

  // The promises to every holder and waiter in a failover, in which `fail` happens to the old
  // server, and some time later the name moves.
  void check_failover(const std::function<void()>& fail) {
    const client redis{url(), impatient()}, other{url(), impatient()};
    // Longer than anything here takes: it is the new server that confirms it.
    auto held = redis.mutex("held", {.lease = 60s}).acquire();
    const auto before = redis.mutex("a").acquire();
    auto waiter = std::async(std::launch::async, [&] {
      return other.mutex("held").try_acquire({.timeout = support::generous});
    });
    ASSERT_TRUE(eventually([&] { return inspector{redis}.status("held").waiting == 1; }));
    ASSERT_TRUE(eventually([&] { return knows("held") && knows("a"); }));
    promote();
    fail();
    auto unserved = other.mutex("new").try_acquire({.timeout = 700ms});
    EXPECT_FALSE(unserved) << "the name has not moved";
    lead_to({new_address});

    auto got = other.mutex("new").try_acquire({.timeout = support::generous});
    ASSERT_TRUE(got) << why_not(got);
    EXPECT_TRUE(knows("new"));
    EXPECT_TRUE(held.held());
    // Its client asks for the first time since, and learns by the silence where it must go.
    EXPECT_TRUE(eventually([&] { return held.extend(50s).has_value(); }));
    EXPECT_TRUE(held.release());
    auto next = waiter.get();
    ASSERT_TRUE(next) << why_not(next);
    EXPECT_GT(next->token(), held.token());
    EXPECT_TRUE(next->release());
    EXPECT_FALSE(knows("held"));
  }

  // A waiter at the old server hears the new one's messages, but is not counted there, and taken
  // for gone: the next one has the lock.
  void check_who_listens_at_the_old_server(const std::function<lock(const client&)>& of) {
    const client holder{url(), impatient()}, left_behind{url(), impatient()};
    auto held = of(holder).acquire();
    const auto waits = [&](const client& redis) {
      return std::async(std::launch::async, [wanted = of(redis)] {
        return wanted.try_acquire({.timeout = support::generous});
      });
    };
    const auto waiting = [](const client& at) { return inspector{at}.status("held").waiting; };
    auto deaf = waits(left_behind);
    ASSERT_TRUE(eventually([&] { return waiting(holder) == 1; }));
    ASSERT_TRUE(eventually([&] {
      return second().command({"EXISTS", "hf:{held}:w"}).number == 1;
    }));
    promote();
    demote();
    ASSERT_TRUE(eventually([&] {
      const auto said = first().command({"INFO", "replication"}).text;
      return said.find("master_link_status:up") != said.npos;
    }));
    auto options = impatient();
    options.name = "newcomer";
    const client newcomer{second().url(), options};
    auto next = waits(newcomer);
    ASSERT_TRUE(eventually([&] {
      const auto queue = inspector{newcomer}.status("held").queue;
      return !queue.empty() && queue.back().who.program == options.name;
    }));
    lead_to({new_address});
    // Its client does nothing else, and learns by that alone where it must go.
    ASSERT_TRUE(eventually([&] { return held.extend(50s).has_value(); }));
    EXPECT_TRUE(held.release());
    auto got = next.get();
    ASSERT_TRUE(got) << why_not(got);
    const auto has_answer = [&] { return deaf.wait_for(0s) == std::future_status::ready; };
    EXPECT_TRUE(eventually([&] { return has_answer() || waiting(newcomer) == 1; }));
    EXPECT_FALSE(has_answer()) << "somebody else has the lock";
    EXPECT_TRUE(got->release());
    auto last = deaf.get();
    ASSERT_TRUE(last) << why_not(last);
    EXPECT_GT(last->token(), got->token());
  }

 private:
  std::string port_;
  std::optional<private_server> first_, second_;
};
HOLDFAST_ON_EACH_SERVER(MovingName);

TEST_P(MovingName, IsFollowedFromAMasterThatBecameAReplica) {
  check_failover([&] { demote(); });
}

TEST_P(MovingName, IsFollowedFromAServerThatDied) {
  check_failover([&] { first().kill9(); });
}

TEST_P(MovingName, IsFollowedFromAServerThatAnswersNothing) {
  check_failover([&] { first().freeze(); });
}

TEST_P(MovingName, IsNotHeardFromTheOldServerAsOneWhoGrantsMutexes) {
  check_who_listens_at_the_old_server([](const client& redis) { return redis.mutex("held"); });
}

TEST_P(MovingName, IsNotHeardFromTheOldServerAsOneWhoGrantsSharedLocks) {
  check_who_listens_at_the_old_server(
      [](const client& redis) { return redis.read_write_lock("held").exclusive(); });
}

TEST_P(MovingName, IsLookedUpAgainAtMostTwiceASecondWhereItLeadsToAReplica) {
  const client redis{url(), impatient()};
  ASSERT_TRUE(redis.mutex("a").try_acquire());
  promote();
  demote();
  const auto connections = [&] {
    return support::number_behind("total_connections_received:",
                                  first().command({"INFO", "stats"}).text);
  };
  const auto before = connections();
  const auto from = net::now();
  expect_failure(redis.mutex("b").try_acquire({.timeout = 2s}), errc::timed_out, "READONLY");
  const auto half_seconds = (net::now() - from) / 500ms;
  // Our own looks are connections too; so is the first time, which comes at once.
  EXPECT_LE(connections() - before, 1 + 1 + half_seconds);
  EXPECT_GE(connections() - before, 1 + 2) << "it looks more than once";
}

// All of a deployment under one name: whoever lets us in first may be a replica, or hang.
TEST_P(MovingName, LeadsToTheMasterAmongItsAddresses) {
  lead_to({new_address, old_address});
  {
    const client redis{url(), impatient()};
    EXPECT_TRUE(redis.mutex("a").try_acquire());
  }
  second().freeze();
  const client redis{url(), impatient()};
  EXPECT_TRUE(redis.mutex("b").try_acquire({.timeout = support::generous}));
}

TEST_P(MovingName, OfReplicasOnlyStillServesThoseWhoRead) {
  {
    const client redis{url(), impatient()};
    (void)redis.mutex("a", {.lease = 60s}).acquire().release();
  }
  lead_to({new_address});
  const client redis{url(), impatient()};
  EXPECT_EQ(inspector{redis}.status("a").waiting, 0U);
  expect_failure(redis.mutex("a").try_acquire(), errc::read_only, "give the address of the master");
}

TEST_P(MovingName, BringsTheQuarantineOfAnotherServer) {
  auto options = impatient();
  options.quarantine = 60s;
  const client redis{url(), options};
  const auto held = redis.mutex("a", {.lease = 60s}).acquire();
  ASSERT_TRUE(eventually([&] { return knows("a"); }));
  promote();
  demote();
  lead_to({new_address});
  EXPECT_TRUE(eventually([&] {
    const auto got = redis.mutex("b").try_acquire();
    return !got && got.error().reason() == errc::unavailable &&
           std::string(got.error().what()).find("quarantine") != std::string::npos;
  }));
  EXPECT_TRUE(held.held()) << "what is held is not concerned";
}

// However often and by how many clients it is asked for.
TEST(HangingName, CostsOneThread) {
  std::vector<std::jthread> crowd;
  for (int i = 0; i < 4; ++i) {
    crowd.emplace_back([] {
      const client redis{"redis://" + std::string(hanging_name), {.connect_timeout = 20ms}};
      for (int attempt = 0; attempt < 5; ++attempt) {
        expect_failure(redis.mutex("a").try_acquire(), errc::unavailable, "took too long");
      }
    });
  }
  crowd.clear();
  EXPECT_EQ(hanging_look_ups(), 1);
  let_hanging_look_ups_go();
  const client redis{"redis://" + std::string(hanging_name), patient()};
  expect_failure(redis.mutex("a").try_acquire(), errc::unavailable, "is unknown");
}

}  // namespace
}  // namespace holdfast::faults
