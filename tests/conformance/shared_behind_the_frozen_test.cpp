// Locks that several may hold, behind a waiter that is frozen or can never be served: at most one
// provisional grant is lost on it, as with a mutex.
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

class SharedBehindTheFrozen : public mutex_test {
 protected:
  // A process of its own that waits for what `wanted` makes of its client.
  support::forked somebody_who_wants(const std::function<lock(const client&)>& wanted) {
    return support::forked{[&, wanted](const auto& parent) {
      const client own{server().url()};
      std::thread waiter{[&] {
        const auto got = wanted(own).try_acquire({.timeout = forever});
        parent.tell(got ? "got it" : std::string{got.error().what()});
      }};
      parent.tell("waits");
      parent.sleep_until_killed();
    }};
  }
  // One provisional grant, and the time that a busy machine takes.
  static constexpr milliseconds soon = 8s;
};
HOLDFAST_ON_EACH_SERVER(SharedBehindTheFrozen);

TEST_P(SharedBehindTheFrozen, AReaderComesInBesideAReader) {
  const auto reading = redis().read_write_lock("a", {.fair = true}).shared().acquire();
  auto writer =
      somebody_who_wants([](const client& own) { return own.read_write_lock("a").exclusive(); });
  (void)writer.heard();
  ASSERT_TRUE(waits("a", 1));
  writer.freeze();
  const auto before = net::now();
  const auto second =
      another_client().read_write_lock("a").shared().try_acquire({.timeout = generous});
  EXPECT_TRUE(second);
  EXPECT_LT(net::now() - before, soon);
  EXPECT_TRUE(reading.held());
}

TEST_P(SharedBehindTheFrozen, AReaderComesInPastARowOfWriters) {
  constexpr int many = 12;
  const auto reading = redis().read_write_lock("a", {.fair = true}).shared().acquire();
  support::forked writers{[&](const auto& parent) {
    const client own{server().url()};
    const auto target = own.read_write_lock("a", {.fair = true}).exclusive();
    std::vector<std::thread> waiting;
    for (int i = 0; i < many; ++i) waiting.emplace_back([&] { (void)target.acquire(); });
    parent.tell("waits");
    parent.sleep_until_killed();
  }};
  (void)writers.heard();
  ASSERT_TRUE(waits("a", many));
  writers.freeze();
  const auto before = net::now();
  EXPECT_TRUE(another_client().read_write_lock("a").shared().try_acquire({.timeout = generous}));
  EXPECT_LT(net::now() - before, soon) << "two provisional grants, and not twelve";
}

TEST_P(SharedBehindTheFrozen, AWriterThatThawsIsServed) {
  auto reading = redis().read_write_lock("a", {.fair = true}).shared().acquire();
  auto writer =
      somebody_who_wants([](const client& own) { return own.read_write_lock("a").exclusive(); });
  (void)writer.heard();
  ASSERT_TRUE(waits("a", 1));
  writer.freeze();
  {
    const auto second =
        another_client().read_write_lock("a").shared().try_acquire({.timeout = generous});
    EXPECT_TRUE(second);
  }
  writer.signal(SIGCONT);
  ASSERT_TRUE(waits("a", 1));
  EXPECT_TRUE(reading.release());
  EXPECT_EQ(writer.heard(), "got it");
}

TEST_P(SharedBehindTheFrozen, APermitIsGivenPastOneThatWantsMore) {
  const auto licences = redis().semaphore("a", {.permits = 3});
  const auto two = licences.permits(2).acquire();
  auto greedy = somebody_who_wants(
      [](const client& own) { return own.semaphore("a", {.permits = 3}).permits(3); });
  (void)greedy.heard();
  ASSERT_TRUE(waits("a", 1));
  greedy.freeze();
  const auto before = net::now();
  EXPECT_TRUE(licences.try_acquire({.timeout = generous}));
  EXPECT_LT(net::now() - before, soon);
}

// Nobody holds anything, and there are permits enough for the second that waits.
TEST_P(SharedBehindTheFrozen, APermitIsGivenPastOneThatWantsMoreThanThereAre) {
  const auto licences = redis().semaphore("a", {.permits = 3});
  auto all = licences.permits(3).acquire();
  auto greedy = somebody_who_wants(
      [](const client& own) { return own.semaphore("a", {.permits = 3}).permits(3); });
  (void)greedy.heard();
  ASSERT_TRUE(waits("a", 1));
  licences.set_permits(1);
  EXPECT_THAT(greedy.heard(), ::testing::HasSubstr("there are 1 permits")) << "at once";
  EXPECT_TRUE(all.release());
  const auto before = net::now();
  EXPECT_TRUE(licences.try_acquire({.timeout = generous}));
  EXPECT_LT(net::now() - before, soon);
}

TEST_P(SharedBehindTheFrozen, AChangeIsMadePastAnotherOne) {
  const auto modes = redis().mode_lock("a");
  const auto third = modes.in(lock_mode::concurrent_read).acquire();
  auto changing = support::forked{[&](const auto& parent) {
    const client own{server().url()};
    const auto theirs = own.mode_lock("a");
    const auto held = theirs.in(lock_mode::null).acquire();
    std::thread waiter{[&] { (void)theirs.change(held, lock_mode::exclusive).acquire(); }};
    parent.tell("waits");
    parent.sleep_until_killed();
  }};
  (void)changing.heard();
  ASSERT_TRUE(waits("a", 1));
  changing.freeze();
  const auto before = net::now();
  EXPECT_TRUE(another_client()
                  .mode_lock("a")
                  .in(lock_mode::concurrent_write)
                  .try_acquire({.timeout = generous}));
  EXPECT_LT(net::now() - before, soon);
  EXPECT_TRUE(third.held());
}

}  // namespace
}  // namespace holdfast::conformance
