// Readers of one client who read under one grant of the server.
#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class JoiningReaders : public mutex_test {
 protected:
  // Reads beside `first` under the same grant. More than one attempt: the turn of that grant may be
  // over, and then the next readers have one of their own.
  static std::pair<lease, lease> two_together(const lock& reader) {
    for (;;) {
      auto first = reader.acquire();
      auto second = reader.acquire();
      if (second.token().value() == first.token().value() + 1) {
        return {std::move(first), std::move(second)};
      }
    }
  }
};
HOLDFAST_ON_EACH_SERVER(JoiningReaders);

TEST_P(JoiningReaders, AskTheServerSeldomAndHaveTokensOfTheirOwn) {
  constexpr int readers = 1000;
  const auto reader = redis().read_write_lock("a").shared();
  std::vector<lease> all;
  all.push_back(reader.acquire());
  const auto before = called("evalsha");
  for (int i = 1; i < readers; ++i) all.push_back(reader.acquire());
  EXPECT_LT(called("evalsha") - before, readers / 2);
  const auto token = [](const lease& one) { return one.token(); };
  EXPECT_TRUE(std::ranges::is_sorted(all, std::less_equal<>{}, token)) << "none twice";
  const auto writer = another_client().read_write_lock("a").exclusive();
  expect_reason(writer.try_acquire(), errc::busy);
  const auto last = all.back().token();
  all.clear();
  EXPECT_GT(writer.acquire().token(), last);
}

TEST_P(JoiningReaders, KeepTheLockUntilTheLastOfThemLeaves) {
  const auto writer = another_client().read_write_lock("a").exclusive();
  for (const bool in_order : {true, false}) {
    auto both = two_together(redis().read_write_lock("a").shared());
    if (!in_order) std::swap(both.first, both.second);
    EXPECT_TRUE(both.first.release());
    EXPECT_FALSE(both.first.held());
    EXPECT_TRUE(both.second.held());
    expect_reason(writer.try_acquire(), errc::busy);
    EXPECT_TRUE(both.second.release());
    EXPECT_TRUE(writer.try_acquire());
  }
}

TEST_P(JoiningReaders, DoNotKeepAWriterOutForEver) {
  const auto reader = redis().read_write_lock("a").shared();
  auto first = reader.acquire();
  std::jthread writer(
      [&] { const auto held = another_client().read_write_lock("a").exclusive().acquire(); });
  ASSERT_TRUE(waits("a", 1));
  EXPECT_TRUE(eventually([&] { return !reader.try_acquire(); }))
      << "they stand behind the writer now";
  EXPECT_TRUE(first.release());
  writer.join();
  EXPECT_TRUE(reader.try_acquire());
}

TEST_P(JoiningReaders, ComeInTogetherWithHimWhoAsked) {
  constexpr int readers = 8;
  const auto both = redis().read_write_lock("a");
  for (int round = 0; round < 2; ++round) {
    auto writer = another_client().read_write_lock("a").exclusive().acquire();
    std::atomic<int> inside{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < readers; ++i) {
      threads.emplace_back([&] {
        const auto held = both.shared().try_acquire({.timeout = generous});
        ++inside;
        EXPECT_TRUE(held && eventually([&] { return inside == readers; }));
      });
    }
    ASSERT_TRUE(waits("a", 1));
    EXPECT_TRUE(writer.release());
  }
}

// Also while they give up, and a writer of another client comes and goes.
TEST_P(JoiningReaders, NeverMeetAWriter) {
  const auto other = another_client();
  std::atomic<int> reading{0}, reads{0}, gave_up{0};
  std::atomic<bool> writing{false};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i, reader = redis().read_write_lock("a").shared()] {
        for (int round = 0; round < 200; ++round) {
          const auto patience = (i + round) % 4 == 0 ? milliseconds{round % 3} : generous;
          const auto held = reader.try_acquire({.timeout = patience});
          if (!held) {
            ++gave_up;
            continue;
          }
          ++reading;
          EXPECT_FALSE(writing);
          if (round % 8 == 0) std::this_thread::yield();
          EXPECT_FALSE(writing);
          --reading;
          ++reads;
        }
      });
    }
    for (int round = 0; round < 50; ++round) {
      const auto held = other.read_write_lock("a").exclusive().acquire();
      EXPECT_FALSE(writing.exchange(true));
      EXPECT_EQ(reading, 0);
      writing = false;
    }
  }
  EXPECT_GT(reads, gave_up);
  EXPECT_TRUE(other.read_write_lock("a").exclusive().try_acquire({.timeout = generous}));
  EXPECT_TRUE(eventually([&] { return server().command({"KEYS", "hf:{*"}).items.empty(); }));
}

task<result<void>> released(lease& held) { co_return co_await held.async_release(); }

TEST_P(JoiningReaders, AreEachToldOfALossUnlessTheyHaveLeft) {
  const auto reader = redis().read_write_lock("a", {.lease = 400ms}).shared();
  auto [one, two] = two_together(reader);
  auto left = reader.acquire();
  const auto unheard = left.lost();
  EXPECT_TRUE(left.release());
  const auto first = one.lost(), second = two.lost();
  server().command({"FLUSHALL"});
  EXPECT_TRUE(triggered(first));
  EXPECT_TRUE(triggered(second));
  EXPECT_FALSE(unheard.stop_requested());
  expect_reason(one.release(), errc::lost);
  EXPECT_TRUE(two.lost().stop_requested()) << "also to who listens once more";
  expect_reason(sync_wait(released(two)), errc::lost);
  EXPECT_TRUE(reader.try_acquire());
}

TEST_P(JoiningReaders, AreEachToldOfALossThatOneOfThemFoundWhenExtending) {
  auto [one, two] = two_together(redis().read_write_lock("a").shared());
  const auto first = one.lost(), second = two.lost();
  server().command({"FLUSHALL"});
  expect_reason(one.extend(10s), errc::lost);
  EXPECT_TRUE(triggered(first));
  EXPECT_TRUE(triggered(second));
}

TEST_P(JoiningReaders, AreCoroutinesToo) {
  const auto together = [](const lock reader) -> task<bool> {
    auto first = co_await reader.async_acquire();
    auto second = co_await reader.async_acquire();
    const bool joined = second.token().value() == first.token().value() + 1;
    EXPECT_TRUE(co_await first.async_release());
    EXPECT_TRUE(second.held());
    EXPECT_TRUE(co_await second.async_release());
    co_return joined;
  };
  const auto reader = redis().read_write_lock("a").shared();
  EXPECT_TRUE(eventually([&] { return sync_wait(together(reader)); }));
  EXPECT_TRUE(another_client().read_write_lock("a").exclusive().try_acquire());
}

TEST_P(JoiningReaders, DoNotWhereTheOrderIsStrictOrTheLeaseFixed) {
  for (const read_write_options& strict :
       {read_write_options{.fair = true}, read_write_options{.renewal = renewal::none}}) {
    const auto reader = redis().read_write_lock("a", strict).shared();
    const auto first = reader.acquire();
    const auto before = called("evalsha");
    const auto second = reader.acquire(), third = reader.acquire();
    EXPECT_EQ(called("evalsha") - before, 2);
  }
}

TEST_P(JoiningReaders, CannotBeChangedIntoAnythingElse) {
  const auto held = redis().read_write_lock("a").shared().acquire();
  const auto change = [&] { (void)redis().mode_lock("a").change(held, lock_mode::null); };
  EXPECT_EQ(thrown_by(change).reason(), errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::conformance
