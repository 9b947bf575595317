// What `holdfast doctor` says about a master under Redis Sentinel, each finding on a group that is
// so.
#include <algorithm>

#include <holdfast/quorum_inspector.hpp>

#include "faults/faulty_server.hpp"
#include "support/clock_shim.hpp"
#include "support/private_network.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::faults {
namespace {

using severity = finding::severity;
using support::sentinel_group;
using ::testing::HasSubstr;

std::string place(const private_server& server) {
  return "127.0.0.1:" + std::to_string(server.port());
}

std::vector<finding> about(const std::string& check, std::vector<finding> all) {
  std::erase_if(all, [&](const auto& found) { return found.check != check; });
  return all;
}

std::vector<finding> diagnose(const std::string& url, client_options options = patient()) {
  return inspector{client{url, std::move(options)}}.diagnose();
}

class SentinelDeployment : public fault_test {
 protected:
  // In which nobody takes over: a server that is late on a busy machine is none that has died.
  static sentinel_group start_group() { return sentinel_group{GetParam(), {}, support::generous}; }

  private_server start_sentinel(std::uint16_t master,
                                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> lines{"sentinel monitor locks 127.0.0.1 " + std::to_string(master) +
                                   " 2"};
    lines.insert(lines.end(), more.begin(), more.end());
    return support::start_sentinel(GetParam(), lines);
  }
  static std::string url(const std::vector<const private_server*>& sentinels) {
    std::string text;
    for (const auto* one : sentinels) text += (text.empty() ? "" : ",") + place(*one);
    return "redis+sentinel://" + text + "/locks";
  }
};
HOLDFAST_ON_EACH_SERVER(SentinelDeployment);

TEST_P(SentinelDeployment, AMasterThatIsDead) {
  const private_server sentinels[] = {start_sentinel(1), start_sentinel(1), start_sentinel(1)};
  auto options = patient();
  options.connect_timeout = 3s;  // for which a master that answers is sought
  const auto all = diagnose(url({&sentinels[0], &sentinels[1], &sentinels[2]}), options);
  ASSERT_EQ(about("connect", all).size(), 1U);
  EXPECT_EQ(about("connect", all)[0].level, severity::problem);
  const auto said = about("sentinel", all);
  ASSERT_EQ(said.size(), 3U);
  for (const auto& found : said) {
    EXPECT_EQ(found.level, severity::ok) << found.detail;
    EXPECT_THAT(found.detail, HasSubstr("127.0.0.1:1"));
  }
}

// It was left out when the others agreed on a new master.
TEST_P(SentinelDeployment, ASentinelThatNamesAnOldMaster) {
  const auto master = start({.tcp = true});
  const private_server sentinels[] = {start_sentinel(1), start_sentinel(master.port()),
                                      start_sentinel(master.port())};
  const auto said = about("sentinel", diagnose(url({&sentinels[0], &sentinels[1], &sentinels[2]})));
  ASSERT_EQ(said.size(), 3U);
  for (const auto& found : said) {
    const bool is_old = found.detail.starts_with(place(sentinels[0]));
    EXPECT_EQ(found.level, is_old ? severity::problem : severity::ok) << found.detail;
  }
}

TEST_P(SentinelDeployment, HowManyAnswer) {
  const auto master = start({.tcp = true});
  private_server sentinels[] = {start_sentinel(master.port()), start_sentinel(master.port()),
                                start_sentinel(master.port())};
  auto options = patient();
  options.connect_timeout = 1s;  // for which a silent one is asked
  const auto how_many = [&] {
    auto said =
        about("sentinel", diagnose(url({&sentinels[0], &sentinels[1], &sentinels[2]}), options));
    std::erase_if(said, [](const finding& one) { return !one.detail.starts_with("only "); });
    return said;
  };
  EXPECT_TRUE(how_many().empty());
  sentinels[1].freeze();
  auto said = how_many();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].level, severity::warning) << "two of three can agree";
  sentinels[2].freeze();
  said = how_many();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].level, severity::problem);
  EXPECT_EQ(said[0].detail, "only 1 of them answered");
  EXPECT_THAT(said[0].remedy, HasSubstr("nobody replaces a master that dies"));
}

