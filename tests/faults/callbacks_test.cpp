// Callbacks of several clients that end each other.
#include <atomic>
#include <functional>
#include <latch>
#include <memory>

#include "faults/faulty_server.hpp"
#include "support/library_threads.hpp"

namespace holdfast::faults {
namespace {

using support::generous;
using on_loss = std::stop_callback<std::function<void()>>;

// A client, and something of it whose callback runs on its own thread.
struct side {
  std::optional<client> redis;
  std::optional<lease> held;
  std::optional<observation> observed;
  std::unique_ptr<on_loss> callback;
};

// Their callbacks run at the same time. Kept for ever if one of them does not come back.
struct two_sides {
  side all[2];
  std::latch begun{3};  // both callbacks, and the test
  std::atomic<int> ended{0};
};

class Callbacks : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_.emplace(start());
    for (auto& one : sides_->all) one.redis.emplace(server_->url(), patient());
  }
  void TearDown() override {
    if (HasFailure()) {
      new std::shared_ptr<two_sides>(sides_);
      return;
    }
    sides_.reset();
    // A client that a callback ended is closed on a thread of its own, which asks the server.
    EXPECT_TRUE(support::library_threads_end());
  }

  // Each side holds what `lock_of` makes, and loses it. The callback of each ends the other.
  template <typename LockOf>
  void lose_both(LockOf lock_of) {
    for (int i = 0; i < 2; ++i) {
      auto& mine = sides_->all[i];
      mine.held.emplace(lock_of(*mine.redis, std::to_string(i)).acquire());
      mine.callback = std::make_unique<on_loss>(mine.held->lost(), [of = sides_.get(), i] {
        of->begun.arrive_and_wait();
        of->all[1 - i].held.reset();
        of->all[1 - i].redis.reset();
        ++of->ended;
      });
    }
    server_->command({"FLUSHALL"});
    for (auto& mine : sides_->all) expect_failure(mine.held->extend(10s), errc::lost, "");
    sides_->begun.arrive_and_wait();
  }

  [[nodiscard]] bool both_end() const {
    return eventually([&] { return sides_->ended == 2; });
  }

  std::optional<private_server> server_;
  std::shared_ptr<two_sides> sides_ = std::make_shared<two_sides>();
};
HOLDFAST_ON_EACH_SERVER(Callbacks);

TEST_P(Callbacks, OfTwoClientsMayCloseEachOther) {
  lose_both([](const client& redis, const std::string& name) { return redis.mutex(name); });
  EXPECT_TRUE(both_end());
}

TEST_P(Callbacks, OfTwoClientsMayEndEachOthersLeaseOfSeveralLocks) {
  lose_both([](const client& redis, const std::string& name) {
    return all_of({redis.mutex(name + "a"), redis.mutex(name + "b")});
  });
  EXPECT_TRUE(both_end());
}

TEST_P(Callbacks, OfTwoObservationsMayEndEachOther) {
  for (int i = 0; i < 2; ++i) {
    auto& mine = sides_->all[i];
    mine.observed.emplace(
        mine.redis->election("leader").observe([of = sides_.get(), i](const auto&) {
          of->begun.arrive_and_wait();
          of->all[1 - i].observed.reset();
          ++of->ended;
        }));
  }
  sides_->begun.arrive_and_wait();
  EXPECT_TRUE(both_end());
}

// Where it can, it waits for the call that is under way.
TEST_P(Callbacks, OfAnObservationHaveEndedWhenAnotherClientsCallbackHasEndedIt) {
  auto& observed = sides_->all[0].observed;
  std::latch may_end{2};
  std::atomic<bool> has_ended{false}, had_ended{false};
  const auto elected = sides_->all[0].redis->election("leader");
  observed.emplace(elected.observe([&](const auto&) {
    sides_->begun.arrive_and_wait();
    may_end.arrive_and_wait();
    has_ended = true;
    ++sides_->ended;
  }));
  const auto ends = sides_->all[1].redis->election("leader").observe([&](const auto&) {
    sides_->begun.arrive_and_wait();
    may_end.count_down();
    observed.reset();
    had_ended = has_ended.load();
    ++sides_->ended;
  });
  sides_->begun.arrive_and_wait();
  ASSERT_TRUE(both_end());
  EXPECT_TRUE(had_ended);
}

}  // namespace
}  // namespace holdfast::faults
