// The audit trail: who had which lock, how that ended, and what it takes to know.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

client_options audited(std::string pattern = "*") {
  client_options options;
  options.name = "billing";
  options.audit = std::move(pattern);
  return options;
}

class Audit : public mutex_test {
 protected:
  client audited_client(std::string pattern = "*") const {
    return client{server().url(), audited(std::move(pattern))};
  }
  audit_report trail(std::string_view pattern = "*") const {
    return inspector{redis()}.audit(pattern);
  }
  // What the trail tells of the ends, once it tells of so many grants.
  std::vector<grant_end> ends(std::size_t many) const {
    std::vector<grant_end> all;
    EXPECT_TRUE(eventually([&] { return trail().records.size() >= many; }));
    for (const auto& one : trail().records) all.push_back(one.how);
    return all;
  }
  bool tells(const std::vector<grant_end>& of) const {
    return eventually([&] { return ends(of.size()) == of; });
  }
  std::int64_t entries() const { return server().command({"XLEN", "hf:trail"}).number; }
  bool has_trail() const { return server().command({"EXISTS", "hf:trail"}).number == 1; }
};
HOLDFAST_ON_EACH_SERVER(Audit);

using enum grant_end;

TEST_P(Audit, IsOffUnlessThePatternMatches) {
  {
    const auto one = another_client().mutex("a").acquire();
    const auto two = audited_client("orders:*").mutex("b").acquire();
  }
  EXPECT_FALSE(has_trail());
  EXPECT_TRUE(trail().records.empty());
  EXPECT_TRUE(trail().complete);
}

TEST_P(Audit, TellsWhoHadALockAndWhen) {
  const auto here = audited_client("orders:*");
  auto held = here.mutex("orders:1").acquire();
  const auto other = here.mutex("stock").acquire();
  ASSERT_TRUE(tells({grant_end::held}));
  const auto token = held.token();
  const auto began = trail().records.at(0).granted;
  ASSERT_TRUE(held.release());
  ASSERT_TRUE(tells({released}));
  const auto one = trail("orders:1").records.at(0);
  EXPECT_EQ(one.name, "orders:1");
  EXPECT_EQ(one.kind, lock_kind::mutex);
  EXPECT_EQ(one.token, token);
  EXPECT_EQ(one.who.pid, ::getpid());
  EXPECT_EQ(one.who.program, "billing");
  EXPECT_FALSE(one.who.host.empty());
  EXPECT_EQ(one.who.id.size(), 16U) << "a whole id would be more than people need";
  EXPECT_EQ(one.reason, "");
  ASSERT_TRUE(one.granted && one.ended && began);
  EXPECT_LE(*one.granted, *one.ended);
  EXPECT_LT(std::chrono::abs(*one.granted - *began), 1s);
  EXPECT_TRUE(trail("stock").records.empty());
  EXPECT_TRUE(trail().complete);
}

// The client writes all before it is gone.
TEST_P(Audit, AClientThatClosesHasToldAll) {
  for (int i = 0; i < 20; ++i) (void)audited_client().mutex("a").acquire();
  const auto all = trail().records;
  EXPECT_EQ(all.size(), 20U);
  for (const auto& one : all) EXPECT_EQ(one.how, released);
}

TEST_P(Audit, ManyPairsAreWrittenTogether) {
  constexpr int pairs = 300;
  const auto before = called("evalsha") + called("eval");
  {
    const auto here = audited_client();
    for (int i = 0; i < pairs; ++i) ASSERT_TRUE(here.mutex("a").acquire().release());
  }
  EXPECT_EQ(entries(), 2 * pairs);
  // Registering, loading and other chores take some.
  EXPECT_LT(called("evalsha") + called("eval") - before, 2 * pairs + pairs / 2);
  EXPECT_EQ(trail().records.size(), static_cast<std::size_t>(pairs));
}

TEST_P(Audit, ThreadsThatHandALockOnHaveARecordEach) {
  const auto here = audited_client();
  auto first = here.mutex("a").acquire();
  std::thread second([&] { (void)here.mutex("a").acquire({.timeout = generous}); });
  ASSERT_TRUE(first.release());
  second.join();
  EXPECT_TRUE(tells({released, released}));
  EXPECT_LT(trail().records.at(0).token, trail().records.at(1).token);
}

