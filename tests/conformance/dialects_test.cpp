// Locks in the layouts of other libraries, against what those write.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

struct layout {
  const char* name;
  dialect how;
  std::string key;  // of the lock "orders"
  // As the library's own client would, for 30 s, and give it back.
  std::vector<std::string> take;
  std::vector<std::vector<std::string>> give_back;
  std::string channel{};  // where it tells those who wait
  message_commands told{};
  std::chrono::milliseconds lease{30'000};  // of ours, at least
};

// A lock that is one text at one key.
layout plain(const char* name, dialect how, const std::string& key = "orders") {
  return {name, std::move(how), key, {"SET", key, "theirs", "NX", "PX", "30000"}, {{"DEL", key}}};
}

layout redsync() {
  auto all = plain("redsync", dialect::redlock());
  all.lease = 8s;
  return all;
}

layout told_registry() {
  auto all = plain("spring_integration, pub_sub",
                   dialect::spring_integration({"app", registry_mode::pub_sub}), "app:orders");
  all.channel = "app-channel:app:orders";
  all.give_back.push_back({"PUBLISH", all.channel, all.key});
  return all;
}

layout redisson(const char* name, dialect how) {
  const std::string channel = "redisson_lock__channel:{orders}";
  return {name,
          std::move(how),
          "orders",
          {"EVAL",
           "redis.call('HINCRBY', KEYS[1], 'theirs:1', 1) "
           "return redis.call('PEXPIRE', KEYS[1], 30000)",
           "1", "orders"},
          {{"DEL", "orders"}, {of_redisson().publish, channel, "0"}},
          channel,
          of_redisson()};
}

layout spin() {
  auto all = redisson("redisson_spin", dialect::redisson(redisson_lock::spin));
  all.channel.clear();
  all.give_back.pop_back();
  return all;
}

std::vector<layout> layouts() {
  std::vector<layout> all{
      plain("redis_py", dialect::redis_py()),
      plain("go_zero", dialect::go_zero()),
      plain("spring_integration", dialect::spring_integration({"app"}), "app:orders"),
      plain("shedlock", dialect::shedlock(), "job-lock:default:orders"),
      redsync(),
      plain("node_redlock", dialect::redlock({redlock_library::node_redlock})),
      told_registry(),
      redisson("redisson", dialect::redisson()),
      redisson("redisson_fenced", dialect::redisson(redisson_lock::fenced)),
      spin(),
  };
  if (support::over_cluster()) return all;
  all.push_back(plain("python_redis_lock", dialect::python_redis_lock(), "lock:orders"));
  return all;
}

class Dialects : public mutex_test {
 protected:
  void SetUp() override {
    mutex_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    all_ = layouts();
  }
  void for_each(const std::function<void(const layout&)>& check) {
    for (const auto& one : all_) {
      SCOPED_TRACE(one.name);
      check(one);
      server().command({"FLUSHALL"});
    }
  }
  void for_each_told(const std::function<void(const layout&)>& check) {
    for_each([&](const layout& how) {
      if (!how.channel.empty()) check(how);
    });
  }
  void give_back(const layout& how) {
    for (const auto& words : how.give_back) server().command(words);
  }
  bool exists(const layout& how) { return server().command({"EXISTS", how.key}).number == 1; }
  std::int64_t pttl(const layout& how) { return server().command({"PTTL", how.key}).number; }
  std::int64_t listeners(const layout& how) {
    return server().command({"PUBSUB", how.told.count, how.channel}).items.at(1).number;
  }

