// What operators see and do from outside, what a lock costs the server, and what it leaves there.
#include <unistd.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "redis/dialects/catalog.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

class Inspector : public mutex_test {
 protected:
  inspector look() const { return inspector{redis()}; }
  std::int64_t server_seconds() const {
    return std::stoll(server().command({"TIME"}).items.at(0).text);
  }
  // The keys that should not be there once nobody holds or wants a lock.
  std::set<std::string> keys_left() const {
    constexpr std::string_view kept_on[] = {"hf:fence:", "hf:q:fence:", "hf:client:", "hf:held"};
    std::set<std::string> left;
    for (const auto& key : server().command({"KEYS", "*"}).items) {
      const auto& name = key.text;
      const auto begins_it = [&](std::string_view kept) { return name.starts_with(kept); };
      if (std::ranges::none_of(kept_on, begins_it)) left.insert(name);
    }
    return left;
  }
};
HOLDFAST_ON_EACH_SERVER(Inspector);

template <typename Time>
std::int64_t seconds_of(Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

TEST_P(Inspector, FreeLockIsFree) {
  const auto found = look().status("a");
  EXPECT_EQ(found.name, "a");
  EXPECT_EQ(found.state, lock_state::free);
  EXPECT_FALSE(found.token);
  EXPECT_FALSE(found.remaining);
  EXPECT_FALSE(found.since);
  EXPECT_EQ(found.waiting, 0U);
  EXPECT_TRUE(found.queue.empty());
  ASSERT_TRUE(found.now);
  EXPECT_LE(std::abs(seconds_of(*found.now) - server_seconds()), 1);
  EXPECT_EQ(keys_left(), std::set<std::string>{}) << "looking writes nothing";
}

TEST_P(Inspector, HeldLockTellsItsHolder) {
  client_options options;
  options.name = "billing";
  const client billing{server().url(), options};
  const auto before = server_seconds();
  const auto held = billing.mutex("a", {.lease = 60s}).acquire();
  const auto found = look().status("a");
  EXPECT_EQ(found.state, lock_state::held);
  EXPECT_EQ(found.token, held.token());
  EXPECT_EQ(found.owner.pid, ::getpid());
  EXPECT_EQ(found.owner.program, "billing");
  EXPECT_FALSE(found.owner.host.empty());
  EXPECT_FALSE(found.owner.version.empty());
  EXPECT_FALSE(found.owner.id.empty());
  EXPECT_LT(found.owner.id.size(), 32U) << "a whole id would be a key to the lock";
  ASSERT_TRUE(found.remaining);
  EXPECT_GT(*found.remaining, 30s);
  EXPECT_LE(*found.remaining, 60s);
  ASSERT_TRUE(found.since);
  EXPECT_GE(seconds_of(*found.since), before);
  EXPECT_LE(seconds_of(*found.since), server_seconds());
  EXPECT_EQ(look().status("a").since, found.since);
  ASSERT_TRUE(found.now);
  EXPECT_GE(*found.now, *found.since);
}

// Nothing is written meanwhile.
TEST_P(Inspector, TheHolderOfALongLeaseIsKnownToItsEnd) {
  const auto known_for = [this] {
    const auto entry = server().command({"KEYS", "hf:client:*"}).items.at(0).text;
    return milliseconds{server().command({"PTTL", entry}).number};
  };
  auto held = redis().mutex("a", {.lease = 30s, .renewal = renewal::none}).acquire();
  EXPECT_LE(known_for(), 3min);
  const auto longer = redis().mutex("b", {.lease = 1h, .renewal = renewal::none}).acquire();
  EXPECT_TRUE(eventually([&] { return known_for() > 1h; }));
  held.extend(2h).value();
  EXPECT_TRUE(eventually([&] { return known_for() > 2h; }));
}

// Also where a background thread still listens, as it does to another library's channel when nobody
// waits there any more.
TEST_P(Inspector, AClientThatHasClosedIsKnownNoLonger) {
  const auto wait_a_little = [](client of) -> task<void> {
    const auto got =
        co_await of.mutex("a", {}, dialect::redisson()).async_try_acquire({.timeout = 5ms});
    EXPECT_FALSE(got);
  };
  const auto held = redis().mutex("a", {}, dialect::redisson()).acquire();
  const auto known = [&] { return server().command({"KEYS", "hf:client:*"}).items.size(); };
  ASSERT_TRUE(eventually([&] { return known() == 1; }));
  for (int i = 0; i < 50; ++i) {
    const client brief{server().url()};
    sync_wait(wait_a_little(brief));
  }
  EXPECT_TRUE(eventually([&] { return known() == 1; })) << known();
}

TEST_P(Inspector, LockWithoutTokenIsHeldToo) {
  const auto held = redis().mutex("a", {.fencing = fencing::off}).acquire();
  const auto found = look().status("a");
  EXPECT_EQ(found.state, lock_state::held);
  EXPECT_FALSE(found.token);
  EXPECT_FALSE(found.since);
  EXPECT_EQ(found.owner.pid, ::getpid());
}

TEST_P(Inspector, ForeignKeyIsToldAndCannotBeBroken) {
  server().command({"SET", "hf:{text}", "something else"});
  server().command({"RPUSH", "hf:{list}", "something else"});
  for (const auto& name : {"text"s, "list"s}) {
    const auto found = look().status(name);
    EXPECT_EQ(found.state, lock_state::foreign) << name;
    EXPECT_FALSE(found.detail.empty());
    const auto why = thrown_by([&] { look().break_lock(name, "a test"); });
    EXPECT_EQ(why.reason(), errc::foreign_key) << why.what();
  }
  for (const auto* const key : {"hf:{text}", "hf:{list}"}) {
    EXPECT_EQ(server().command({"EXISTS", key}).number, 1) << key;
  }
  EXPECT_EQ(server().command({"EXISTS", "hf:audit"}).number, 0);
  EXPECT_TRUE(look().list().locks.empty());
}

TEST_P(Inspector, BadNamesAreRefused) {
  for (const auto& name : {""s, std::string(513, 'x')}) {
    EXPECT_EQ(thrown_by([&] { (void)look().status(name); }).reason(), errc::invalid_name);
    EXPECT_EQ(thrown_by([&] { look().break_lock(name, "a test"); }).reason(), errc::invalid_name);
  }
}

// What a grant is for, as its holder says it.
TEST_P(Inspector, NotesAreShownWhileTheLockIsHeld) {
  const auto note = [&](const char* name) {
    const auto found = look().status(name);
    return found.holders.empty() ? "" : found.holders.front().note;
  };
  auto held = redis().mutex("a").acquire();
  EXPECT_EQ(note("a"), "");
  held.set_note("job 17");
  EXPECT_TRUE(eventually([&] { return note("a") == "job 17"; })) << note("a");
  EXPECT_EQ(look().list().locks.at(0).holders.at(0).note, "") << "lists have none";
  const std::string longest(256, 'x');
  held.set_note(longest);
  EXPECT_TRUE(eventually([&] { return note("a") == longest; }));
  held.set_note("");
  EXPECT_TRUE(eventually([&] { return note("a").empty(); }));
  EXPECT_THROW(held.set_note(longest + "x"), failure);

  held.set_note("the last one");
  auto moved = std::move(held);
  EXPECT_TRUE(eventually([&] { return note("a") == "the last one"; }));
  ASSERT_TRUE(moved.release());
  moved.set_note("too late");
  const auto next = redis().mutex("a").acquire();
  EXPECT_EQ(note("a"), "");
}

// The grant stays at the server when one thread of a client passes the lock on to another.
TEST_P(Inspector, ANoteIsNotPassedOnWithTheLock) {
  auto first = redis().mutex("a").acquire();
  first.set_note("of the first");
  std::thread second([&] {
    const auto passed = redis().mutex("a").acquire({.timeout = generous});
    EXPECT_TRUE(eventually([&] { return look().status("a").holders.at(0).note.empty(); }));
  });
  EXPECT_TRUE(eventually([&] { return look().status("a").holders.at(0).note == "of the first"; }));
  ASSERT_TRUE(first.release());
  second.join();
}

// Of several holders, and of one client's with others under the same name.
TEST_P(Inspector, EachHolderHasItsNote) {
  const client other = another_client();
  auto one = redis().semaphore("s", {.permits = 3}).acquire();
  auto two = redis().semaphore("s", {.permits = 3}).acquire();
  auto three = other.semaphore("s", {.permits = 3}).acquire();
  one.set_note("1");
  two.set_note("2");
  three.set_note("3");
  const auto notes = [&] {
    std::vector<std::string> all;
    for (const auto& holder : look().status("s").holders) all.push_back(holder.note);
    return all;
  };
  EXPECT_TRUE(eventually([&] { return notes() == std::vector<std::string>{"1", "2", "3"}; }));
}

TEST_P(Inspector, EveryKindThatIsHeldCanHaveANote) {
  const auto shown = [&](const char* name, lease held) {
    held.set_note("why");
    EXPECT_TRUE(eventually([&] { return look().status(name).holders.at(0).note == "why"; }))
        << name;
  };
  shown("fair", redis().mutex("fair", {.fair = true}).acquire());
  shown("bare", redis().mutex("bare", {.fencing = fencing::off}).acquire());
  shown("deep", redis().recursive_mutex("deep").acquire());
  shown("lead", redis().election("lead").acquire());
  shown("read", redis().read_write_lock("read").shared().acquire());
  shown("seen", redis().read_write_lock("seen").upgradeable().acquire());
  shown("written", redis().read_write_lock("written").exclusive().acquire());
  shown("mode", redis().mode_lock("mode").in(lock_mode::concurrent_write).acquire());
  shown("seats", redis().semaphore("seats", {.permits = 2}).acquire());
}

TEST_P(Inspector, OnlyOneLockOfOursCanHaveANote) {
  const auto refuses = [](lease held) {
    try {
      held.set_note("x");
    } catch (const failure& why) {
      return why.reason() == errc::unsupported;
    }
    return false;
  };
  EXPECT_TRUE(refuses(redis().mutex("a", {}, dialect::redisson()).acquire()));
  EXPECT_TRUE(refuses(all_of({redis().mutex("{x}b"), redis().mutex("{x}c")}).acquire()));
  EXPECT_TRUE(refuses(client{"memory:"}.mutex("a").acquire()));
}

TEST_P(Inspector, BreakingTellsWhoHadItAndIsRecorded) {
  const auto held = redis().mutex("a").acquire();
  const auto broken = inspector{another_client()}.break_lock("a", "it hangs\r\n\xff");
  EXPECT_EQ(broken.name, "a");
  EXPECT_EQ(broken.state, lock_state::held);
  EXPECT_EQ(broken.token, held.token());
  EXPECT_EQ(broken.owner.pid, ::getpid());
  EXPECT_EQ(look().status("a").state, lock_state::free);
  const auto next = another_client().mutex("a").acquire();
  EXPECT_GT(next.token(), held.token());

  const auto entries = server().command({"XRANGE", "hf:audit", "-", "+"}).items;
  ASSERT_EQ(entries.size(), 1U);
  std::map<std::string, std::string> entry;
  const auto& fields = entries[0].items.at(1).items;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) entry[fields[i].text] = fields[i + 1].text;
  EXPECT_EQ(entry["reason"], "it hangs\r\n\xff");
  EXPECT_THAT(entry["by"], HasSubstr(std::to_string(::getpid())));
}

