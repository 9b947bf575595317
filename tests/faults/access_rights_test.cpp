// The rights that `holdfast acl` prints: they suffice, and none of them is for nothing.
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <set>
#include <thread>

#include "faults/each_kind.hpp"
#include "faults/faulty_server.hpp"

namespace holdfast::faults {
namespace {

using rights = std::vector<std::string>;

// A server, and the one who works there with some rights only.
class workplace {
 public:
  explicit workplace(private_server&& at) : server_(std::move(at)) {}

  const private_server& server() const noexcept { return server_; }

  // Makes the user anew, with these rights alone, at a server without traces of earlier users.
  void restrict_to(const rights& given) {
    server_.command({"FLUSHALL"});
    server_.command({"SCRIPT", "FLUSH"});
    rights words{"ACL", "SETUSER", "worker", "reset", "on", std::string(">") + password};
    words.insert(words.end(), given.begin(), given.end());
    ASSERT_EQ(server_.command(words).text, "OK");
    server_.command({"ACL", "LOG", "RESET"});
  }

  void work(const std::function<void(const crew&)>& task) {
    last_failure_ = attempt(task, server_, as_worker());
  }
  std::string why() const { return last_failure_; }

  // The rights that were refused to the user: "+get", "~hf:once:*" is only "~", "&hf:c:*" only "&".
  std::set<std::string> refused() const {
    std::set<std::string> all;
    for (const auto& entry : server_.command({"ACL", "LOG", "128"}).items) {
      const auto reason = field(entry, "reason").text;
      if (reason == "command") all.insert("+" + field(entry, "object").text);
      if (reason == "key") all.insert("~");
      if (reason == "channel") all.insert("&");
    }
    return all;
  }

  int times_refused(std::string_view command) const {
    int times = 0;
    for (const auto& entry : server_.command({"ACL", "LOG", "128"}).items) {
      if (field(entry, "object").text == command) {
        times += static_cast<int>(field(entry, "count").number);
      }
    }
    return times;
  }

  static client_options as_worker() {
    auto options = impatient();
    options.username = "worker";
    options.password = password;
    return options;
  }

 private:
  static resp::value field(const resp::value& entry, std::string_view name) {
    for (std::size_t i = 0; i + 1 < entry.items.size(); i += 2) {
      if (entry.items[i].text == name) return entry.items[i + 1];
    }
    return {};
  }