 private:
  std::vector<layout> all_;
};
HOLDFAST_ON_EACH_SERVER(Dialects);

TEST_P(Dialects, HoldOneKeyWithoutAToken) {
  for_each([&](const layout& how) {
    if (how.how == dialect::redisson(redisson_lock::fenced)) return;
    auto held = redis().mutex("orders", {}, how.how).acquire();
    EXPECT_TRUE(held.held());
    EXPECT_FALSE(held.token());
    const auto keys = server().command({"KEYS", "[^h]*"});  // but for our client registry
    ASSERT_EQ(keys.items.size(), 1U);
    EXPECT_EQ(keys.items[0].text, how.key);
    const auto ttl = pttl(how);
    EXPECT_GT(ttl, (how.lease - 5s).count());
    EXPECT_LE(ttl, 60'000);
    held.release().value();
    EXPECT_FALSE(exists(how));
  });
}

TEST_P(Dialects, AreKeptOutWhileTheLibraryHasTheLock) {
  for_each([&](const layout& how) {
    server().command(how.take);
    const auto mutex = redis().mutex("orders", {}, how.how);
    expect_reason(mutex.try_acquire(), errc::busy);
    expect_reason(mutex.try_acquire({.timeout = 20ms}), errc::timed_out);
    give_back(how);
    EXPECT_TRUE(mutex.try_acquire());
  });
}

TEST_P(Dialects, GetTheLockWhenTheLibraryGivesItBack) {
  for_each([&](const layout& how) {
    server().command(how.take);
    const auto mutex = redis().mutex("orders", {}, how.how);
    std::atomic<bool> got{false};
    std::thread waiting([&] {
      const auto held = mutex.try_acquire({.timeout = generous});
      got = static_cast<bool>(held);
    });
    const auto asked = [&] { return called("evalsha") + called("eval"); };
    const auto before = asked();
    EXPECT_TRUE(eventually([&] { return asked() > before; }));
    give_back(how);
    waiting.join();
    EXPECT_TRUE(got);
  });
}

TEST_P(Dialects, ExcludeEachOtherBetweenClients) {
  for_each([&](const layout& how) {
    const auto other = another_client();
    auto held = redis().mutex("orders", {}, how.how).acquire();
    const auto theirs = other.mutex("orders", {}, how.how);
    expect_reason(theirs.try_acquire(), errc::busy);
    held.release().value();
    EXPECT_TRUE(theirs.try_acquire());
  });
}

task<> visit(lock target) { (void)co_await target.async_acquire(); }

TEST_P(Dialects, ArePassedOnAmongThoseOfOneClient) {
  for_each([&](const layout& how) {
    if (how.how == dialect::redisson(redisson_lock::fenced)) return;
    constexpr int visitors = 10;
    const auto mutex = redis().mutex("orders", {}, how.how);
    const auto asked = [&] { return called("evalsha") + called("eval"); };
    const auto several_had_one_grant = [&] {
      const auto before = asked();
      std::vector<task<>> all;
      for (int i = 0; i < visitors; ++i) all.push_back(visit(mutex));
      sync_wait(when_all(std::move(all)));
      return asked() - before < visitors;  // each grant costs a release at least
    };
    // Once is enough: where nobody gets on, their turn of a few milliseconds ends between them.
    EXPECT_TRUE(eventually(several_had_one_grant));
  });
}

TEST_P(Dialects, LoseNoIncrement) {
  for_each([&](const layout& how) {
    constexpr int threads = 4;
    constexpr int rounds = 50;
    const client clients[] = {another_client(), another_client()};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&, i] {
        const auto mutex = clients[i % 2].mutex("orders", {}, how.how);
        for (int round = 0; round < rounds; ++round) {
          const auto held = mutex.acquire();
          const auto now = server().command({"GET", "hf:number"}).text;
          const auto next = (now.empty() ? 0 : std::stoi(now)) + 1;
          server().command({"SET", "hf:number", std::to_string(next)});
        }
      });
    }
    for (auto& one : all) one.join();
    EXPECT_EQ(server().command({"GET", "hf:number"}).text, std::to_string(threads * rounds));
  });
}

