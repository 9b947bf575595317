// What every kind of lock promises when one at a time can have it: one suite over all of them.
#include <atomic>
#include <functional>
#include <thread>
#include <tuple>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/options_for.hpp"

namespace holdfast::conformance {
namespace {

struct kind {
  const char* name;
  std::function<lock(const client&, const std::string&, mutex_options)> make;
};

using support::options_for;

const std::vector<kind>& kinds() {
  static const std::vector<kind> all = {
      {"mutex", [](auto& redis, auto& name, auto options) { return redis.mutex(name, options); }},
      {"fair_mutex",
       [](auto& redis, auto& name, auto options) {
         options.fair = true;
         return redis.mutex(name, options);
       }},
      {"all_of_two",
       [](auto& redis, auto& name, auto options) {
         return all_of({redis.mutex(name, options), redis.mutex("second of " + name, options)});
       }},
      {"recursive_mutex",  // each time by another owner
       [](auto& redis, auto& name, auto options) {
         return redis.recursive_mutex(name, options_for<recursive_mutex_options>(options))
             .of(owner{});
       }},
      {"writer",
       [](auto& redis, auto& name, auto options) {
         return redis.read_write_lock(name, options_for<read_write_options>(options)).exclusive();
       }},
      {"upgradeable_reader",
       [](auto& redis, auto& name, auto options) {
         return redis.read_write_lock(name, options_for<read_write_options>(options)).upgradeable();
       }},
      {"single_permit",
       [](auto& redis, auto& name, auto options) {
         return redis.semaphore(name, options_for<semaphore_options>(options));
       }},
      {"all_permits",
       [](auto& redis, auto& name, auto options) {
         auto limits = options_for<semaphore_options>(options);
         limits.permits = 3;
         return redis.semaphore(name, limits).permits(3);
       }},
      {"protected_write",
       [](auto& redis, auto& name, auto options) {
         return redis.mode_lock(name, options_for<mode_lock_options>(options))
             .in(lock_mode::protected_write);
       }},
  };
  return all;
}

// Server and kind: a fixture of server_test takes the server, so the kinds are a loop.
class Kinds : public mutex_test {
 protected:
  // Runs `check` for each kind on a name of its own.
  void for_each_kind(
      const std::function<void(const std::function<lock(const client&, mutex_options)>&)>& check) {
    for (const kind& one : kinds()) {
      SCOPED_TRACE(one.name);
      const std::string name = std::string{"lock of "} + one.name;
      check([&](const client& redis, mutex_options options) {
        return one.make(redis, name, options);
      });
      EXPECT_EQ(left_over(), std::vector<std::string>{}) << "a key outlived its use";
    }
  }

  // A request for several locks waits for the first of them.
  static std::string queue_of(const auto& lock_or_lease) {
    const auto& name = lock_or_lease.name();
    return name.substr(0, name.find(", "));
  }