  private_server server_;
  std::string last_failure_;
};

class AccessRights : public fault_test {
 protected:
  workplace open() const { return workplace{start()}; }
};
HOLDFAST_ON_EACH_SERVER(AccessRights);

TEST_P(AccessRights, OfEachKindSufficeForIt) {
  auto here = open();
  std::set<std::string> tested;
  for (const auto& [kinds, tasks] : groups()) {
    ASSERT_TRUE(tasks.size() == kinds.size()) << kinds.front();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const auto allowed = access_rights_for("a*", {kinds[i]});
      here.restrict_to(allowed.needed);
      here.work(tasks[i]);
      auto missing = here.refused();
      for (const auto& tried : allowed.optional) missing.erase(tried);
      EXPECT_THAT(missing, ::testing::IsEmpty()) << kinds[i] << ": " << here.why();
      EXPECT_EQ(here.why(), "") << kinds[i];
      tested.insert(kinds[i]);
    }
  }
  for (const auto& kind : capabilities()) {
    if (kind.dialect != "holdfast") continue;
    EXPECT_TRUE(tested.contains(std::string(kind.kind))) << kind.kind;
  }
}

// Whether something that is done with these kinds is refused to one who lacks this right.
bool is_missed(workplace& here, const group& of, const std::string& right, rights needed) {
  std::erase(needed, right);
  here.restrict_to(needed);
  const auto sought = right.front() == '+' ? right : right.substr(0, 1);
  // Again where those who should wait for others came too late, on a busy machine.
  for (int tries = 0; tries < 3; ++tries) {
    for (const auto& task : of.work) {
      here.work(task);
      if (here.refused().contains(sought)) return true;
    }
  }
  return false;
}

void expect_none_is_for_nothing(workplace here, const group& of) {
  const auto& kind = of.kinds.front();
  const auto needed = access_rights_for("a*", {kind}).needed;
  for (const auto& right : needed) {
    // Permits that are given back in the moment when the last one is there again: tests/scripts.
    const bool hardly_ever = kind == "rate limiter" && right == "+del";
    if (right == "resetchannels" || hardly_ever) continue;
    EXPECT_TRUE(is_missed(here, of, right, needed)) << kind << " does not need " << right;
  }
}

// All groups at a time, each at a server of its own, since who lacks a right waits in vain.
TEST_P(AccessRights, AreTheSmallest) {
  std::vector<std::jthread> at_work;
  for (const auto& one : groups()) {
    at_work.emplace_back(expect_none_is_for_nothing, open(), std::cref(one));
  }
}

// The script takes who is gone, or has got the lock, off the queue until it finds one who waits.
TEST_P(AccessRights, WhoMayTakeNobodyOffTheQueueIsToldSoAtOnce) {
  auto here = open();
  auto fewer = access_rights_for("a*", {"reader"}).needed;
  std::erase(fewer, "+zrem");
  here.restrict_to(fewer);
  here.work([&](const crew& us) {
    use(us, us.one.read_write_lock("a").exclusive(), us.two.read_write_lock("a").exclusive());
  });
  EXPECT_GT(here.times_refused("zrem"), 0);
  EXPECT_LT(here.times_refused("zrem"), 100);
}

TEST_P(AccessRights, OfAnOperatorSufficeToLookAndToBreak) {
  auto here = open();
  here.restrict_to(access_rights_for("a*", {"operator"}).needed);
  const client redis{here.server().url(), workplace::as_worker()};
  const auto held = redis.mutex("a").acquire();
  const inspector look{redis};
  EXPECT_EQ(look.status("a").state, lock_state::held);
  EXPECT_EQ(look.list("a*").locks.size(), 1U);
  EXPECT_EQ(look.break_lock("a", "a test").state, lock_state::held);
  here.server().command({"SET", "hf:q:{a}", "1:77:somebody", "PX", "60000"});
  const quorum_inspector at_the_member{{redis}};
  EXPECT_EQ(at_the_member.status("a").state, quorum_state::held);
  const auto broken = at_the_member.break_lock("a", "a test");
  EXPECT_EQ(broken.state, quorum_state::held);
  EXPECT_EQ(broken.members.front().lock.detail, "");
  for (const auto& found : look.diagnose()) {
    EXPECT_NE(found.level, finding::severity::problem) << found.check << ": " << found.detail;
  }
}

TEST_P(AccessRights, OfAViewerSufficeToLookAndToChangeNothing) {
  auto here = open();
  const auto viewer = access_rights_for("a*", {"viewer"}).needed;
  here.restrict_to(viewer);
  const client owner{here.server().url()};
  const auto held = owner.mutex("a").acquire();
  const auto several = owner.semaphore("a2", {.permits = 3}).acquire();
  here.server().command({"SET", "hf:q:{a}", "1:77:somebody", "PX", "60000"});
  ASSERT_TRUE(eventually([&] { return inspector{owner}.status("a").owner.pid != 0; }));
  const client redis{here.server().url(), workplace::as_worker()};
  const inspector look{redis};
  EXPECT_EQ(look.status("a").owner.pid, ::getpid());
  EXPECT_EQ(look.list("a*").locks.size(), 2U);
  const auto indexed = [&] { return look.list("a*", {.most_scanned = 1}).locks.size(); };
  EXPECT_TRUE(eventually([&] { return indexed() == 2U; })) << indexed();
  EXPECT_EQ(look.list_clients().clients.size(), 1U);
  EXPECT_EQ(redis.election("a").leader()->who.pid, ::getpid());
  EXPECT_EQ(quorum_inspector{{redis}}.status("a").state, quorum_state::held);
  EXPECT_EQ(here.why(), "");
  expect_failure(redis.mutex("a3").try_acquire(), errc::permission_denied, "ACL SETUSER");
  try {
    look.break_lock("a", "a test");
    ADD_FAILURE() << "broken";
  } catch (const failure& why) {
    EXPECT_EQ(why.reason(), errc::permission_denied);
  }
  for (const auto& command : here.server().command({"ACL", "CAT", "write"}).items) {
    EXPECT_THAT(viewer, ::testing::Not(::testing::Contains("+" + command.text)));
  }
  EXPECT_TRUE(held.held());
}

// Two threads, each with a lock that the other one wants: one is told, and goes.
void expect_deadlock_is_found(const client& redis) {
  const auto first = redis.mutex("a1"), second = redis.mutex("a2");
  std::barrier both{2};
  std::atomic<int> told = 0;
  const auto want = [&](const lock& mine, const lock& other) {
    const auto held = mine.acquire();
    both.arrive_and_wait();
    const auto wanted = other.try_acquire({.timeout = support::generous});
    if (wanted) return;
    ++told;
    EXPECT_EQ(wanted.error().reason(), errc::would_deadlock) << wanted.error().what();
  };
  {
    const std::jthread one([&] { want(first, second); });
    const std::jthread two([&] { want(second, first); });
  }
  EXPECT_EQ(told, 1);
}

TEST_P(AccessRights, OfWhoLooksForDeadlocksSufficeToFindThem) {
  auto here = open();
  here.restrict_to(access_rights_for("a*", {"mutex", "deadlocks"}).needed);
  auto options = workplace::as_worker();
  options.detect_deadlocks = true;
  expect_deadlock_is_found(client{here.server().url(), options});
}

TEST_P(AccessRights, OfOneNameAreNoRightsToAnother) {
  auto here = open();
  here.restrict_to(access_rights_for("a{?").needed);
  here.work([&](const crew& us) {
    EXPECT_TRUE(us.one.mutex("a{1").try_acquire());
    expect_failure(us.one.mutex("a{12").try_acquire(), errc::permission_denied, "ACL SETUSER");
    expect_failure(us.one.mutex("b").try_acquire(), errc::permission_denied, "ACL SETUSER");
  });
  EXPECT_EQ(here.why(), "");
}

TEST(AccessRightsFor, WhatTheServerWouldNotTakeMatchesAnyByte) {
  const auto allowed = access_rights_for("my \"own\" {lock}", {"mutex"}).needed;
  EXPECT_THAT(allowed, ::testing::Contains("~hf:{my??own??%7Block%7D}*"));
}

TEST(AccessRightsFor, NoKindIsEveryKindThatOthersCanWaitFor) {
  const auto all = access_rights_for("a*").needed;
  const auto beside = access_rights_for("a*", {"replicas"}).needed;
  for (const auto& kind : capabilities()) {
    if (kind.dialect != "holdfast" || !kind.told) continue;
    for (const auto& right : access_rights_for("a*", {std::string(kind.kind)}).needed) {
      EXPECT_THAT(all, ::testing::Contains(right)) << kind.kind;
      EXPECT_THAT(beside, ::testing::Contains(right)) << kind.kind;
    }
  }
}

TEST(AccessRightsFor, UnknownKindsAndEmptyPatternsAreRefused) {
  for (const auto& [pattern, kind] :
       {std::pair{"a", "mutexes"}, {"", "mutex"}, {"a", "Redisson's RLock"}}) {
    try {
      (void)access_rights_for(pattern, {kind});
      ADD_FAILURE() << kind;
    } catch (const failure& refused) {
      EXPECT_EQ(refused.reason(), errc::invalid_argument);
    }
  }
}

}  // namespace
}  // namespace holdfast::faults
