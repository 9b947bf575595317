// A time service moves the clock of a machine to another time by letting it run faster or slower.
#include <poll.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "faults/faulty_server.hpp"
#include "support/clock_shim.hpp"

namespace {
// By so much the length of a tick is changed, as chrony does it: 100 millionths each.
std::atomic<long> tick_is_longer_by{0};
}  // namespace

// In the place of the C library's.
extern "C" int adjtimex(timex* said) noexcept {
  const long state = ::syscall(SYS_adjtimex, said);
  said->tick = 10'000 + tick_is_longer_by.load();
  said->freq = 0;
  said->status = 0;
  return static_cast<int>(state < 0 ? 0 : state);
}

namespace holdfast::faults {
namespace {

using severity = finding::severity;

class ClockRate : public fault_test {
 protected:
  ~ClockRate() override { tick_is_longer_by = 0; }

  static std::vector<finding> speeds(const std::string& url) {
    auto all = inspector{client{url, patient()}}.diagnose();
    std::erase_if(all, [](const finding& found) { return found.check != "clock speed"; });
    return all;
  }
};
HOLDFAST_ON_EACH_SERVER(ClockRate);

TEST_P(ClockRate, LeasesAreCountedOnForLessWhileOurClockIsSlewed) {
  const auto server = start();
  const client redis{server.url()};
  const auto usual = 60s - 600ms;
  auto held = redis.mutex("a", {.lease = 60s}).acquire();
  auto renewed = redis.mutex("b", {.lease = 3s}).acquire();
  EXPECT_GT(held.remaining(), usual - 1s);
  for (const long tick : {-833L, 833L}) {
    tick_is_longer_by = tick;
    // It is looked at once a second.
    EXPECT_TRUE(eventually([&] {
      EXPECT_TRUE(held.extend(60s));
      const auto other = redis.mutex("c", {.lease = 60s}).acquire();
      return other.remaining() < 60s - 5s;
    }));
    // Of 3 s less than 1 % was taken off, and now 9 %.
    EXPECT_TRUE(eventually([&] { return renewed.remaining() < 3s; }));
    tick_is_longer_by = 0;
    EXPECT_TRUE(eventually([&] {
      const auto other = redis.mutex("c", {.lease = 60s}).acquire();
      return other.remaining() > usual - 1s;
    }));
  }
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(renewed.held());
}

TEST_P(ClockRate, DoctorWarnsOfOurs) {
  const auto server = start();
  auto said = speeds(server.url());
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].level, severity::ok) << said[0].detail;
  tick_is_longer_by = -833;
  said = speeds(server.url());
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].level, severity::warning);
  EXPECT_THAT(said[0].detail, ::testing::HasSubstr("-8.33 %"));
  EXPECT_THAT(said[0].remedy, ::testing::HasSubstr("maxslewrate"));
}

TEST_P(ClockRate, DoctorWarnsOfTheServers) {
  support::clock_shim clock;
  const auto server = start({.environment = clock.environment()});
  std::atomic<bool> is_over{false};
  std::thread slew([&] {
    const auto start = net::now();
    while (!is_over) {
      clock.set((net::now() - start) / 12);
      ::poll(nullptr, 0, 1);
    }
  });
  const auto said = speeds(server.url());
  is_over = true;
  slew.join();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[1].level, severity::warning);
  EXPECT_THAT(said[1].detail, ::testing::HasSubstr("faster than this machine's"));
}

}  // namespace
}  // namespace holdfast::faults
