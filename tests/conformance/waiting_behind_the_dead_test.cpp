// Waiting with or behind those who are killed, frozen or cut off: what that costs who waits on.
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

class WaitingBehindTheDead : public mutex_test {
 protected:
  // Whether one of five rounds, each with the name of a lock of its own, took less than the bound.
  // A busy machine may be late in some of them.
  template <typename Round>
  static bool is_once_within(milliseconds bound, Round&& round) {
    for (int i = 0; i < 5; ++i) {
      if (round("a" + std::to_string(i)) < bound) return true;
    }
    return false;
  }
  static constexpr nanoseconds shows_nothing = nanoseconds::max();  // of a round

  // A process of its own, in which nothing else happens.
  support::forked somebody_who_waits(const std::string& name) {
    return support::forked{[&](const auto& parent) {
      const client own{server().url()};
      std::thread waiter{[&] { (void)own.mutex(name).acquire({.timeout = forever}); }};
      parent.tell("waits");
      parent.sleep_until_killed();
    }};
  }
};
HOLDFAST_ON_EACH_SERVER(WaitingBehindTheDead);

TEST_P(WaitingBehindTheDead, AWaiterThatWasKilledIsSkipped) {
  const auto round = [&](const std::string& name) {
    auto held = redis().mutex(name).acquire();
    auto dead = somebody_who_waits(name);
    (void)dead.heard();
    EXPECT_TRUE(waits(name, 1));
    dead.kill9();
    std::thread next{[&] { (void)another_client().mutex(name).acquire(); }};
    EXPECT_TRUE(waits(name, 2));
    const auto before = net::now();
    EXPECT_TRUE(held.release());
    next.join();
    return net::now() - before;
  };
  EXPECT_TRUE(is_once_within(900ms, round)) << "not even a provisional grant is lost on it";
}

TEST_P(WaitingBehindTheDead, TheNextOwnsTheLockWhenItsHolderWasKilled) {
  const auto round = [&](const std::string& name) {
    support::forked holder{[&](const auto& parent) {
      const client own{server().url()};
      const auto held = own.mutex(name, {.lease = 600ms}).acquire();
      parent.tell(held.token().to_string());
      parent.sleep_until_killed();
    }};
    const auto old = std::stoull(holder.heard());
    std::optional<lease> got;
    std::atomic<bool> is_served{false};
    std::thread waiter{[&] {
      got.emplace(another_client().mutex(name).acquire());
      is_served = true;
    }};
    EXPECT_TRUE(eventually([&] { return is_served || waits(name, 1, 0ms); }));
    const bool renewed_too_late = is_served;
    holder.kill9();
    const auto before = net::now();
    waiter.join();
    EXPECT_GT(got->token().value(), old);
    return renewed_too_late ? shows_nothing : nanoseconds{net::now() - before};
  };
  EXPECT_TRUE(is_once_within(1500ms, round)) << "the lease; it would ask again by itself after 2 s";
}

// Those who died with the holder stand before who lives: nobody else notices that the lease ended.
TEST_P(WaitingBehindTheDead, TheNextOwnsTheLockWhenManyBeforeItWereKilledWithItsHolder) {
  constexpr int many = 12;
  support::forked dead{[&](const auto& parent) {
    const client own{server().url()};
    const auto target = own.mutex("a", {.lease = 1s, .fair = true});
    const auto held = target.acquire();
    std::vector<std::thread> waiters;
    for (int i = 0; i < many; ++i) waiters.emplace_back([&] { (void)target.acquire(); });
    parent.tell("holds");
    parent.sleep_until_killed();
  }};
  (void)dead.heard();
  ASSERT_TRUE(waits("a", many));
  std::thread next{[&] { (void)another_client().mutex("a").acquire(); }};
  ASSERT_TRUE(waits("a", many + 1));
  dead.kill9();
  const auto before = net::now();
  next.join();
  EXPECT_LT(net::now() - before, 6s) << "half a claim for each of them";
}

TEST_P(WaitingBehindTheDead, AFrozenWaiterCostsOneClaim) {
  const auto round = [&](const std::string& name) {
    auto held = redis().mutex(name).acquire();
    auto frozen = somebody_who_waits(name);
    (void)frozen.heard();
    EXPECT_TRUE(waits(name, 1));
    std::thread next{[&] { (void)another_client().mutex(name).acquire({.timeout = 30s}); }};
    EXPECT_TRUE(waits(name, 2));
    frozen.freeze();
    const auto before = net::now();
    EXPECT_TRUE(held.release());
    const auto claimed = server().command({"PTTL", "hf:{" + name + "}"}).number;
    next.join();
    const auto took = net::now() - before;
    // Else the claim had ended, and it was free or the next one's already.
    const bool was_claimed = claimed > 0 && claimed <= 1000;
    if (!was_claimed) return shows_nothing;
    EXPECT_GT(took, 900ms) << "the frozen one had the lock";
    return nanoseconds{took};
  };
  EXPECT_TRUE(is_once_within(1900ms, round)) << "a claim of a second, but not two";
}

// A question that is cut off is not asked again before the server would refuse it, so that is soon.
TEST_P(WaitingBehindTheDead, ALostMessageIsFoundOutWhenTheConnectionIsMadeAgain) {
  client_options options;
  options.response_timeout = 300ms;
  const auto round = [&](const std::string& name) {
    const client other{server().url(), options};
    auto held = redis().mutex(name).acquire();
    std::thread waiter{[&] { (void)other.mutex(name).acquire({.timeout = 30s}); }};
    EXPECT_TRUE(waits(name, 1));
    for (int i = 0; i < 5; ++i) server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
    const auto before = net::now();
    EXPECT_TRUE(held.release());
    waiter.join();
    return net::now() - before;
  };
  EXPECT_TRUE(is_once_within(1500ms, round))
      << "without asking it would be served 2 s after it came";
}

}  // namespace
}  // namespace holdfast::conformance
