// What `holdfast doctor` says about the server itself, each finding on a server that is so.
#include "faults/faulty_server.hpp"
#include "support/clock_shim.hpp"
#include "support/private_network.hpp"

namespace holdfast::faults {
namespace {

using severity = finding::severity;

class Deployment : public fault_test {
 protected:
  static finding about(const std::string& check, const std::string& url,
                       const client_options& options = patient()) {
    for (auto& found : inspector{client{url, options}}.diagnose()) {
      if (found.check == check) return found;
    }
    return {};
  }

  // As the default user, who may look at everything.
  static std::string at(const private_server& server) { return "unix://" + server.socket(); }
  static std::string tcp_at(const private_server& server) {
    return "redis://127.0.0.1:" + std::to_string(server.port());
  }

  // Says this much, with something to do about it unless all is well.
  static void expect(const finding& found, severity level, const std::string& detail,
                     const std::string& remedy = {}) {
    EXPECT_EQ(found.level, level) << found.check << ": " << found.detail;
    EXPECT_THAT(found.detail, ::testing::HasSubstr(detail));
    EXPECT_THAT(found.remedy, ::testing::HasSubstr(remedy));
    EXPECT_EQ(found.remedy.empty(), level == severity::ok) << found.remedy;
  }
};
HOLDFAST_ON_EACH_SERVER(Deployment);

TEST_P(Deployment, RestartWithoutMemory) {
  const auto server = start();
  const auto persistence = [&] { return about("persistence", at(server)); };
  expect(persistence(), severity::warning, "it restarts empty", "appendonly yes");
  server.command({"CONFIG", "SET", "save", "3600 1"});
  expect(persistence(), severity::warning, "restarts with a snapshot", "appendonly yes");
  server.command({"CONFIG", "SET", "appendonly", "yes"});
  expect(persistence(), severity::warning, "the last second or two", "appendfsync always");
  server.command({"CONFIG", "SET", "appendfsync", "no"});
  expect(persistence(), severity::warning, "the last half minute", "appendfsync always");
  server.command({"CONFIG", "SET", "appendfsync", "always"});
  expect(persistence(), severity::ok, "on disk before each answer");
}

TEST_P(Deployment, PlainBytesOnTheWayToAnotherMachine) {
  using support::private_network;
  if (const auto why = private_network::obstacle(); !why.empty()) GTEST_SKIP() << why;
  const private_network network(1);
  network.at(0, [&] {
    const auto server = start({.tcp = true, .address = private_network::address(0)});
    const auto tls = about("tls", server.tcp_url(), patient());
    expect(tls, severity::warning, "no TLS to " + private_network::address(0), "use rediss://");
    return 0;
  });
}

TEST_P(Deployment, PlainBytesThatStayOnThisMachine) {
  const auto server = start({.tcp = true});
  expect(about("tls", tcp_at(server)), severity::ok, "no TLS to 127.0.0.1, and none is needed");
  expect(about("tls", at(server)), severity::ok, "no TLS through a unix socket");
}

TEST_P(Deployment, EvictionThatMayDropLocks) {
  const auto server = start();
  const auto eviction = [&] { return about("eviction", at(server)); };
  expect(eviction(), severity::ok, "no memory limit");
  server.command({"CONFIG", "SET", "maxmemory", "1gb"});
  expect(eviction(), severity::ok, "noeviction");
  for (const char* policy : {"allkeys-lru", "volatile-ttl"}) {
    server.command({"CONFIG", "SET", "maxmemory-policy", policy});
    expect(eviction(), severity::problem, policy, "use noeviction");
  }
}

TEST_P(Deployment, ReplicasThatNobodyWaitsFor) {
  const auto master = start({.tcp = true});
  const auto needed = [&] { return about("min-replicas-to-write", at(master)); };
  EXPECT_EQ(needed().check, "") << "there are none";
  const auto replica =
      start({.arguments = {"--replicaof", "127.0.0.1", std::to_string(master.port())}});
  ASSERT_TRUE(eventually([&] { return !needed().check.empty(); }));
  expect(needed(), severity::warning, "0", "min-replicas-max-lag");
  expect(about("role", at(replica)), severity::problem, "this is a replica", "the master");
  master.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
  EXPECT_EQ(needed().check, "");
  master.command({"CONFIG", "SET", "min-replicas-max-lag", "0"});
  expect(needed(), severity::warning, "1, but min-replicas-max-lag is 0", "that is not 0");
}

// Its master goes on without it, and takes it for a replica until repl-timeout, of a minute.
TEST_P(Deployment, AReplicaThatHangs) {
  const auto master =
      start({.tcp = true,
             .arguments = {"--min-replicas-max-lag", "1", "--repl-diskless-sync-delay", "0"}});
  auto replica = start({.arguments = {"--replicaof", "127.0.0.1", std::to_string(master.port())}});
  finding said;
  const auto becomes = [&](severity level, const std::string& detail) {
    return eventually([&] {
      said = about("replica", at(master));
      return said.level == level && said.detail.find(detail) != std::string::npos;
    });
  };
  ASSERT_TRUE(becomes(severity::ok, "online")) << said.detail;
  EXPECT_THAT(said.detail, ::testing::ContainsRegex(" bytes behind, lag [01] s"));
  replica.freeze();
  ASSERT_TRUE(becomes(severity::warning, "online")) << said.detail;
  expect(said, severity::warning, ", lag ", "it has said nothing for more than 1 s");
  replica.thaw();
  EXPECT_TRUE(becomes(severity::ok, "online")) << said.detail;
}

TEST_P(Deployment, WhoMayComeIn) {
  const auto server = start({.tcp = true});
  const auto access = [&] { return about("access", tcp_at(server)); };
  expect(access(), severity::ok, "on this machine only");
  ASSERT_EQ(server.command({"CONFIG", "SET", "bind", "0.0.0.0"}).text, "OK");
  expect(access(), severity::ok, "protected mode keeps other machines out");
  server.command({"CONFIG", "SET", "protected-mode", "no"});
  expect(access(), severity::warning, "protected mode is off", "holdfast acl");
  server.command({"CONFIG", "SET", "bind", "127.0.0.1"});
  server.command({"CONFIG", "SET", "requirepass", password});
  auto options = patient();
  options.password = password;
  expect(about("access", tcp_at(server), options), severity::ok, "a password is asked for");
}

TEST_P(Deployment, ClockFarFromOurs) {
  support::clock_shim clock;
  const auto server = start({.environment = clock.environment()});
  expect(about("clock", at(server)), severity::ok, "ms from ours");
  clock.set(60s);
  expect(about("clock", at(server)), severity::warning, "ms from ours", "synchronise");
}

TEST_P(Deployment, WhatMayNotBeLookedAtIsNoProblem) {
  const auto server = start({.tcp = true});
  std::vector<std::string> words{"ACL", "SETUSER", "worker", "on", std::string(">") + password};
  const auto rights = access_rights_for("*", {"operator"}).needed;
  words.insert(words.end(), rights.begin(), rights.end());
  ASSERT_EQ(server.command(words).text, "OK");
  auto options = patient();
  options.username = "worker";
  options.password = password;
  const auto url = tcp_at(server);
  expect(about("access", url, options), severity::ok, "could not look");
  expect(about("persistence", url, options), severity::warning, "(needs +config|get)",
         "appendonly");
  server.command({"CONFIG", "SET", "appendonly", "yes"});
  expect(about("persistence", url, options), severity::ok, "could not look at appendfsync");
  expect(about("scripts", url, options), severity::ok, "work");
  expect(about("publish", url, options), severity::ok, "may publish");
  server.command({"ACL", "SETUSER", "worker", "+config|get"});
  expect(about("access", url, options), severity::ok, "on this machine only");
}

}  // namespace
}  // namespace holdfast::faults
