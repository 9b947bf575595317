#include "redis/connection/request_queue.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <deque>

#include "redis/connection/questions_for_tests.hpp"

namespace holdfast::redis {
namespace {

class RequestQueue : public testing::Test {
 protected:
  RequestQueue() {
    for (auto* one : {&lazy_, &mine_, &also_mine_, &others_}) all_.push(*one);
  }

  net::waiter me_{net::waiter::kind::caller};
  net::waiter other_{net::waiter::kind::caller};
  question lazy_;
  question mine_{&me_};
  question also_mine_{&me_};
  question others_{&other_};
  request_queue all_;
};

TEST_F(RequestQueue, CountsWhatThreadsWaitFor) {
  EXPECT_EQ(all_.size(), 4U);
  EXPECT_EQ(all_.awaited(), 3U);
  EXPECT_EQ(all_.pop(), &lazy_);
  EXPECT_EQ(all_.awaited(), 3U);
  EXPECT_EQ(all_.pop(), &mine_);
  EXPECT_EQ(all_.awaited(), 2U);
}

TEST_F(RequestQueue, ForgetsWhoLeaves) {
  all_.forget(me_);
  EXPECT_EQ(all_.awaited(), 1U);
  all_.forget(me_);
  EXPECT_EQ(all_.awaited(), 1U);
  while (!all_.empty()) all_.pop();
  EXPECT_EQ(all_.awaited(), 0U);
}

// The thread that leaves may have asked first, last, or all of it.
TEST_F(RequestQueue, GoesOnAfterSomebodyHasLeft) {
  for (auto* leaving : {&other_, &me_}) {
    all_.forget(*leaving);
    question next{&me_};
    question last{&other_};
    all_.push(next);
    all_.push(last);
    EXPECT_EQ(all_.awaited(), leaving == &other_ ? 4U : 2U);
    while (all_.size() > 2) all_.pop();
    EXPECT_EQ(all_.awaited(), 2U);
    EXPECT_EQ(all_.pop(), &next);
    EXPECT_EQ(all_.awaited(), 1U);
    EXPECT_EQ(all_.pop(), &last);
    EXPECT_EQ(all_.awaited(), 0U);
    for (auto* one : {&lazy_, &mine_, &also_mine_, &others_}) all_.push(*one);
  }
}

TEST_F(RequestQueue, TakesTheCountAlong) {
  EXPECT_EQ(all_.take().awaited(), 3U);
  EXPECT_EQ(all_.awaited(), 0U);
}

// A server that hangs has as many unanswered requests as attempts were given up. Each that gives up
// would look through all of them: here 100 million steps, and to fill the queue took 100,000.
TEST(RequestQueueOfAServerThatHangs, IsNotLookedThroughByWhoeverGivesUp) {
  request_queue all;
  std::deque<question> given_up(100'000);
  const auto began = std::clock();  // processor time
  for (auto& one : given_up) all.push(one);
  const auto filled = std::clock();
  for (int i = 0; i < 1'000; ++i) {
    net::waiter impatient{net::waiter::kind::caller};
    all.forget(impatient);
  }
  EXPECT_LT(std::clock() - filled, 20 * (filled - began + 1));
}

}  // namespace
}  // namespace holdfast::redis