TEST_P(Inspector, BreakingALockWithoutATokenIsRecordedToo) {
  const auto held = redis().mutex("a", {.fencing = fencing::off}).acquire();
  const auto broken = look().break_lock("a", "a test");
  EXPECT_EQ(broken.state, lock_state::held);
  EXPECT_FALSE(broken.token);
  EXPECT_EQ(broken.detail, "");
  EXPECT_EQ(look().status("a").state, lock_state::free);
  const auto entries = server().command({"XRANGE", "hf:audit", "-", "+"}).items;
  ASSERT_EQ(entries.size(), 1U);
  const auto& fields = entries[0].items.at(1).items;
  const auto token = std::ranges::find_if(fields, [](auto& one) { return one.text == "token"; });
  ASSERT_LT(token + 1, fields.end());
  EXPECT_EQ(token[1].text, "0");
}

TEST_P(Inspector, BreakingWhatIsFreeChangesNothing) {
  EXPECT_EQ(look().break_lock("a", "a test").state, lock_state::free);
  EXPECT_EQ(keys_left(), std::set<std::string>{});
}

TEST_P(Inspector, BrokenLockGoesToTheNextInTheQueue) {
  const auto held = redis().mutex("a", {.lease = 1h}).acquire();
  std::optional<lease> got;
  std::thread waiter{[&] { got.emplace(another_client().mutex("a").acquire({.timeout = 10s})); }};
  EXPECT_TRUE(waits("a", 1));
  look().break_lock("a", "a test");
  waiter.join();
  ASSERT_TRUE(got);
  EXPECT_GT(got->token(), held.token());
}