TEST_P(Dialects, AreRenewedAndLostWithTheKey) {
  for_each([&](const layout& how) {
    const auto held = redis().mutex("orders", {.lease = 200ms}, how.how).acquire();
    auto extended = pttl(how);
    EXPECT_TRUE(eventually([&] {
      const auto now = pttl(how);
      return std::exchange(extended, now) < now;  // it has grown
    }));
    EXPECT_TRUE(held.held());
    server().command({"DEL", how.key});
    server().command({"SET", how.key, "somebody else"});
    EXPECT_TRUE(triggered(held.lost()));
    EXPECT_FALSE(held.held());
  });
}

TEST_P(Dialects, LeaveTheLockToWhoeverTookItMeanwhile) {
  for_each([&](const layout& how) {
    auto held = redis().mutex("orders", {}, how.how).acquire();
    server().command({"DEL", how.key});
    server().command(how.take);
    expect_reason(held.release(), errc::lost);
    EXPECT_TRUE(exists(how));
  });
}

TEST_P(Dialects, OfARecursiveMutexCountHoldsHere) {
  for_each([&](const layout& how) {
    const auto mutex = redis().recursive_mutex("orders", {}, how.how);
    auto outer = mutex.acquire();
    auto inner = mutex.acquire();
    EXPECT_EQ(mutex.hold_count(), 2U);
    if (how.how == dialect::redisson()) {
      EXPECT_EQ(server().command({"HVALS", "orders"}).items.at(0).text, "1");
    }
    inner.release().value();
    EXPECT_TRUE(exists(how));
    outer.release().value();
    EXPECT_FALSE(exists(how));
  });
}

TEST_P(Dialects, RefuseWhatTheirLayoutsCannotHave) {
  for_each([&](const layout& how) {
    const auto reason = [&](const mutex_options& options) {
      return thrown_by([&] { (void)redis().mutex("orders", options, how.how); }).reason();
    };
    EXPECT_EQ(reason({.retain = 1s}), errc::unsupported);
    EXPECT_EQ(reason({.lock_delay = 1s}), errc::unsupported);
    EXPECT_EQ(reason({.queue_limit = 3}), errc::unsupported);
    if (redis().mutex("orders", {}, how.how).acquire().token()) {
      EXPECT_EQ(reason({.fencing = fencing::off}), errc::unsupported);
    }
    if (how.how != dialect::redisson()) {
      EXPECT_EQ(reason({.fair = true}), errc::unsupported);
      const auto of_rw = thrown_by([&] { (void)redis().read_write_lock("orders", {}, how.how); });
      EXPECT_EQ(of_rw.reason(), errc::unsupported);
    }
  });
}

TEST_P(Dialects, TellThoseWhoWait) {
  for_each_told([&](const layout& how) {
    server().command(how.take);
    const auto mutex = redis().mutex("orders", {}, how.how);
    std::thread waiting([&] { EXPECT_TRUE(mutex.try_acquire({.timeout = generous})); });
    EXPECT_TRUE(eventually([&] { return listeners(how) == 1; }));
    // A waiter that hears of a release asks again at once, and otherwise every two seconds.
    constexpr int releases = 8;
    const auto seconds = [&] { return std::stoll(server().command({"TIME"}).items.at(0).text); };
    const auto began = seconds();
    for (int i = 0; i < releases; ++i) {
      const auto before = called("evalsha");
      server().command({how.told.publish, how.channel, "0"});
      EXPECT_TRUE(eventually([&] { return called("evalsha") > before; }));
    }
    EXPECT_LT(seconds() - began, releases);
    give_back(how);
    waiting.join();
    EXPECT_TRUE(eventually([&] { return listeners(how) == 0; }));  // nobody waits any more
  });
}

TEST_P(Dialects, AreAskedOftenByThoseWhoCannotBeTold) {
  for_each_told([&](const layout& how) {
    server().command(how.take);
    const client poller{server().url(), {.wakeup = wakeup::poll}};
    std::thread waiting([&] {
      const auto mutex = poller.mutex("orders", {}, how.how);
      EXPECT_TRUE(mutex.try_acquire({.timeout = generous}));
    });
    const auto before = called("evalsha");
    EXPECT_TRUE(eventually([&] { return called("evalsha") > before + 2; }));
    give_back(how);
    waiting.join();
    EXPECT_EQ(called(how.told.subscriptions), 0);
  });
}

