// What the catalogue says of each kind of lock is what it does.
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class Capabilities : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(Capabilities);

using maker = std::function<lock(const client&, const std::string&)>;

const std::map<std::string_view, maker>& makers() {
  static const std::map<std::string_view, maker> all = {
      {"mutex", [](auto& redis, auto& name) { return redis.mutex(name); }},
      {"mutex without tokens",
       [](auto& redis, auto& name) { return redis.mutex(name, {.fencing = fencing::off}); }},
      {"fair mutex", [](auto& redis, auto& name) { return redis.mutex(name, {.fair = true}); }},
      {"recursive mutex", [](auto& redis, auto& name) { return redis.recursive_mutex(name); }},
      {"several mutexes",
       [](auto& redis, auto& name) {
         return all_of({redis.mutex(name), redis.mutex("with " + name)});
       }},
      {"election", [](auto& redis, auto& name) { return redis.elect(name); }},
      {"reader", [](auto& redis, auto& name) { return redis.rw(name).shared(); }},
      {"upgradeable reader", [](auto& redis, auto& name) { return redis.rw(name).upgradeable(); }},
      {"writer", [](auto& redis, auto& name) { return redis.rw(name).exclusive(); }},
      {"semaphore", [](auto& redis, auto& name) { return redis.semaphore(name); }},
      {"mode lock, NL to PW",
       [](auto& redis, auto& name) {
         return redis.mode_lock(name).in(lock_mode::protected_write);
       }},
      {"mode lock, EX",
       [](auto& redis, auto& name) { return redis.mode_lock(name).in(lock_mode::exclusive); }},
  };
  return all;
}

// Runs `check` for each kind that can be held.
void for_each_lock(const std::function<void(const capability&, const maker&)>& check) {
  std::size_t seen = 0;
  for (const auto& what : capabilities()) {
    if (what.to_release == 0) continue;
    SCOPED_TRACE(std::string(what.kind));
    ASSERT_TRUE(makers().contains(what.kind));
    check(what, makers().at(what.kind));
    ++seen;
  }
  EXPECT_EQ(seen, makers().size());
}

TEST_P(Capabilities, TokensAndCommandsAreAsTheCatalogueSays) {
  for_each_lock([&](const auto& what, const auto& make) {
    const auto wanted = make(redis(), std::string(what.kind));
    // Without a token the first attempt is a SET; those within scripts are counted, too.
    const auto* const asks = what.token ? "evalsha" : "set";
    wanted.acquire().release().value();  // the scripts are there now
    const auto before = called(asks);
    auto held = wanted.acquire();
    EXPECT_EQ(static_cast<bool>(held.token()), what.token);
    EXPECT_EQ(called(asks) - before, what.to_acquire);
    const auto calls = called("evalsha");
    held.release().value();
    EXPECT_EQ(called("evalsha") - calls, what.to_release);
  });
}

TEST_P(Capabilities, OnlyWhatIsReentrantIsEnteredAgainWithoutACommand) {
  for_each_lock([&](const auto& what, const auto& make) {
    const auto wanted = make(redis(), std::string(what.kind));
    const auto held = wanted.acquire();
    const auto before = called("evalsha");
    const auto again = wanted.try_acquire();
    EXPECT_EQ(again && called("evalsha") == before, what.reentrant);
  });
}

struct nothing final : detail::completion {
  void complete() noexcept override {}
};

TEST_P(Capabilities, OnlyWhatIsPassedOnWaitsOnceForAllOfAClient) {
  const auto other = another_client();
  for_each_lock([&](const auto& what, const auto& make) {
    const std::string name(what.kind);
    const auto& blocker = what.kind == "reader" ? makers().at("writer") : make;
    const auto held = blocker(other, name).acquire();
    nothing told[3];
    std::vector<std::unique_ptr<acquire_operation>> waiting;
    for (auto& one : told) {
      waiting.push_back(std::make_unique<acquire_operation>(make(redis(), name), acquire_options{},
                                                            acquire_operation::patience::waits));
      waiting.back()->start(one);
    }
    EXPECT_TRUE(waits(name, what.passed_on ? 1 : 3)) << inspector{redis()}.status(name).waiting;
    waiting.clear();
    EXPECT_TRUE(waits(name, 0));
  });
}

}  // namespace
}  // namespace holdfast::conformance
