#include "redis/request.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

struct question final : request {
  explicit question(waiter* who = nullptr) { set_sleeper(who); }
  void write(resp::writer&, monotonic_time) override {}
  void on_reply(resp::value&) override {}
  void on_failed(fate, const breakdown&) override {}
};

class RequestQueue : public testing::Test {
 protected:
  RequestQueue() {
    for (auto* one : {&lazy_, &mine_, &also_mine_, &others_}) all_.push(*one);
  }

  waiter me_{waiter::kind::caller};
  waiter other_{waiter::kind::caller};
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

TEST_F(RequestQueue, TakesTheCountAlong) {
  EXPECT_EQ(all_.take().awaited(), 3U);
  EXPECT_EQ(all_.awaited(), 0U);
}

}  // namespace
}  // namespace holdfast::redis