TEST_P(Dialects, ListenAgainAfterTheConnectionBroke) {
  for_each_told([&](const layout& how) {
    server().command(how.take);
    const auto mutex = redis().mutex("orders", {}, how.how);
    std::thread waiting([&] { EXPECT_TRUE(mutex.try_acquire({.timeout = generous})); });
    EXPECT_TRUE(eventually([&] { return listeners(how) == 1; }));
    const auto subscriptions = called(how.told.subscriptions);
    server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
    const auto again = subscriptions + how.told.at_a_new_connection;
    EXPECT_TRUE(eventually([&] { return called(how.told.subscriptions) >= again; }));
    EXPECT_TRUE(eventually([&] { return listeners(how) == 1; }));
    give_back(how);
    waiting.join();
  });
}

// Also for threads of one client, and beside native locks, whose tokens are times.
TEST_P(Dialects, HaveTheTokensOfRedisson) {
  const auto native = redis().mutex("orders").acquire();
  const auto fenced = dialect::redisson(redisson_lock::fenced);
  const auto here = redis().mutex("orders", {}, fenced);
  const auto other = another_client();
  const auto there = other.mutex("orders", {}, fenced);
  std::uint64_t last = 6;
  server().command({"SET", "redisson_lock_token:{orders}", "6"});
  for (int i = 0; i < 3; ++i) {
    for (const auto& one : {here, here, there}) {
      EXPECT_EQ(one.acquire().token().value(), ++last);
    }
  }
  EXPECT_EQ(server().command({"GET", "redisson_lock_token:{orders}"}).text, "15");
  auto held = redis().recursive_mutex("orders", {}, fenced).acquire();
  EXPECT_EQ(held.token().value(), 16U);
  EXPECT_GT(redis().mutex("another").acquire().token(), native.token());
}

// Whatever the other library does, ours are in order.
TEST_P(Dialects, HaveTokensOfOursByOption) {
  const auto other = another_client();
  const dialect all[] = {dialect::go_zero(),
                         dialect::redis_py(),
                         dialect::jedis("me"),
                         dialect::spring_template("code"),
                         dialect::reentrant_thread_local(),
                         dialect::spring_integration({"a"}),
                         dialect::spring_integration({"b", registry_mode::pub_sub}),
                         dialect::token({.key_prefix = "c:"})};
  int number = 0;
  for (const auto& plain : all) {
    const auto name = "report " + std::to_string(++number);
    SCOPED_TRACE(name + std::string(plain.name()));
    const auto counted = plain.with_fence_counter();
    EXPECT_EQ(counted.name(), plain.name());
    auto slow = redis().mutex(name, {}, counted).acquire();
    expect_reason(other.mutex(name, {}, plain).try_acquire(), errc::busy);
    ASSERT_TRUE(slow.token());
    EXPECT_TRUE(redis().fenced_set(name + " page", "slow", slow.token()));
    EXPECT_TRUE(slow.release());
    EXPECT_FALSE(other.mutex(name, {}, plain).acquire().token());
    const auto fast = other.mutex(name, {}, counted).acquire();
    EXPECT_GT(fast.token(), slow.token());
    EXPECT_TRUE(other.fenced_set(name + " page", "fast", fast.token()));
    EXPECT_FALSE(redis().fenced_set(name + " page", "slow again", slow.token()));
  }
  const auto python = dialect::python_redis_lock().with_fence_counter();
  EXPECT_TRUE(redis().mutex("{python}", {}, python).acquire().token());
  for (const auto& none :
       {dialect{}, dialect::redisson(), dialect::shedlock(), dialect::redlock(),
        dialect::rueidislock(), dialect::symfony(), dialect::redis_semaphore()}) {
    EXPECT_EQ(thrown_by([&] { (void)none.with_fence_counter(); }).reason(), errc::unsupported);
  }
}