  // The keys that are there although nobody holds or wants anything, but those that stay by design.
  std::vector<std::string> left_over() const {
    std::vector<std::string> keys;
    const bool clean = eventually([&] {
      keys.clear();
      for (const auto& key : server().command({"KEYS", "*"}).items) {
        const bool stays = key.text.starts_with("hf:fence:") ||
                           key.text.starts_with("hf:client:") || key.text == "hf:held";
        if (!stays) keys.push_back(key.text);
      }
      return keys.empty();
    });
    return clean ? std::vector<std::string>{} : keys;
  }
};
HOLDFAST_ON_EACH_SERVER(Kinds);

TEST_P(Kinds, ExcludeWithinAndBetweenClients) {
  const auto other = another_client();
  for_each_kind([&](const auto& make) {
    const lock mine = make(redis(), {}), others = make(other, {});
    auto held = mine.acquire();
    EXPECT_TRUE(held.held());
    EXPECT_EQ(held.name(), mine.name());
    expect_reason(make(redis(), {}).try_acquire(), errc::busy);
    expect_reason(others.try_acquire(), errc::busy);
    EXPECT_TRUE(held.release());
    EXPECT_FALSE(held.held());
    EXPECT_TRUE(others.try_acquire());
  });
}

TEST_P(Kinds, CostTwoCommandsWhenNobodyElseWantsThem) {
  HOLDFAST_NEEDS_ONE_SERVER("locks of several slots are asked for one by one");
  constexpr int pairs = 20;
  for_each_kind([&](const auto& make) {
    const lock wanted = make(redis(), {});
    wanted.acquire().release().value();  // the scripts are there now
    const auto before = called("evalsha");
    for (int i = 0; i < pairs; ++i) wanted.acquire().release().value();
    EXPECT_EQ(called("evalsha") - before, 2 * pairs);
  });
}

TEST_P(Kinds, GiveGrowingTokens) {
  const auto other = another_client();
  for_each_kind([&](const auto& make) {
    fencing_token last;
    for (int i = 0; i < 4; ++i) {
      const auto held = make(i % 2 == 0 ? redis() : other, {}).acquire();
      EXPECT_TRUE(held.token());
      EXPECT_GT(held.token(), last);
      last = held.token();
    }
  });
}

TEST_P(Kinds, SayBusyTimedOutAndCancelled) {
  const auto other = another_client();
  for_each_kind([&](const auto& make) {
    const auto held = make(redis(), {}).acquire();
    const lock wanted = make(other, {});
    expect_reason(wanted.try_acquire(), errc::busy);
    expect_reason(wanted.try_acquire({.timeout = 60ms}), errc::timed_out);
    std::stop_source stop;
    std::optional<errc> reason;
    std::thread waiter{[&] {
      const auto got = wanted.try_acquire({.timeout = forever}, stop.get_token());
      if (!got) reason = got.error().reason();
    }};
    EXPECT_TRUE(waits(queue_of(wanted), 1));
    stop.request_stop();
    waiter.join();
    EXPECT_EQ(reason, errc::cancelled);
    EXPECT_TRUE(waits(queue_of(wanted), 0)) << "who gave up left the queue";
  });
}

TEST_P(Kinds, HandOverInTheOrderOfArrival) {
  for_each_kind([&](const auto& make) {
    auto first = make(another_client(), {}).acquire();
    std::mutex guard;
    std::vector<int> served;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const auto held = make(another_client(), {}).acquire();
        const std::lock_guard in(guard);
        served.push_back(i);
      });
      EXPECT_TRUE(waits(queue_of(first), static_cast<std::size_t>(i) + 1));
    }
    EXPECT_TRUE(first.release());
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3}));
  });
}

TEST_P(Kinds, LoseNoIncrementAmongThreadsAndClients) {
  constexpr int each = 50;
  for_each_kind([&](const auto& make) {
    int count = 0;
    std::vector<std::thread> threads;
    const client clients[] = {another_client(), another_client()};
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const lock mine = make(clients[i % 2], {});
        for (int k = 0; k < each; ++k) {
          const auto held = mine.acquire();
          ++count;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(count, 4 * each);
  });
}

TEST_P(Kinds, AreRenewedWhileHeldAndEndWhenFixed) {
  const auto other = another_client();
  for_each_kind([&](const auto& make) {
    {
      const auto held = make(redis(), {.lease = 150ms}).acquire();
      const auto later = net::now() + 500ms;
      EXPECT_TRUE(eventually([&] { return !held.held() || net::now() > later; }));
      EXPECT_TRUE(held.held());
      expect_reason(make(other, {}).try_acquire(), errc::busy);
    }
    auto held = make(redis(), {.lease = 100ms, .renewal = renewal::none}).acquire();
    EXPECT_TRUE(make(other, {}).try_acquire({.timeout = generous}));
    EXPECT_FALSE(held.held());
    EXPECT_TRUE(triggered(held.lost()));
    expect_reason(held.release(), errc::lost);
  });
}

TEST_P(Kinds, CanBeExtended) {
  for_each_kind([&](const auto& make) {
    auto held = make(redis(), {.lease = 200ms, .renewal = renewal::none}).acquire();
    EXPECT_TRUE(held.extend(10s));
    EXPECT_GT(held.remaining(), 5s);
    EXPECT_TRUE(held.release());
  });
}

TEST_P(Kinds, AreLostWhenTheServerForgetsThem) {
  for_each_kind([&](const auto& make) {
    const auto held = make(redis(), {.lease = 150ms}).acquire();
    const auto token = held.token();
    const auto lost = held.lost();
    server().command({"FLUSHALL"});
    EXPECT_TRUE(triggered(lost));
    EXPECT_FALSE(held.held());
    EXPECT_GT(make(redis(), {}).acquire({.timeout = generous}).token(), token);
  });
}

TEST_P(Kinds, ReleaseFromCoroutines) {
  for_each_kind([&](const auto& make) {
    const lock wanted = make(redis(), {});
    sync_wait([](lock of) -> task<> {
      auto held = co_await of.async_acquire();
      EXPECT_TRUE(held.held());
      EXPECT_TRUE(co_await held.async_release());
    }(wanted));
    EXPECT_TRUE(wanted.try_acquire());
  });
}

}  // namespace
}  // namespace holdfast::conformance