TEST_P(Inspector, ReadersAreAllShownAndBrokenTogether) {
  const auto lock = redis().read_write_lock("a");
  const auto one = lock.shared().acquire();
  const auto two = another_client().read_write_lock("a").shared().acquire();
  const auto found = look().status("a");
  EXPECT_EQ(found.state, lock_state::held);
  EXPECT_EQ(found.kind, lock_kind::mode_lock);
  EXPECT_EQ(found.holding, 2U);
  ASSERT_EQ(found.holders.size(), 2U);
  EXPECT_EQ(found.token, one.token());
  EXPECT_EQ(found.holders[1].token, two.token());
  for (const auto& each : found.holders) {
    EXPECT_EQ(each.has.mode, "PR");
    EXPECT_EQ(each.who.pid, ::getpid());
    EXPECT_TRUE(each.since);
    EXPECT_GT(each.remaining.value_or(0ms), 1s);
  }
  ASSERT_EQ(look().list().locks.size(), 1U);
  EXPECT_EQ(look().list().locks[0].name, "a");
  EXPECT_EQ(look().break_lock("a", "a test").holders.size(), 2U);
  EXPECT_EQ(server().command({"XLEN", "hf:audit"}).number, 2);
  EXPECT_EQ(look().status("a").state, lock_state::free);
  EXPECT_GT(lock.exclusive().acquire().token(), two.token());
}

