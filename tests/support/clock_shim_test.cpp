#include "support/clock_shim.hpp"

#include <gtest/gtest.h>
#include <sys/time.h>

#include "support/each_server.hpp"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;

class ClockShim : public server_test {
 protected:
  clock_shim clock_;
};
HOLDFAST_ON_EACH_SERVER(ClockShim);

std::chrono::seconds server_is_ahead_by(const private_server& server) {
  timeval ours{};
  ::gettimeofday(&ours, nullptr);
  const auto theirs = std::stoll(server.command({"TIME"}).items.at(0).text);
  return std::chrono::seconds{theirs - ours.tv_sec};
}

TEST_P(ClockShim, ShiftsTheServersClockBothWays) {
  const auto server = start({.environment = clock_.environment()});
  EXPECT_NEAR(server_is_ahead_by(server).count(), 0, 5);
  clock_.set(1h);
  EXPECT_NEAR(server_is_ahead_by(server).count(), 3600, 5);
  clock_.set(-1h);
  EXPECT_NEAR(server_is_ahead_by(server).count(), -3600, 5);
}

TEST_P(ClockShim, MakesKeysExpire) {
  const auto server = start({.environment = clock_.environment()});
  server.command({"SET", "a", "b", "PX", "60000"});
  clock_.set(50s);
  EXPECT_EQ(server.command({"GET", "a"}).text, "b");
  clock_.set(61s);
  EXPECT_EQ(server.command({"GET", "a"}).kind, resp::type::null);
}

TEST_P(ClockShim, StandsStillWhereItIsStopped) {
  const auto server = start({.environment = clock_.environment()});
  const auto said = [&] {
    const auto answer = server.command({"TIME"});
    return answer.items.at(0).text + " " + answer.items.at(1).text;
  };
  clock_.stop_at(1'576'800'000s + 7us);
  EXPECT_EQ(said(), "1576800000 7");
  EXPECT_EQ(said(), "1576800000 7");
  clock_.set(0s);
  EXPECT_NEAR(server_is_ahead_by(server).count(), 0, 5);
}

TEST_P(ClockShim, LeavesOtherServersAlone) {
  const auto shifted = start({.environment = clock_.environment()});
  const auto other = start();
  clock_.set(1h);
  EXPECT_NEAR(server_is_ahead_by(other).count(), 0, 5);
}

}  // namespace
}  // namespace holdfast::support
