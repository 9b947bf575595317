#include "redis/connection/reconnect_pauses.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

constexpr monotonic_time start{milliseconds{100'000}};

class ReconnectPauses : public testing::Test {
 protected:
  // After a failure now.
  milliseconds pause(bool for_good = false) {
    pauses_.on_not_connected(start, for_good);
    return std::chrono::duration_cast<milliseconds>(pauses_.next_attempt() - start);
  }
  // After a connection that lasted so long, and breaks now.
  milliseconds pause_after(milliseconds lasted) {
    pauses_.on_connected(start - lasted);
    pauses_.on_broken(start);
    return std::chrono::duration_cast<milliseconds>(pauses_.next_attempt() - start);
  }
  void grow() {
    for (int i = 0; i < 10; ++i) pause();
  }

  reconnect_pauses pauses_{false};
};

TEST_F(ReconnectPauses, GrowUpToALimit) {
  for (const int expected : {0, 10, 20, 40, 80, 160, 320, 500, 500}) {
    EXPECT_EQ(pause(), milliseconds{expected});
  }
}

TEST(ReconnectPausesInACluster, StayShort) {
  reconnect_pauses pauses(true);
  for (int i = 0; i < 10; ++i) pauses.on_not_connected(start, false);
  EXPECT_EQ(pauses.next_attempt(), start + milliseconds{100});
}

TEST_F(ReconnectPauses, EndWithAnAnswer) {
  grow();
  pauses_.on_connected(start);
  pauses_.on_answer();
  EXPECT_EQ(pause_after(milliseconds{1}), milliseconds{0});
  EXPECT_EQ(pause(), milliseconds{10});
}

// As for a server that lets clients in and hangs up at once.
TEST_F(ReconnectPauses, DoNotEndWithALogInAlone) {
  grow();
  EXPECT_EQ(pause_after(milliseconds{400}), milliseconds{500});
}

TEST_F(ReconnectPauses, EndWithAConnectionThatWasGoodForAWhile) {
  grow();
  EXPECT_EQ(pause_after(milliseconds{501}), milliseconds{0});
}

TEST_F(ReconnectPauses, AreLongAfterARefusal) { EXPECT_EQ(pause(true), milliseconds{1000}); }

TEST_F(ReconnectPauses, TellWhetherAConnectionHasLasted) {
  pauses_.on_connected(start);
  EXPECT_FALSE(pauses_.has_lasted(milliseconds{500}, start + milliseconds{499}));
  EXPECT_TRUE(pauses_.has_lasted(milliseconds{500}, start + milliseconds{500}));
}

}  // namespace
}  // namespace holdfast::redis