TEST_P(SentinelDeployment, AReplicaThatIsDead) {
  auto group = start_group();
  const auto replicas = [&] { return about("replica", diagnose(group.url())); };
  EXPECT_EQ(replicas().size(), 2U);
  group.server(2).kill9();
  const auto is_said = [&] {
    const auto all = replicas();
    return all.size() == 2 && std::ranges::any_of(all, [&](const finding& found) {
             return found.level == severity::warning && !found.remedy.empty() &&
                    found.detail.starts_with(place(group.server(2))) &&
                    found.detail.find("one of 2 that are known") != found.detail.npos;
           });
  };
  EXPECT_TRUE(eventually(is_said));
}

TEST_P(SentinelDeployment, HowManyMustFindTheMasterDead) {
  auto group = start_group();
  const auto quorums = [&] { return about("sentinel quorum", diagnose(group.url())); };
  auto said = quorums();
  ASSERT_EQ(said.size(), 1U) << "all say the same";
  EXPECT_EQ(said[0].level, severity::ok) << said[0].detail;
  EXPECT_THAT(said[0].detail, HasSubstr("quorum 2 of 3 known sentinels"));
  for (const auto& [quorum, why] : {std::pair{"1", "two holders"}, {"4", "is not replaced"}}) {
    group.sentinel(1).command({"SENTINEL", "SET", sentinel_group::service, "quorum", quorum});
    said = quorums();
    ASSERT_EQ(said.size(), 2U) << quorum;
    const auto& bad = said[said[0].level == severity::ok ? 1 : 0];
    EXPECT_EQ(bad.level, severity::warning) << bad.detail;
    EXPECT_EQ(bad.detail,
              place(group.sentinel(1)) + ": quorum " + quorum + " of 3 known sentinels");
    EXPECT_THAT(bad.remedy, HasSubstr(why));
    EXPECT_THAT(bad.remedy, HasSubstr("SENTINEL SET locks quorum 2"));
  }
}

TEST_P(SentinelDeployment, WhatMayNotBeLookedAtAtASentinelIsNoProblem) {
  const auto master = start({.tcp = true});
  const auto sentinel = start_sentinel(master.port(), {std::string("user shop on >") + password +
                                                       " +sentinel|get-master-addr-by-name"});
  auto options = patient();
  options.sentinel_username = "shop";
  options.sentinel_password = password;
  const auto said = about("sentinel quorum", diagnose(url({&sentinel}), options));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].level, severity::ok);
  EXPECT_THAT(said[0].detail, HasSubstr("could not look (needs +sentinel|master at sentinels)"));
}

TEST_P(SentinelDeployment, PlainBytesOnTheWayToSentinels) {
  const auto here = start_sentinel(1);
  auto options = patient();
  options.connect_timeout = 3s;  // for which a master that answers is sought
  const auto ways = [&](const std::string& to) { return about("tls", diagnose(to, options)); };
  const auto near = ways(url({&here, &here}));
  ASSERT_EQ(near.size(), 1U) << "what is so for several is said once";
  EXPECT_EQ(near[0].level, severity::ok);
  EXPECT_THAT(near[0].detail, HasSubstr("sentinels: no TLS to 127.0.0.1"));
  using support::private_network;
  if (const auto why = private_network::obstacle(); !why.empty()) GTEST_SKIP() << why;
  const private_network network(1);
  network.at(0, [&] {
    const auto address = private_network::address(0);
    const auto there =
        support::start_sentinel(GetParam(), {"sentinel monitor locks 127.0.0.1 1 2"}, {}, address);
    const auto far =
        ways("redis+sentinel://" + address + ":" + std::to_string(there.port()) + "/locks");
    EXPECT_EQ(far.size(), 1U);
    for (const auto& found : far) {
      EXPECT_EQ(found.level, severity::warning);
      EXPECT_EQ(found.detail, "sentinels: no TLS to " + address);
    }
    return 0;
  });
}

