#include "runtime/timers.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "net/clock.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

struct reminder final : timed {
  void on_timer(monotonic_time) override { when_due(); }
  void on_shut_down() noexcept override {}
  void on_doubt(const slot_set&) override { ++told; }
  std::shared_ptr<void> pin() noexcept override { return self.lock(); }

  std::function<void()> when_due = [] {};
  int told = 0;
  std::weak_ptr<void> self;
};

class Timers : public testing::Test {
 protected:
  Timers() { one_->self = one_; }
  ~Timers() override { all_.disarm(*one_); }

  net::background_thread helper_;  // never started: the test attends itself
  timers all_{helper_};
  std::shared_ptr<reminder> one_ = std::make_shared<reminder>();
};

TEST_F(Timers, FireInTheirTimeAlsoWhenTheClientIsOld) {
  int fired = 0;
  one_->when_due = [&] { ++fired; };
  const auto now = net::now() + 24h * 366;
  all_.attend(0, now);
  all_.arm(*one_, now + 1s);
  all_.attend(0, now);
  EXPECT_EQ(fired, 0);
  all_.attend(0, now + 2s);
  EXPECT_EQ(fired, 1);
}

TEST_F(Timers, BearTheEndOfTime) {
  bool fired = false;
  one_->when_due = [&] { fired = true; };
  all_.arm(*one_, monotonic_time::max());
  EXPECT_GT(all_.wants(net::now()).at, net::now());
  all_.attend(0, net::now() + 24h * 366);
  EXPECT_FALSE(fired);
}

TEST_F(Timers, TellOfAnotherServerWhoIsArmed) {
  all_.arm(*one_, net::now() + 1h);
  EXPECT_TRUE(all_.is_any_armed());
  all_.tell_of_doubt({});
  EXPECT_EQ(one_->told, 1);
}

TEST_F(Timers, TellOfAnotherServerWhoseTimerFiresAtThatMoment) {
  all_.arm(*one_, net::now());
  bool counted = false;
  one_->when_due = [&] {
    counted = all_.is_any_armed();
    all_.tell_of_doubt({});
  };
  all_.attend(0, net::now() + 1s);
  EXPECT_EQ(one_->told, 1);
  EXPECT_TRUE(counted);
}

TEST_F(Timers, TellOnceWhoArmsItselfAgainWhileItFires) {
  all_.arm(*one_, net::now());
  one_->when_due = [&] {
    all_.arm(*one_, net::now() + 1h);
    all_.tell_of_doubt({});
  };
  all_.attend(0, net::now() + 1s);
  EXPECT_EQ(one_->told, 1);
}

TEST_F(Timers, TellNobodyWhoHasFired) {
  all_.arm(*one_, net::now());
  all_.attend(0, net::now() + 1s);
  EXPECT_FALSE(all_.is_any_armed());
  all_.tell_of_doubt({});
  EXPECT_EQ(one_->told, 0);
}

}  // namespace
}  // namespace holdfast::runtime