TEST_P(Inspector, SemaphoreTellsItsPermitsAndWhatIsWanted) {
  const auto seats = redis().semaphore("a", {.permits = 3});
  seats.set_permits(4);
  const auto held = seats.permits(3).acquire();
  std::thread waiter{
      [&] { (void)another_client().semaphore("a").permits(2).acquire({.timeout = generous}); }};
  EXPECT_TRUE(waits("a", 1));
  const auto found = look().status("a");
  EXPECT_EQ(found.kind, lock_kind::semaphore);
  EXPECT_EQ(found.permits_in_use, 3U);
  EXPECT_EQ(found.permits, 4U);
  EXPECT_EQ(found.holders.at(0).has.permits, 3U);
  EXPECT_EQ(found.queue.at(0).wants.permits, 2U);
  EXPECT_EQ(look().break_lock("a", "a test").permits_in_use, 3U);
  waiter.join();
}

TEST_P(Inspector, HealthyServerHasNoProblems) {
  const auto findings = look().diagnose();
  std::set<std::string> checks;
  for (const auto& one : findings) {
    EXPECT_NE(one.level, finding::severity::problem) << one.check << ": " << one.detail;
    EXPECT_EQ(one.remedy.empty(), one.level == finding::severity::ok) << one.check;
    EXPECT_FALSE(one.detail.empty()) << one.check;
    checks.insert(one.check);
  }
  EXPECT_THAT(checks, ::testing::IsSupersetOf({"connect", "version", "clock", "scripts", "publish",
                                               "eviction", "role", "persistence"}));
  // The doctor removes its keys, but for answers that are kept for a while.
  for (const auto& key : keys_left()) {
    EXPECT_NE(server().command({"PTTL", key}).number, -1) << key;
    EXPECT_EQ(key.find("hf:{holdfast doctor"), key.ends_with("latch}:o") ? 0 : key.npos) << key;
  }
}

