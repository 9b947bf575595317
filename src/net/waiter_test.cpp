#include "net/waiter.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <memory>
#include <thread>

namespace holdfast::net {
namespace {

using kind = waiter::kind;

TEST(Waiter, DoesNotSleepWhenDone) {
  waiter w(kind::caller);
  w.done();
  w.sleep();
  EXPECT_TRUE(w.is_finished());
}

TEST(Waiter, KeepsARoleThatCameTogetherWithTheEnd) {
  waiter w(kind::caller);
  ASSERT_TRUE(w.offer_role());
  w.done();
  w.sleep();
  EXPECT_TRUE(w.is_finished());
  EXPECT_TRUE(w.was_offered_role());
}

TEST(Waiter, IsDoneAtItsDeadline) {
  waiter w(kind::caller);
  const auto deadline = now() + milliseconds{20};
  w.set_deadline(deadline);
  EXPECT_GT(w.time_left(), nanoseconds{0});
  EXPECT_FALSE(w.is_finished());
  w.sleep();
  EXPECT_TRUE(w.is_finished());
  EXPECT_GE(now(), deadline);
  EXPECT_FALSE(w.offer_role());
}

TEST(Waiter, RefusesTheRoleWhenDone) {
  waiter w(kind::caller);
  w.done();
  EXPECT_FALSE(w.offer_role());
}

TEST(Waiter, TakesTheRoleAsExecutorOnlyWhileAsleep) {
  waiter w(kind::executor);
  EXPECT_FALSE(w.offer_role());
  std::thread sleeper([&] { w.sleep(); });
  while (!w.offer_role()) std::this_thread::yield();
  sleeper.join();
  EXPECT_TRUE(w.was_offered_role());
}

TEST(Waiter, InterruptsItsThreadInPoll) {
  waiter w(kind::caller);
  wake_up interrupt;
  ASSERT_TRUE(w.start_reading(interrupt));
  w.done();
  std::uint64_t count = 0;
  EXPECT_EQ(::read(interrupt.fd(), &count, sizeof count), static_cast<ssize_t>(sizeof count));
  w.stop_reading();
  EXPECT_FALSE(w.start_reading(interrupt));
}

TEST(Waiter, InterruptsItsThreadWhereItPollsNow) {
  waiter w(kind::caller);
  wake_up before, now;
  ASSERT_TRUE(w.start_reading(before));
  w.stop_reading();
  ASSERT_TRUE(w.offer_role());
  ASSERT_TRUE(w.start_reading(now));
  w.done();
  std::uint64_t count = 0;
  EXPECT_EQ(::read(before.fd(), &count, sizeof count), -1);
  EXPECT_EQ(::read(now.fd(), &count, sizeof count), static_cast<ssize_t>(sizeof count));
  w.stop_reading();
  EXPECT_TRUE(w.is_finished());
  EXPECT_TRUE(w.was_offered_role());
}

// A thread that interrupts it must not touch it afterwards. ThreadSanitizer sees if one does.
TEST(Waiter, MayLeaveAsSoonAsItIsDone) {
  wake_up interrupt;
  for (int i = 0; i < 500; ++i) {
    auto w = std::make_unique<waiter>(kind::caller);
    w->start_reading(interrupt);
    std::thread other([&one = *w] { one.done(); });
    while (!w->is_finished()) std::this_thread::yield();
    w.reset();
    other.join();
  }
}

// Ping-pong between two threads: a lost wake-up would hang it.
TEST(Waiter, LosesNoWakeUp) {
  for (int i = 0; i < 2000; ++i) {
    waiter w(kind::caller);
    std::atomic<bool> go{false};
    std::thread other([&] {
      go.wait(false);
      w.done();
    });
    go.store(true);
    go.notify_one();
    w.sleep();
    other.join();
  }
}

}  // namespace
}  // namespace holdfast::net
