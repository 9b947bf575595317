// Findings about the servers of a quorum together, each on servers that are so.
#include <algorithm>

#include <holdfast/quorum_inspector.hpp>

#include "base/lock_key.hpp"
#include "faults/faulty_server.hpp"
#include "redis/connection/slot_map.hpp"
#include "support/clock_shim.hpp"

namespace holdfast::faults {
namespace {

using severity = finding::severity;

class QuorumDeployment : public fault_test {
 protected:
  static std::string at(const private_server& server) { return "unix://" + server.socket(); }

  static std::vector<finding> diagnose(const std::vector<std::string>& urls) {
    std::vector<client> members;
    for (const auto& url : urls) members.emplace_back(url, patient());
    return quorum_inspector{std::move(members)}.diagnose();
  }

  static std::vector<finding> about(const std::string& check, std::vector<finding> all) {
    std::erase_if(all, [&](const auto& found) { return found.check != check; });
    return all;
  }

  // There is one such finding. It says this much, with something to do about it unless all is well.
  static void expect(const std::string& check, const std::vector<finding>& all, severity level,
                     const std::string& detail, const std::string& remedy = {}) {
    const auto found = about(check, all);
    ASSERT_EQ(found.size(), 1U) << check;
    EXPECT_EQ(found.front().level, level) << check << ": " << found.front().detail;
    EXPECT_THAT(found.front().detail, ::testing::HasSubstr(detail));
    EXPECT_THAT(found.front().remedy, ::testing::HasSubstr(remedy));
    EXPECT_EQ(found.front().remedy.empty(), level == severity::ok) << found.front().remedy;
  }
};
HOLDFAST_ON_EACH_SERVER(QuorumDeployment);

TEST_P(QuorumDeployment, EachMemberIsLookedAtAndNamed) {
  const private_server servers[] = {start(), start(), start()};
  const auto all = diagnose({at(servers[0]), at(servers[1]), at(servers[2])});
  for (const auto& server : servers) {
    const auto is_its = [&](const finding& found) {
      return found.check == "scripts" && found.detail.starts_with(at(server) + ": ");
    };
    EXPECT_EQ(std::ranges::count_if(all, is_its), 1);
  }
  EXPECT_EQ(about("connect", all).size(), 3U);
  for (const auto& found : all) {
    EXPECT_NE(found.level, severity::problem) << found.check << ": " << found.detail;
  }
  expect("majority", all, severity::ok, "3 of 3 members answer; 2 are a majority");
  expect("clocks", all, severity::ok, "clocks are within ");
  EXPECT_TRUE(about("number", all).empty());
  EXPECT_TRUE(about("identity", all).empty());
}

// A member's first vote for a slot says that the slot is not new. So the doctor must leave the slot
// as it was, also where it is not told that there is a quorum.
TEST_P(QuorumDeployment, NoHashSlotIsFoundedByLooking) {
  const auto server = start();
  const auto all = diagnose({at(server)});
  const auto kinds = about("kinds", all);
  ASSERT_FALSE(kinds.empty());
  EXPECT_THAT(kinds[0].detail, ::testing::HasSubstr("mutex of a quorum"));
  (void)inspector{client{at(server), patient()}}.diagnose();
  EXPECT_THAT(server.command({"KEYS", "hf:q:*"}).items, ::testing::IsEmpty());
}

TEST_P(QuorumDeployment, NoCounterOfAHashSlotIsTouchedByLooking) {
  const auto server = start();
  const auto at_each_slot = [&](const std::string& command) {
    std::vector<std::string> words{"EVAL",
                                   "local found = 0 for i = 1, #ARGV do local key = "
                                   "'hf:q:fence:{' .. ARGV[i] .. '}' " +
                                       command + " end return found",
                                   "0"};
    for (std::uint16_t slot = 0; slot < hash_slots; ++slot) words.push_back(slot_tag(slot));
    return server.command(words).number;
  };
  at_each_slot("redis.call('SET', key, '5')");
  (void)diagnose({at(server)});
  const auto untouched =
      at_each_slot("if redis.call('GET', key) == '5' then found = found + 1 end");
  EXPECT_EQ(untouched, std::int64_t{hash_slots});
}

TEST_P(QuorumDeployment, MembersThatAreMissing) {
  const private_server servers[] = {start(), start()};
  const auto nobody = "unix:///nowhere/";
  auto all = diagnose({at(servers[0]), nobody + std::string("a"), at(servers[1])});
  expect("majority", all, severity::warning, "2 of 3 members answer", "if another goes");
  const auto connects = about("connect", all);
  ASSERT_EQ(connects.size(), 3U);
  EXPECT_EQ(connects[1].level, severity::problem);
  EXPECT_THAT(connects[1].detail, ::testing::HasSubstr("/nowhere/a"));
  all = diagnose({at(servers[0]), nobody + std::string("a"), nobody + std::string("b")});
  expect("majority", all, severity::problem, "1 of 3 members answers", "start the others");
  EXPECT_TRUE(about("clocks", all).empty()) << "there is nothing to compare";
}

TEST_P(QuorumDeployment, NumbersThatAreNoBetterThanSmallerOnes) {
  const private_server servers[] = {start(), start()};
  expect("number", diagnose({at(servers[0]), at(servers[1])}), severity::warning,
         "an even number of members, 2,", "take one away");
  expect("number", diagnose({at(servers[0])}), severity::warning, "one member", "3 or 5");
}

TEST_P(QuorumDeployment, OneServerUnderTwoAddresses) {
  const private_server servers[] = {start({.tcp = true}), start()};
  const auto again = "redis://127.0.0.1:" + std::to_string(servers[0].port());
  expect("identity", diagnose({at(servers[0]), at(servers[1]), again}), severity::problem,
         at(servers[0]) + " and " + again, "twice");
}

// A matter of taste with one server is none here.
TEST_P(QuorumDeployment, MembersThatComeBackWithAnOldState) {
  const auto server = start();
  const auto persistence = [&](severity level, const std::string& detail,
                               const std::string& remedy = {}) {
    expect("persistence", diagnose({at(server)}), level, detail, remedy);
  };
  persistence(severity::ok, "restarts empty, at once, which clients notice");
  server.command({"CONFIG", "SET", "save", "3600 1"});
  persistence(severity::problem, "with a snapshot", "nor snapshots");
  server.command({"CONFIG", "SET", "appendonly", "yes"});
  persistence(severity::problem, "appendfsync everysec", "appendfsync always");
  server.command({"CONFIG", "SET", "appendfsync", "always"});
  persistence(severity::ok, "on disk before each answer");
}

TEST_P(QuorumDeployment, ClocksThatDiffer) {
  support::clock_shim clock;
  const private_server servers[] = {start(), start({.environment = clock.environment()})};
  const auto clocks = [&] { return diagnose({at(servers[0]), at(servers[1])}); };
  clock.set(100ms);
  expect("clocks", clocks(), severity::ok, "within ");
  clock.set(-5s);
  expect("clocks", clocks(), severity::warning, "the clock of " + at(servers[0]) + " is ", "slew");
  clock.set(-60s);
  expect("clocks", clocks(), severity::problem, "the clock of " + at(servers[0]) + " is ",
         "loses its memory");
}

TEST_P(QuorumDeployment, WhatIsNoQuorumIsRefused) {
  const auto server = start();
  for (const auto& urls : {std::vector<std::string>{}, {at(server), at(server)}}) {
    try {
      (void)diagnose(urls);
      ADD_FAILURE() << urls.size();
    } catch (const failure& refused) {
      EXPECT_EQ(refused.reason(), errc::invalid_argument);
    }
  }
}

}  // namespace
}  // namespace holdfast::faults
