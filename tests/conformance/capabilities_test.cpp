// Each kind of lock does as the catalogue says.
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "conformance/makers.hpp"

namespace holdfast::conformance {
namespace {

class Capabilities : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(Capabilities);

bool is_refused(const capability& what) {
  return support::over_cluster() && is_refused_over_cluster(what.kind);
}

// Its parts are asked for one by one where they have no slot in common.
bool costs_more(const capability& what) {
  return support::over_cluster() && what.kind == "several mutexes";
}

// Runs `check` for each kind that can be held; one that cannot over a cluster must say so.
void for_each_lock(const client& redis,
                   const std::function<void(const capability&, const maker&)>& check) {
  std::size_t seen = 0;
  for (const auto& what : capabilities()) {
    if (what.to_release == 0) continue;
    SCOPED_TRACE(std::string(what.kind));
    ASSERT_TRUE(makers().contains(what.kind));
    const auto& make = makers().at(what.kind);
    ++seen;
    if (!is_refused(what)) {
      check(what, make);
    } else {
      EXPECT_EQ(thrown_by([&] { (void)make(redis, "a"); }).reason(), errc::unsupported);
    }
  }
  EXPECT_EQ(seen, makers().size());
}

TEST_P(Capabilities, TokensAndCommandsAreAsTheCatalogueSays) {
  for_each_lock(redis(), [&](const auto& what, const auto& make) {
    const auto wanted = make(redis(), std::string(what.kind));
    // Without a token the first attempt of ours is a SET; those within scripts are counted, too.
    const auto* const asks = what.token || what.dialect != "holdfast" ? "evalsha" : "set";
    wanted.acquire().release().value();  // the scripts are there now
    const auto before = called(asks);
    auto held = wanted.acquire();
    EXPECT_EQ(static_cast<bool>(held.token()), what.token);
    if (costs_more(what)) return;
    EXPECT_EQ(called(asks) - before, what.to_acquire);
    const auto calls = called("evalsha");
    held.release().value();
    EXPECT_EQ(called("evalsha") - calls, what.to_release);
  });
}

TEST_P(Capabilities, OnlyWhatIsReentrantIsEnteredAgainWithoutACommand) {
  for_each_lock(redis(), [&](const auto& what, const auto& make) {
    if (what.kind == "reader") return;  // it may join itself, as any reader, or be too late for it
    const auto wanted = make(redis(), std::string(what.kind));
    const auto held = wanted.acquire();
    const auto before = called("evalsha");
    const auto again = wanted.try_acquire();
    EXPECT_EQ(again && called("evalsha") == before, what.reentrant);
  });
}

TEST_P(Capabilities, WaitingCostsOneCommandMoreAtMost) {
  const auto other = another_client();
  for_each_lock(redis(), [&](const auto& what, const auto& make) {
    if (!what.handed_over || costs_more(what)) return;  // the former ask again
    const std::string name(what.kind);
    const auto& blocker = rival_of(what.kind);
    make(redis(), name).acquire().release().value();
    const auto commands_of_a_wait = [&] {
      auto held = blocker(other, name).acquire();
      const auto before = called("evalsha");
      std::thread waiter{[&] { make(redis(), name).acquire().release().value(); }};
      const auto queue = "hf:{" + name + "}:w";
      EXPECT_TRUE(eventually([&] { return server().command({"ZCARD", queue}).number == 1; }));
      held.release().value();
      waiter.join();
      return called("evalsha") - before - 2 * what.to_release;
    };
    // After asking for several together, for each; and each for which somebody waits is given back
    // by itself. On a busy machine one who waits long asks again.
    const int most = what.to_acquire + (what.kind == "several mutexes" ? 3 : 1);
    EXPECT_TRUE(eventually([&] { return commands_of_a_wait() <= most; }));
  });
}

TEST_P(Capabilities, ChangesCostOneCommandAndWhoLeadsTwo) {
  const auto calls = [&] { return called("evalsha") + called("get") + called("hgetall"); };
  const auto office = redis().election("office");
  const auto leads = office.campaign();
  ASSERT_TRUE(office.leader());
  auto before = calls();
  ASSERT_TRUE(office.leader());
  EXPECT_EQ(calls() - before, 2);
  const auto doc = redis().read_write_lock("doc");
  auto upgradeable = doc.upgradeable().acquire();
  before = called("evalsha");
  auto writes = doc.upgrade(upgradeable).acquire();
  EXPECT_EQ(called("evalsha") - before, 1);
  const auto reads = doc.downgrade(writes).acquire();
  EXPECT_EQ(called("evalsha") - before, 2);
}

struct nothing final : detail::completion {
  void complete() noexcept override {}
};

TEST_P(Capabilities, OnlyWhatIsPassedOnWaitsOnceForAllOfAClient) {
  const auto other = another_client();
  for_each_lock(redis(), [&](const auto& what, const auto& make) {
    if (!what.handed_over) return;  // nobody stands in a queue
    const std::string name(what.kind);
    const auto& blocker = rival_of(what.kind);
    const auto held = blocker(other, name).acquire();
    nothing told[3];
    std::vector<std::unique_ptr<detail::acquire_operation>> waiting;
    for (auto& one : told) {
      waiting.push_back(std::make_unique<detail::acquire_operation>(
          make(redis(), name), acquire_options{}, std::stop_token{},
          detail::acquire_operation::patience::waits));
      waiting.back()->start(one);
    }
    EXPECT_TRUE(waits(name, what.passed_on ? 1 : 3)) << inspector{redis()}.status(name).waiting;
    waiting.clear();
    EXPECT_TRUE(waits(name, 0));
  });
}

}  // namespace
}  // namespace holdfast::conformance