TEST_P(Audit, ABrokenLockTellsByWhomAndWhy) {
  auto held = audited_client().mutex("a", {.lease = 300ms}).acquire();
  ASSERT_TRUE(tells({grant_end::held}));
  inspector{redis()}.break_lock("a", "it hangs");
  EXPECT_TRUE(triggered(held.lost()));
  ASSERT_TRUE(tells({broken}));
  EXPECT_TRUE(eventually([&] { return entries() == 2; })) << "its holder has heard of that";
  const auto one = trail().records.at(0);
  EXPECT_EQ(one.how, broken);
  EXPECT_EQ(one.reason, "it hangs");
  EXPECT_THAT(one.by, ::testing::HasSubstr(std::to_string(::getpid())));
  EXPECT_EQ(one.who.program, "billing");
}

TEST_P(Audit, ABreakIsToldWhoeverHadTheLock) {
  const auto held = redis().mutex("a").acquire();
  inspector{redis()}.break_lock("a", "it hangs");
  const auto all = trail("a").records;
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].how, broken);
  EXPECT_EQ(all[0].token, held.token());
  EXPECT_TRUE(trail("b").records.empty());
}

TEST_P(Audit, ALostLeaseIsTold) {
  auto held = audited_client().mutex("a", {.lease = 100ms, .renewal = renewal::none}).acquire();
  EXPECT_TRUE(triggered(held.lost()));
  EXPECT_TRUE(tells({lost}));
  expect_reason(held.release(), errc::lost);
  EXPECT_TRUE(tells({lost}));
}

TEST_P(Audit, TellsOfLocksThatSeveralHoldAndOfSeveralLocks) {
  const auto here = audited_client("[rs]*");
  {
    const auto one = here.semaphore("s", {.permits = 2}).acquire();
    const auto two = here.semaphore("s", {.permits = 2}).acquire();
    const auto reader = here.read_write_lock("r").shared().acquire();
    EXPECT_TRUE(tells({grant_end::held, grant_end::held, grant_end::held}));
  }
  EXPECT_TRUE(tells({released, released, released}));
  { const auto both = all_of({here.mutex("r{1}1"), here.mutex("r{1}2")}).acquire(); }
  for (const auto* const name : {"r{1}1", "r{1}2"}) {
    EXPECT_TRUE(eventually([&] { return trail(name).records.size() == 1; })) << name;
    EXPECT_TRUE(eventually([&] { return trail(name).records.at(0).how == released; })) << name;
    EXPECT_TRUE(trail(name).records.at(0).token);
  }
}

TEST_P(Audit, LocksWithoutTokensAreToldToo) {
  const auto here = audited_client();
  auto held = here.mutex("a", {.fencing = fencing::off}).acquire();
  EXPECT_TRUE(tells({grant_end::held}));
  EXPECT_FALSE(trail().records.at(0).token);
  ASSERT_TRUE(held.release());
  EXPECT_TRUE(tells({released}));
}

// What others wrote there: no entry, or one of any size.
TEST_P(Audit, StrangeEntriesHideNoOthers) {
  server().command({"XADD", "hf:trail", "*", "x", "y"});
  server().command({"XADD", "hf:trail", "*", "event", "granted", "name", std::string(513, 'n')});
  server().command({"XADD", "hf:trail", "*", "event", "lost", "name", "a", "token", "-1", "age",
                    "99999999999999999999", "held", "-5", "kind", "?", "program",
                    std::string(100'000, 'p'), "host", std::string(100'000, '\xff')});
  { const auto held = audited_client().mutex("b").acquire(); }
  const auto all = trail().records;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[0].how, lost);
  EXPECT_EQ(all[0].kind, lock_kind::unknown);
  EXPECT_EQ(all[0].who.program, std::string(128, 'p'));
  EXPECT_EQ(all[0].who.host.size(), 128U);
  EXPECT_EQ(all[1].how, released);
}

TEST_P(Audit, AnotherKeyInItsPlaceIsAFailureThatSaysSo) {
  server().command({"SET", "hf:trail", "x"});
  {
    const auto held = audited_client().mutex("a").acquire();
    EXPECT_TRUE(held.held()) << "no lock depends on the trail";
  }
  const auto why = thrown_by([&] { (void)trail(); });
  EXPECT_EQ(why.reason(), errc::foreign_key) << why.what();
  EXPECT_EQ(thrown_by([&] { (void)trail(""); }).reason(), errc::invalid_argument);
}