// It may be the next master.
TEST_P(SentinelDeployment, AReplicaThatMayDropLocks) {
  auto group = start_group();
  auto& replica = group.server(1);
  const auto evicts = [&] { return about("eviction", diagnose(group.url())); };
  EXPECT_EQ(evicts().size(), 1U);
  replica.command({"CONFIG", "SET", "maxmemory", "1gb"});
  replica.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  const auto said = evicts();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[1].level, severity::problem) << said[1].detail;
  EXPECT_THAT(said[1].detail, HasSubstr("replica " + place(replica)));
}

TEST_P(SentinelDeployment, AReplicaThatCannotBeLookedAt) {
  auto group = start_group();
  for (const std::size_t i : {0U, 2U}) {
    group.server(i).command({"ACL", "SETUSER", "worker", "on", "nopass", "~*", "&*", "+@all"});
  }
  auto options = patient();
  options.username = "worker";
  options.password = password;
  const auto said = about("replica", diagnose(group.url(), options));
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(std::ranges::count(said, severity::warning, &finding::level), 1);
  for (const auto& found : said) {
    if (found.level != severity::warning) continue;
    EXPECT_THAT(found.detail, HasSubstr(place(group.server(1)) + ": cannot look"));
    EXPECT_THAT(found.remedy, HasSubstr("next master"));
  }
}

TEST_P(SentinelDeployment, AReplicaThatNobodyPromotes) {
  const auto master = start({.tcp = true});
  const auto replica =
      start({.tcp = true,
             .arguments = {"--replicaof", "127.0.0.1", std::to_string(master.port()), "--maxmemory",
                           "1gb", "--maxmemory-policy", "allkeys-lru"}});
  const auto evicts = [&] { return about("eviction", diagnose(master.tcp_url())); };
  std::vector<finding> said;
  ASSERT_TRUE(eventually([&] { return (said = evicts()).size() == 2; }));
  EXPECT_EQ(said[1].level, severity::warning) << said[1].detail;
}

// Leases are kept as moments of the master's clock.
TEST_P(SentinelDeployment, AReplicaWhoseClockIsAhead) {
  support::clock_shim clock;
  const auto master = start({.tcp = true});
  const auto replica =
      start({.tcp = true,
             .arguments = {"--replicaof", "127.0.0.1", std::to_string(master.port())},
             .environment = clock.environment()});
  const auto clocks = [&] { return about("clocks", diagnose(master.tcp_url())); };
  std::vector<finding> said;
  ASSERT_TRUE(eventually([&] { return !(said = clocks()).empty(); }));
  EXPECT_EQ(said[0].level, severity::ok) << said[0].detail;
  clock.set(5s);
  said = clocks();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].level, severity::warning);
  EXPECT_THAT(said[0].detail, HasSubstr("the clock of " + place(replica) + " is "));
}

// The sentinels' demand for a password says nothing of the master.
TEST_P(SentinelDeployment, WhoMayComeInAtTheMaster) {
  const auto master = start({.tcp = true});
  master.command({"CONFIG", "SET", "bind", "0.0.0.0"});
  master.command({"CONFIG", "SET", "protected-mode", "no"});
  const auto sentinel = start_sentinel(master.port(), {std::string("requirepass ") + password});
  auto options = patient();
  options.sentinel_password = password;
  const auto access = about("access", diagnose(url({&sentinel}), options));
  ASSERT_EQ(access.size(), 1U);
  EXPECT_EQ(access[0].level, severity::warning) << access[0].detail;
}

// Its new master is known by its replication id, which no snapshot brings back.
TEST_P(SentinelDeployment, AsAMemberItsOldStateIsNoticed) {
  auto group = start_group();
  group.server(0).command({"CONFIG", "SET", "save", "3600 1"});
  const auto all = quorum_inspector{{client{group.url(), patient()}}}.diagnose();
  const auto said = about("persistence", all);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].level, severity::ok) << said[0].detail;
  EXPECT_THAT(said[0].detail, HasSubstr("clients notice what it forgets"));
}

}  // namespace
}  // namespace holdfast::faults