// Also when the server has forgotten the last ones, which were ahead of its clock.
TEST_P(Dialects, HaveTokensOfOursAboveWhatTheClientHasSeen) {
  const auto wanted = redis().mutex("report", {}, dialect::redis_py().with_fence_counter());
  const auto drawn = wanted.acquire().token().value();
  const auto counter = server().command({"KEYS", "hf:fence:*"}).items.at(0).text;
  server().command({"SET", counter, std::to_string(drawn - 15'000'000)});
  EXPECT_EQ(wanted.acquire().token().value(), drawn + 1);
}

// A number of Redisson's own says nothing about the counter of the hash slot.
TEST_P(Dialects, WithNumbersOfTheLibraryRaiseNoTokensOfOurs) {
  server().command({"SET", "redisson_lock_token:{orders}", "4000000000000000"});
  const auto theirs = redis().mutex("orders", {}, dialect::redisson(redisson_lock::fenced));
  EXPECT_EQ(theirs.acquire().token().value(), 4'000'000'000'000'001U);
  EXPECT_LT(redis().mutex("orders").acquire().token().value(), 4'000'000'000'000'000U * 2048);
  server().command({"SET", "redisson_lock_token:{orders}", "7"});
  EXPECT_EQ(theirs.acquire().token().value(), 8U) << "whatever we have seen before";
}

TEST_P(Dialects, OfAJobStayLockedForAsLongAsTheyMust) {
  const auto how = dialect::shedlock({.at_least_for = 2s});
  const auto job = redis().mutex("orders", {.lease = 20s}, how);
  job.acquire().release().value();
  // For the threads of this client, too.
  expect_reason(job.try_acquire(), errc::busy);
  EXPECT_LE(server().command({"PTTL", "job-lock:default:orders"}).number, 2'000);
  EXPECT_TRUE(job.try_acquire({.timeout = generous}));
  expect_reason(another_client().mutex("orders", {}, dialect::shedlock()).try_acquire(),
                errc::busy);
  const auto too_long = thrown_by([&] { (void)redis().mutex("orders", {.lease = 1s}, how); });
  EXPECT_EQ(too_long.reason(), errc::invalid_argument);
}

// Where another thread of the client must not have it without the server.
TEST_P(Dialects, AskForEachThreadWhereEachGrantMustBeSeen) {
  for (const auto& how :
       {dialect::shedlock({.at_least_for = 2s}), dialect::redisson(redisson_lock::fenced)}) {
    const auto mutex = redis().mutex("orders", {.lease = 20s}, how);
    const auto held = mutex.acquire();
    const auto before = called("evalsha");
    std::thread([&] { expect_reason(mutex.try_acquire(), errc::busy); }).join();
    EXPECT_GT(called("evalsha"), before);
  }
}

// As a multi lock of Redisson.
TEST_P(Dialects, AreTakenTogetherOrNotAtAll) {
  const auto redisson = dialect::redisson();
  const auto both =
      all_of({redis().mutex("orders", {}, redisson), redis().mutex("stock", {}, redisson)});
  server().command({"HSET", "stock", "theirs:1", "1"});
  expect_reason(both.try_acquire(), errc::busy);
  EXPECT_TRUE(eventually([&] { return server().command({"EXISTS", "orders"}).number == 0; }));
  server().command({"DEL", "stock"});
  auto held = both.acquire();
  for (const auto* part : {"orders", "stock"}) {
    EXPECT_EQ(server().command({"HVALS", part}).items.at(0).text, "1");
  }
  held.release().value();
  EXPECT_TRUE(eventually([&] {
    return server().command({"EXISTS", "orders", "stock"}).number == 0;
  }));
}

TEST_P(Dialects, WakeThoseWhoWaitWithPythonRedisLock) {
  HOLDFAST_NEEDS_ONE_SERVER("its keys have several hash slots");
  auto held = redis().mutex("orders", {}, dialect::python_redis_lock()).acquire();
  held.release().value();
  EXPECT_EQ(server().command({"LLEN", "lock-signal:orders"}).number, 1);
}

TEST_P(Dialects, GoZeroKeepsALockForHalfASecondMore) {
  const auto held = redis().mutex("orders", {.lease = 3s}, dialect::go_zero()).acquire();
  EXPECT_GT(server().command({"PTTL", "orders"}).number, 3'000);
  EXPECT_LE(server().command({"PTTL", "orders"}).number, 3'500);
  EXPECT_LE(held.remaining(), 3s);
}

TEST(dialect, has_a_name_and_is_equal_to_its_copies) {
  EXPECT_EQ(dialect{}.name(), "holdfast");
  EXPECT_EQ(dialect::redisson().name(), "redisson");
  EXPECT_EQ(dialect::go_zero().name(), "go_zero");
  EXPECT_EQ(dialect::redis_py().name(), "token");
  EXPECT_EQ(dialect::spring_integration({"app"}).name(), "spring_integration");
  EXPECT_EQ(dialect::python_redis_lock().name(), "python_redis_lock");
  EXPECT_EQ(dialect::shedlock().name(), "shedlock");
  EXPECT_EQ(dialect::symfony().name(), "symfony");
  EXPECT_EQ(dialect::redis_semaphore().name(), "redis_semaphore");
  EXPECT_EQ(dialect::redis_py(), dialect::redis_py());
  EXPECT_NE(dialect::jedis("a"), dialect::jedis("a"));
  EXPECT_NE(dialect::redisson(), dialect{});
}

TEST(dialect, refuses_what_is_no_layout) {
  EXPECT_EQ(thrown_by([] { dialect::jedis(""); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([] { dialect::spring_template(""); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([] { dialect::spring_integration({""}); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([] { dialect::shedlock({.at_least_for = -1ms}); }).reason(),
            errc::invalid_argument);
  EXPECT_EQ(thrown_by([] { dialect::symfony({.retry_interval = 0ms}); }).reason(),
            errc::invalid_argument);
  EXPECT_EQ(thrown_by([] { dialect::redis_semaphore({.retry_interval = 2h}); }).reason(),
            errc::invalid_argument);
  EXPECT_EQ(thrown_by([] { dialect::redis_semaphore({.lock_timeout = 1ms}); }).reason(),
            errc::invalid_argument);
  EXPECT_EQ(thrown_by([] { dialect::token({.lease = 1ms}); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([] { dialect::token({.retry_interval = 0ms}); }).reason(),
            errc::invalid_argument);
}

TEST_P(Dialects, PresetsWriteWhatTheyAreNamedAfter) {
  struct preset {
    dialect how;
    std::string key;
    std::int64_t lease;
    std::string value;  // where it is known
  };
  const preset all[] = {
      {dialect::redis_py(), "orders", 30'000, ""},
      {dialect::jedis("caller"), "orders", 30'000, "caller"},
      {dialect::spring_template("code"), "orders", 30'000, "code"},
      {dialect::reentrant_thread_local(), "LOCK_orders", 15'000, ""},
  };
  for (const auto& one : all) {
    SCOPED_TRACE(one.key + one.value);
    const auto held = redis().mutex("orders", {}, one.how).acquire();
    const auto value = server().command({"GET", one.key}).text;
    EXPECT_TRUE(one.value.empty() ? value.size() >= 32 : value == one.value) << value;
    const auto ttl = server().command({"PTTL", one.key}).number;
    EXPECT_GT(ttl, one.lease - 5'000);
    EXPECT_LE(ttl, one.lease);
  }
}

}  // namespace
}  // namespace holdfast::conformance
