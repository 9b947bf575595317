// A master under Redis Sentinel, and what becomes of locks when another takes its place.
#include "support/sentinel_group.hpp"

#include <algorithm>
#include <future>
#include <stdexcept>

#include "faults/faulty_server.hpp"
#include "net/clock.hpp"

namespace holdfast::faults {
namespace {

using support::sentinel_group;

class Sentinel : public fault_test {};
HOLDFAST_ON_EACH_SERVER(Sentinel);

// So that a lease is lost because the server says so, long before it ends by itself.
constexpr milliseconds long_lease{600'000};

bool is_replicated(sentinel_group& group, const std::string& name) {
  return eventually([&] {
    for (std::size_t i = 0; i < sentinel_group::members; ++i) {
      if (group.server(i).command({"EXISTS", "hf:{" + name + "}"}).number != 1) return false;
    }
    return true;
  });
}

TEST_P(Sentinel, NamesTheMasterAndItIsFound) {
  sentinel_group group{GetParam()};
  const client redis{group.url()};
  EXPECT_EQ(redis.url(), group.url());
  const auto held = redis.mutex("a").acquire();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(group.server(0).command({"EXISTS", value_key("a")}).number, 1);
}

TEST_P(Sentinel, ThatIsDeadIsPassedOver) {
  sentinel_group group{GetParam()};
  group.sentinel(0).kill9();
  group.sentinel(1).freeze();
  const client redis{group.url()};
  EXPECT_TRUE(redis.mutex("a").acquire().held());
}

TEST_P(Sentinel, FailoverConfirmsWhatIsHeldAndGivesLargerTokens) {
  sentinel_group group{GetParam()};
  const client redis{group.url()};
  const client stranger{group.url()};
  auto held = redis.mutex("held", {.lease = long_lease}).acquire();
  auto before = redis.mutex("a").acquire();
  const auto last = before.token();
  ASSERT_TRUE(before.release());
  ASSERT_TRUE(is_replicated(group, "held"));
  group.fail_over();
  for (const client& who : {redis, stranger}) {
    auto after = who.mutex("a").try_acquire({.timeout = support::generous});
    ASSERT_TRUE(after) << why_not(after);
    EXPECT_GT(after->token(), last);
    const auto released = after->release();
    EXPECT_TRUE(released) << why_not(released);
  }
  EXPECT_TRUE(held.held());
  expect_failure(stranger.mutex("held").try_acquire(), errc::busy, "");
  EXPECT_TRUE(held.release());
  EXPECT_EQ(group.server(group.master()).command({"EXISTS", value_key("held")}).number, 0);
}

// On an idle machine a tenth of a second after the sentinels name it. They do that up to a second
// after it accepts writes: so often they look.
TEST_P(Sentinel, LocksWorkAgainSoonAfterTheSentinelsNameANewMaster) {
  sentinel_group group{GetParam()};
  const client redis{group.url()};
  ASSERT_TRUE(redis.mutex("a").try_acquire());
  const auto old = group.master();
  group.server(old).kill9();
  const auto when = [](auto&& happens) {
    return std::async(std::launch::async, [happens] {
      EXPECT_TRUE(eventually(happens));
      return net::now();
    });
  };
  auto writable = when([&group, old] {
    // The sentinels close all connections of the one that they promote.
    const auto accepts = [&](std::size_t i) {
      try {
        return i != old && group.server(i).command({"SET", "probe", "1"}).text == "OK";
      } catch (const std::runtime_error&) {
        return false;
      }
    };
    return accepts(0) || accepts(1) || accepts(2);
  });
  auto named = when([&group, old] { return group.has_moved_from(old); });
  const auto got = redis.mutex("a").try_acquire({.timeout = support::generous});
  const auto granted = net::now();
  ASSERT_TRUE(got) << why_not(got);
  const auto since = [granted](std::future<monotonic_time>& then) {
    return std::chrono::round<milliseconds>(granted - then.get());
  };
  const auto after_named = since(named);
  RecordProperty("after_it_was_named_ms", std::to_string(after_named.count()));
  RecordProperty("after_it_was_writable_ms", std::to_string(since(writable).count()));
  EXPECT_LT(after_named, 5s);
}

TEST_P(Sentinel, AKilledMasterIsReplacedAndComesBackAsAReplica) {
  // So long that the sentinels of a busy machine do not replace the new master as well, by one that
  // nobody has told of the lease.
  sentinel_group group{GetParam(), {}, 2s};
  const client redis{group.url()};
  auto held = redis.mutex("held", {.lease = long_lease}).acquire();
  ASSERT_TRUE(is_replicated(group, "held"));
  const auto old = group.master();
  group.server(old).kill9();
  auto other = redis.mutex("a").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(other) << why_not(other);
  EXPECT_TRUE(held.held());
  // A client that asks a sentinel that has not heard of the failover yet is sent to the old master,
  // and locks there if it is back by then.
  group.await_sentinels();
  // It starts as the master that it was, until the sentinels have told it otherwise.
  group.server(old).restart();
  const client newcomer{group.url()};
  auto another = newcomer.mutex("b").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(another) << why_not(another);
  EXPECT_NE(group.master(), old);
  EXPECT_EQ(group.server(group.master()).command({"EXISTS", value_key("b")}).number, 1);
  EXPECT_TRUE(eventually([&] { return group.is_demoted(old); }));
  EXPECT_TRUE(held.release());
}

// The replicas never hear of the lock: they are cut off from the master before it is granted.
TEST_P(Sentinel, ALeaseThatWasNotReplicatedIsLostAtOnce) {
  sentinel_group group{GetParam()};
  const client redis{group.url()};
  auto kept = redis.mutex("kept", {.lease = long_lease}).acquire();
  ASSERT_TRUE(is_replicated(group, "kept"));
  const auto old = group.master();
  group.cut_replication();
  auto gone = redis.mutex("gone", {.lease = long_lease}).acquire();
  const auto fixed =
      redis.mutex("fixed", {.lease = long_lease, .renewal = renewal::none}).acquire();
  const auto lost = gone.lost();
  group.server(old).kill9();
  // Nobody asks for anything: the client goes to the new master to confirm what it has.
  EXPECT_TRUE(eventually([&] { return lost.stop_requested() && !fixed.held(); }));
  EXPECT_FALSE(gone.held());
  EXPECT_TRUE(kept.held());
  const auto again = redis.mutex("gone").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(again) << why_not(again);
  EXPECT_GT(again->token(), gone.token());
}

// Its connections stay open and it says nothing: only the sentinels know.
TEST_P(Sentinel, AFrozenMasterIsLeftAsSoonAsThereIsAnother) {
  sentinel_group group{GetParam()};
  client_options patient;
  patient.response_timeout = 60s;
  const client redis{group.url(), patient};
  const auto held = redis.mutex("held", {.lease = long_lease}).acquire();
  ASSERT_TRUE(is_replicated(group, "held"));
  const auto old = group.master();
  group.server(old).freeze();
  const auto before = net::now();
  ASSERT_TRUE(eventually([&] { return group.has_moved_from(old); }));
  EXPECT_TRUE(eventually([&] {
    const auto list = group.server(group.master()).command({"CLIENT", "LIST", "TYPE", "pubsub"});
    return list.text.find("sub=1") != std::string::npos &&
           list.text.find("name=faults_sentinel") != std::string::npos;
  }));
  EXPECT_LT(net::now() - before, 50s);
  EXPECT_TRUE(held.held());
  group.server(old).thaw();
}

TEST_P(Sentinel, QuarantineRefusesNewGrantsForAWhileAndKeepsOldOnes) {
  sentinel_group group{GetParam()};
  client_options careful;
  careful.quarantine = 3s;
  const client redis{group.url(), careful};
  auto held = redis.mutex("held", {.lease = long_lease}).acquire();
  ASSERT_TRUE(is_replicated(group, "held"));
  group.fail_over();
  EXPECT_TRUE(eventually([&] {
    const auto got = redis.mutex("a").try_acquire();
    return !got && std::string(got.error().what()).find("quarantine") != std::string::npos;
  }));
  const auto noticed = net::now();
  const auto got = redis.mutex("a").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(got) << why_not(got);
  EXPECT_GE(net::now() - noticed, 1s);
  EXPECT_TRUE(held.held());
}

TEST_P(Sentinel, TheDoctorSeesSentinelsAndReplicas) {
  sentinel_group group{GetParam()};
  const inspector look{client{group.url()}};
  const auto count = [&](const std::string& check, finding::severity level) {
    return std::ranges::count_if(look.diagnose(), [&](const finding& found) {
      return found.check == check && found.level == level;
    });
  };
  EXPECT_EQ(count("sentinel", finding::severity::ok), 3);
  EXPECT_EQ(count("replica", finding::severity::ok), 2);
  EXPECT_EQ(count("min-replicas-to-write", finding::severity::warning), 1);
  EXPECT_EQ(count("role", finding::severity::ok), 1);
  group.sentinel(0).kill9();
  EXPECT_EQ(count("sentinel", finding::severity::ok), 2);
  EXPECT_EQ(count("sentinel", finding::severity::warning), 2);  // it, and that there are too few
}

TEST_P(Sentinel, ComplaintsAreClear) {
  const auto plain = support::start_sentinel(GetParam(), {"sentinel monitor locks 127.0.0.1 1 1"});
  const auto closed = support::start_sentinel(
      GetParam(), {"sentinel monitor locks 127.0.0.1 1 1", std::string("requirepass ") + password});
  const auto at = [](const support::private_server& one) {
    return "127.0.0.1:" + std::to_string(one.port());
  };
  const auto ask = [](const std::string& url, client_options options = impatient()) {
    return client{"redis+sentinel://" + url, std::move(options)}.mutex("a").try_acquire(
        {.timeout = 10s});
  };
  const std::string nobody = "127.0.0.1:1";
  expect_failure(ask(nobody + ",127.0.0.1:2/locks"), errc::unavailable,
                 "127.0.0.1:2: cannot connect to 127.0.0.1:2");
  expect_failure(ask(at(plain) + "/other"), errc::invalid_url,
                 at(plain) + ": it does not know this service");
  // The sentinel of a busy machine is no dead one.
  const client half_known{"redis+sentinel://" + nobody + "," + at(plain) + "/other",
                          {.connect_timeout = 5s}};
  expect_failure(half_known.mutex("a").try_acquire(), errc::unavailable,
                 at(plain) + ": it does not know this service");
  expect_failure(ask(at(closed) + "/locks"), errc::authentication, at(closed));
  auto wrong = impatient();
  wrong.sentinel_password = std::string(password) + "x";
  expect_failure(ask(at(closed) + "/locks", wrong), errc::authentication, at(closed));
  client_options right{.connect_timeout = 5s};
  right.sentinel_password = password;
  const client behind{"redis+sentinel://" + at(closed) + "/locks", right};
  expect_failure(behind.mutex("a").try_acquire(), errc::unavailable,
                 "the master of \"locks\", which is 127.0.0.1:1 as the sentinels say");
}

}  // namespace
}  // namespace holdfast::faults