TEST_P(Audit, ItsLengthIsBoundedAndWhatWasCutOffIsSaid) {
  { const auto held = audited_client().mutex("first").acquire(); }
  server().command({"EVAL",
                    "for i = 1, 10500 do redis.call('XADD', KEYS[1], '*', 'event', 'x') end", "1",
                    "hf:trail"});
  EXPECT_GT(entries(), 10'500);
  { const auto held = audited_client().mutex("last").acquire(); }
  EXPECT_LE(entries(), 10'200);
  EXPECT_GE(entries(), 10'000);
  const auto found = trail();
  EXPECT_FALSE(found.complete);
  ASSERT_EQ(found.records.size(), 1U);
  EXPECT_EQ(found.records[0].name, "last");
  EXPECT_TRUE(inspector{redis()}.audit("*", 0ms).complete) << "nothing of that time was cut off";
}

TEST_P(Audit, AUserWithoutTheRightLosesNothingButTheTrail) {
  if (support::over_cluster()) GTEST_SKIP() << "one node would have the user";
  const auto words = access_rights_for("a", {"mutex"}).needed;
  const auto make_user = [&](const std::vector<std::string>& rights) {
    std::vector<std::string> command{"ACL", "SETUSER", "worker", "reset", "on", ">secret"};
    command.insert(command.end(), rights.begin(), rights.end());
    ASSERT_EQ(server().command(command).text, "OK");
  };
  auto options = audited();
  options.username = "worker";
  options.password = "secret";
  make_user(words);
  {
    const client here{server().url(), options};
    EXPECT_TRUE(here.mutex("a").acquire().release());
  }
  EXPECT_FALSE(has_trail());
  make_user(access_rights_for("a", {"mutex", "audit"}).needed);
  {
    const client here{server().url(), options};
    EXPECT_TRUE(here.mutex("a").acquire().release());
  }
  make_user(access_rights_for("a", {"viewer"}).needed);
  options.audit.clear();
  const auto seen = inspector{client{server().url(), options}}.audit("a");
  ASSERT_EQ(seen.records.size(), 1U);
  EXPECT_EQ(seen.records[0].how, released);
}

TEST_P(Audit, EachTenantHasItsOwn) {
  if (std::getenv("HOLDFAST_TEST_ACL") != nullptr) GTEST_SKIP() << "that user is of no tenant";
  auto options = audited();
  options.tenant = "blue";
  const client blue{server().url(), options};
  { const auto held = blue.mutex("a").acquire(); }
  EXPECT_TRUE(eventually([&] { return inspector{blue}.audit("a").records.size() == 1; }));
  EXPECT_TRUE(trail().records.empty());
  EXPECT_FALSE(has_trail());
}

// After the server's data was lost the entries go on, and the connection is another one.
TEST_P(Audit, GoesOnAfterABrokenConnection) {
  const auto here = audited_client();
  ASSERT_TRUE(here.mutex("a").acquire().release());
  ASSERT_TRUE(tells({released}));
  server().command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  ASSERT_TRUE(here.mutex("a").acquire().release());
  EXPECT_TRUE(tells({released, released}));
}

TEST_P(Audit, IsRefusedWhereItIsNotKept) {
  EXPECT_EQ(thrown_by([] { client{"memory:", audited()}; }).reason(), errc::unsupported);
  EXPECT_EQ(thrown_by([] {
              client{"redis://127.0.0.1:1", audited(std::string(513, 'x'))};
            }).reason(),
            errc::invalid_argument);
}

TEST_P(Audit, LocksOfOtherLibrariesHaveNone) {
  { const auto held = audited_client().mutex("a", {}, dialect::redisson()).acquire(); }
  EXPECT_FALSE(has_trail());
}

// Without a client of its own: the thread sanitizer cannot follow a process that was forked while
// other threads ran and starts threads itself.
class AuditOfProcesses : public support::server_test {};
HOLDFAST_ON_EACH_SERVER(AuditOfProcesses);

TEST_P(AuditOfProcesses, AKilledHolderHasExpired) {
  const auto server = start();
  support::forked holder([&](const auto& parent) {
    const client own{server.url(), audited()};
    const auto held = own.mutex("a", {.lease = 300ms}).acquire();
    parent.tell(held.token().to_string());
    parent.sleep_until_killed();
  });
  const auto token = holder.heard();
  const client redis{server.url()};
  const inspector look{redis};
  const auto how = [&] {
    const auto all = look.audit("a").records;
    return all.size() == 1 ? all[0].how : unknown;
  };
  ASSERT_TRUE(eventually([&] { return how() == held; }));
  holder.kill9();
  EXPECT_TRUE(eventually([&] { return look.status("a").state == lock_state::free; }));
  EXPECT_EQ(how(), unknown) << "it might still tell";
  for (const auto& entry : server.command({"KEYS", "hf:client:*"}).items) {
    server.command({"DEL", entry.text});  // as three minutes do
  }
  EXPECT_EQ(how(), expired);
  EXPECT_EQ(look.audit("a").records.at(0).token.to_string(), token);
  EXPECT_EQ(look.audit("a").records.at(0).who.pid, holder.pid());
}

}  // namespace
}  // namespace holdfast::conformance