TEST_P(Inspector, DiagnosisRunsEveryScript) {
  server().command({"SCRIPT", "FLUSH"});
  (void)look().diagnose();
  const auto expect_known = [&](std::span<const resp::script* const> scripts) {
    for (const auto* script : scripts) {
      // Sent in the middle of a slot's move alone; its commands are those of the others.
      if (std::string_view{script->name}.ends_with("lone_release")) continue;
      const auto known = server().command(
          {"SCRIPT", "EXISTS", std::string(script->form(support::over_cluster()).sha1)});
      EXPECT_EQ(known.items.at(0).number, 1) << script->name;
    }
  };
  expect_known(dialects::viewer_scripts());
  expect_known(dialects::operator_scripts());
  for (const auto& row : dialects::catalog()) {
    // There the one is refused, and the parts of the other have no slot in common.
    const bool is_tried = !support::over_cluster() || (row.what.kind != "mutex of a quorum" &&
                                                       row.what.kind != "several mutexes");
    if (row.what.dialect == "holdfast" && is_tried) expect_known(row.scripts);
  }
}

TEST_P(Inspector, UnfitServerIsDiagnosed) {
  const auto level_of = [&](const std::string& check) {
    for (const auto& one : look().diagnose()) {
      if (one.check != check) continue;
      EXPECT_FALSE(one.remedy.empty()) << check;
      return one.level;
    }
    return finding::severity::ok;
  };
  server().command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  server().command({"CONFIG", "SET", "maxmemory", "1gb"});
  EXPECT_EQ(level_of("eviction"), finding::severity::problem);
  server().command({"CONFIG", "SET", "maxmemory", "0"});
  if (support::over_cluster()) return;  // a replica has no slots there, and is not asked
  server().command({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_EQ(level_of("role"), finding::severity::problem);
}

TEST_P(Inspector, AbsentServerIsAFindingAndOtherwiseAFailure) {
  const inspector nobody{client{"redis://127.0.0.1:1"}};
  const auto findings = nobody.diagnose();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().check, "connect");
  EXPECT_EQ(findings.front().level, finding::severity::problem);
  EXPECT_EQ(thrown_by([&] { (void)nobody.status("a"); }).reason(), errc::unavailable);
  EXPECT_EQ(thrown_by([&] { (void)nobody.list(); }).reason(), errc::unavailable);
  EXPECT_EQ(thrown_by([&] { nobody.break_lock("a", "x"); }).reason(), errc::unavailable);
}

TEST_P(Inspector, AnUncontendedAcquisitionCostsTwoCommands) {
  constexpr int pairs = 200;
  const auto lock = redis().mutex("a");
  EXPECT_TRUE(lock.acquire().release());  // connects, loads the scripts, registers the client
  const auto before = called("evalsha");
  for (int i = 0; i < pairs; ++i) EXPECT_TRUE(lock.acquire().release());
  EXPECT_EQ(called("evalsha") - before, 2 * pairs);
  for (int i = 0; i < pairs; ++i) EXPECT_TRUE(lock.try_acquire()->release());
  EXPECT_EQ(called("evalsha") - before, 4 * pairs);
}

TEST_P(Inspector, WithoutTokenAnAcquisitionIsOnePlainSet) {
  constexpr int pairs = 200;
  const auto lock = redis().mutex("a", {.fencing = fencing::off});
  EXPECT_TRUE(lock.acquire().release());
  const auto scripts = called("evalsha");
  const auto sets = called("set");
  for (int i = 0; i < pairs; ++i) EXPECT_TRUE(lock.acquire().release());
  EXPECT_EQ(called("evalsha") - scripts, pairs) << "the releases";
  EXPECT_EQ(called("set") - sets, pairs);
}

TEST_P(Inspector, NothingIsLeftOnceAllIsReleased) {
  {
    const auto other = another_client();
    const std::vector<mutex_options> kinds{
        {}, {.fair = true}, {.retain = 20ms}, {.fencing = fencing::off}, {.lease = 300ms}};
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 2 * kinds.size(); ++i) {
      threads.emplace_back([&, i] {
        const auto& of = i % 2 == 0 ? redis() : other;
        const auto lock = of.mutex("a", kinds[i / 2]);
        for (int round = 0; round < 20; ++round) {
          (void)lock.try_acquire({.timeout = 1ms});
          (void)lock.acquire({.timeout = generous});
          const auto own = of.mutex("own " + std::to_string(i)).acquire();
        }
      });
    }
  }
  std::set<std::string> left;
  EXPECT_TRUE(eventually([&] { return (left = keys_left()).empty(); }))
      << ::testing::PrintToString(left);
}

