// The search for the master with sentinels that disagree, are silent or have never heard of it.
#include "redis/connection/locator.hpp"

#include <iterator>
#include <optional>
#include <string>

#include "faults/fake_sentinel.hpp"
#include "faults/faulty_server.hpp"
#include "support/fake_server.hpp"

namespace holdfast::faults {
namespace {

using support::fake_server;

constexpr std::uint16_t nobody = 1;  // a port at which nobody listens
constexpr std::size_t questions = std::size(redis::master_questions);

std::optional<fake_server::reply> knowing_nothing(const fake_server::command& words) {
  if (words.front() != "SENTINEL") return std::nullopt;
  return fake_server::answer("_\r\n");
}
fake_server::reply silent(const fake_server::command& /*words*/) { return fake_server::silence(); }

std::optional<fake_server::reply> as_replica(const fake_server::command& words) {
  if (words.front() != "INFO") return std::nullopt;
  return fake_server::answer("+role:slave\r\n");
}
std::optional<fake_server::reply> as_a_stranger(const fake_server::command& words) {
  if (words.front() != "HELLO") return std::nullopt;
  return fake_server::error("WRONGPASS invalid username-password pair or user is disabled.");
}

std::string place_of(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

class Locator : public ::testing::Test {
 protected:
  Locator() {
    settings_.connect_timeout = 5s;
    settings_.sentinels.emplace().service = "locks";
  }

  // In this order. Before the first search.
  void ask(std::initializer_list<std::uint16_t> sentinels) {
    for (const auto port : sentinels) {
      settings_.sentinels->members.emplace_back(net::tcp_endpoint{"127.0.0.1", port});
    }
  }
  // Where the master was found, or why it was not.
  std::string search() {
    redis::link made;
    redis::session_facts facts;
    if (!seeker_) seeker_.emplace(settings_, [](const std::string&) {});
    broken_ = seeker_->open(made, facts);
    return broken_ ? broken_->detail : facts.address;
  }
  errc reason() const { return broken_.value().code; }

  redis::session_settings settings_;
  fake_server master_;

 private:
  std::optional<redis::locator> seeker_;  // reads the settings when it is made
  std::optional<redis::breakdown> broken_;
};

TEST_F(Locator, AsksAnotherSentinelWhenTheNamedMasterIsDead) {
  const fake_server stale(naming(nobody));
  const fake_server good(naming(master_.port()));
  ask({stale.port(), good.port()});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(search(), place_of(master_.port()));
  EXPECT_EQ(stale.received("SENTINEL"), questions) << "who was right is asked first";
}

TEST_F(Locator, FindsTheOneThatIsRightBehindADeadOneAndAStaleOne) {
  const fake_server stale(naming(nobody));
  const fake_server good(naming(master_.port()));
  ask({nobody, stale.port(), good.port()});
  EXPECT_EQ(search(), place_of(master_.port()));
}

TEST_F(Locator, TakesNoReplica) {
  const fake_server replica(as_replica);
  const fake_server stale(naming(replica.port()));
  ask({stale.port()});
  EXPECT_THAT(search(), ::testing::HasSubstr("it is a replica: a failover is under way"));
  EXPECT_EQ(reason(), errc::unavailable);
}

TEST_F(Locator, AsksAnotherSentinelWhenTheNamedMasterIsAReplica) {
  const fake_server replica(as_replica);
  const fake_server stale(naming(replica.port()));
  const fake_server good(naming(master_.port()));
  ask({stale.port(), good.port()});
  EXPECT_EQ(search(), place_of(master_.port()));
}

// The old master's address was given to a server that is none of ours.
TEST_F(Locator, AsksAnotherSentinelWhenTheNamedMasterRefusesTheLogin) {
  const fake_server stranger(as_a_stranger);
  const fake_server stale(naming(stranger.port()));
  const fake_server good(naming(master_.port()));
  ask({stale.port(), good.port()});
  EXPECT_EQ(search(), place_of(master_.port()));
}

TEST_F(Locator, BelievesARefusalWhenAllNameThatMaster) {
  const fake_server refusing(as_a_stranger);
  const fake_server one(naming(refusing.port()));
  const fake_server other(naming(refusing.port()));
  settings_.connect_timeout = support::generous;
  ask({one.port(), other.port()});
  const auto before = net::now();
  EXPECT_THAT(search(), ::testing::HasSubstr(place_of(refusing.port())));
  EXPECT_EQ(reason(), errc::authentication);
  EXPECT_LT(net::now() - before, support::generous / 2) << "not asked for as long as may be";
}

// Each time it would cost a part of what is left for the new master.
TEST_F(Locator, AsksASilentSentinelOnceInASearch) {
  const fake_server frozen(silent);
  const fake_server one(naming(nobody));
  const fake_server other(naming(nobody));
  ask({one.port(), frozen.port(), other.port()});
  const auto asked = [&] { return one.received("SENTINEL") + other.received("SENTINEL"); };
  std::size_t searches = 0;
  const auto others_are_asked_again = [&] {
    const auto before = asked();
    search();
    EXPECT_LE(frozen.connections(), ++searches);
    return searches > 1 && asked() - before > 2 * questions;
  };
  EXPECT_TRUE(eventually(others_are_asked_again));
  EXPECT_GT(frozen.connections(), 0U);
}

TEST_F(Locator, WaitsForASlowSentinelWhenAnotherHasNeverHeardOfTheService) {
  const fake_server ignorant(knowing_nothing);
  fake_server slow(silent);
  ask({ignorant.port(), slow.port()});
  EXPECT_THAT(search(), ::testing::HasSubstr("it does not know this service"));
  EXPECT_EQ(reason(), errc::unavailable) << "waiting may help";
  slow.on(naming(master_.port()));
  settings_.connect_timeout = support::generous;
  EXPECT_EQ(search(), place_of(master_.port()));
}

TEST_F(Locator, GivesUpWhenNoSentinelHasEverHeardOfTheService) {
  const fake_server one(knowing_nothing);
  const fake_server other(knowing_nothing);
  settings_.connect_timeout = support::generous;
  ask({one.port(), other.port()});
  EXPECT_THAT(search(), ::testing::HasSubstr("it does not know this service"));
  EXPECT_EQ(reason(), errc::invalid_url);
  EXPECT_EQ(one.received("SENTINEL"), questions);
}

// A sentinel that is cut off with an old master, which lives on.
TEST_F(Locator, PassesOverWhoHasNotHeardOfAFailover) {
  const fake_server successor;
  fake_server first(naming(master_.port(), 5));
  const fake_server stale(naming(successor.port(), 4));
  const fake_server third(naming(master_.port(), 5));
  settings_.connect_timeout = support::generous;
  ask({first.port(), stale.port(), third.port()});
  EXPECT_EQ(search(), place_of(master_.port()));
  first.on(silent);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(search(), place_of(master_.port()));
  first.on(naming(successor.port(), 6));
  EXPECT_EQ(search(), place_of(master_.port())) << "who answered last is asked first";
}

TEST_F(Locator, WaitsForSomebodyWhoHasHeardOfTheLastFailover) {
  const fake_server old_master;
  fake_server first(naming(master_.port(), 1));
  fake_server third(naming(master_.port(), 1));
  const fake_server stale(naming(old_master.port(), 0));
  settings_.connect_timeout = support::generous;
  ask({first.port(), third.port(), stale.port()});
  EXPECT_EQ(search(), place_of(master_.port()));
  settings_.connect_timeout = 4s;
  first.on(silent);
  third.on(silent);
  EXPECT_THAT(search(), ::testing::HasSubstr(place_of(stale.port()) + ": it names " +
                                             place_of(old_master.port()) +
                                             ", but has not heard of the last failover"));
  EXPECT_EQ(reason(), errc::unavailable) << "waiting may help";
  third.on(naming(master_.port(), 1));
  settings_.connect_timeout = support::generous;
  EXPECT_EQ(search(), place_of(master_.port()));
}

// After some seconds, in which they could still hear of the last failover.
TEST_F(Locator, BelievesAMajorityThatWasSetUpAnew) {
  fake_server first(naming(nobody, 7));
  fake_server second(naming(nobody, 1));
  fake_server third(naming(master_.port(), 7));
  settings_.connect_timeout = support::generous;
  ask({first.port(), second.port(), third.port()});
  EXPECT_EQ(search(), place_of(master_.port()));
  const fake_server anew;
  first.on(naming(anew.port(), 2));
  third.on(knowing_nothing);
  EXPECT_EQ(search(), place_of(anew.port())) << "the newest of them";
  second.on(knowing_nothing);
  EXPECT_EQ(search(), place_of(anew.port())) << "one is enough, since it counts from there now";
}

TEST_F(Locator, BelievesAMajorityThatWasSetUpAnewBesideOneThatLeadsNowhere) {
  fake_server first(naming(nobody, 7));
  fake_server second(naming(nobody, 7)), third(naming(nobody, 7));
  ask({first.port(), second.port(), third.port()});
  settings_.connect_timeout = 2s;
  EXPECT_TRUE(eventually([&] {
    return search().find("which is 127.0.0.1:1 as the sentinels say") != std::string::npos;
  }));
  second.on(naming(master_.port(), 1));
  third.on(naming(master_.port(), 1));
  std::string found;
  EXPECT_TRUE(eventually([&] { return (found = search()) == place_of(master_.port()); })) << found;
}

}  // namespace
}  // namespace holdfast::faults