// Without a client of its own: the thread sanitizer cannot follow a process that was forked while
// other threads ran and starts threads itself.
class InspectorOfProcesses : public support::server_test {};
HOLDFAST_ON_EACH_SERVER(InspectorOfProcesses);

TEST_P(InspectorOfProcesses, QueueIsInTheOrderOfTheTurns) {
  const auto server = start();
  std::list<support::forked> waiters;
  for (int i = 1; i <= 3; ++i) {
    waiters.emplace_back([&, i](const auto& parent) {
      const auto told = [&] { return server.command({"GET", "asking"}).text; };
      if (!eventually([&] { return told() == std::to_string(i); })) return;
      const client own{server.url()};
      parent.tell(own.mutex("a").acquire({.timeout = forever}).token().to_string());
    });
  }
  const client redis{server.url()};
  const inspector look{redis};
  auto held = redis.mutex("a").acquire();
  const auto before = seconds_of(look.status("a").since.value());
  std::vector<std::int64_t> pids;
  for (const auto& waiter : waiters) {
    pids.push_back(waiter.pid());
    server.command({"SET", "asking", std::to_string(pids.size())});
    ASSERT_TRUE(eventually([&] { return look.status("a").waiting == pids.size(); }));
  }
  const auto found = look.status("a");
  ASSERT_EQ(found.queue.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& one = found.queue[i];
    EXPECT_EQ(one.who.pid, pids[i]);
    EXPECT_FALSE(one.who.host.empty());
    EXPECT_FALSE(one.who.id.empty());
    EXPECT_NE(one.who.id, found.owner.id);
    EXPECT_GE(seconds_of(one.since), before - 1);
    EXPECT_LE(seconds_of(one.since), before + 60);
  }
  EXPECT_EQ(found.owner.pid, ::getpid());

  EXPECT_TRUE(held.release());
  auto last = held.token().value();
  for (auto& waiter : waiters) {
    const auto token = std::stoull(waiter.heard());
    EXPECT_GT(token, last) << "served in the order of the queue";
    last = token;
    EXPECT_EQ(waiter.wait(), 0);
  }
  EXPECT_EQ(look.status("a").waiting, 0U);
}

}  // namespace
}  // namespace holdfast::conformance
