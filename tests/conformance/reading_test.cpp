// The thread that reads the answers, and how it waits for them.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

// What the system counts for the background threads of this process: the number that stands behind
// `before` in a file of theirs, or at its beginning.
std::uint64_t counted_in_background(const char* file, std::string_view before = {}) {
  std::uint64_t all = 0;
  for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::string word;
    if (!(std::ifstream{thread.path() / "comm"} >> word) || word != "holdfast-io") continue;
    std::ifstream counts{thread.path() / file};
    while (!before.empty() && counts >> word && word != before) {
    }
    std::uint64_t count = 0;
    if (counts >> count) all += count;
  }
  return all;
}

// How often they have gone to sleep.
std::uint64_t sleeps_in_background() {
  return counted_in_background("status", "voluntary_ctxt_switches:");
}

nanoseconds processor_time_in_background() {
  return nanoseconds{counted_in_background("schedstat")};
}

void stay_on_this_core() {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(sched_getcpu(), &only);
  ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
}

// Of all threads of this process.
microseconds own_processor_time() { return microseconds{std::clock()}; }
static_assert(CLOCKS_PER_SEC == 1'000'000);  // as POSIX has it

using Reading = mutex_test;
HOLDFAST_ON_EACH_SERVER(Reading);

// On a busy machine a caller that does not get its turn in time is read for, and then for a while.
// If the background thread never left off, no part would be without that.
TEST_P(Reading, IsTheCallersOwnAgainWhenACrowdHasGone) {
  constexpr int parts = 10, pairs = 100;
  const auto take_turns = [this](int number) {
    const auto own = redis().mutex("lock " + std::to_string(number));
    for (int i = 0; i < pairs; ++i) own.acquire().release().value();
  };
  const auto sleeps_meanwhile = [&] {
    const auto before = sleeps_in_background();
    take_turns(0);
    return sleeps_in_background() - before;
  };
  std::atomic<int> busy{15};
  std::vector<std::thread> crowd;
  for (int i = busy; i > 0; --i) {
    crowd.emplace_back([&, i] {
      for (int part = 0; part < 2; ++part) take_turns(i);
      --busy;
    });
  }
  // This one never pauses: between the crowd and it alone nothing is quiet.
  while (busy > 0) take_turns(0);
  auto fewest = sleeps_meanwhile();
  for (int part = 1; part < parts; ++part) fewest = std::min(fewest, sleeps_meanwhile());
  for (auto& one : crowd) one.join();
  EXPECT_LT(fewest, pairs / 2);
}

// On two cores a background thread that reads for 8 threads is faster; on one it only takes time.
TEST_P(Reading, IsTheCallersOwnWhereTheServerHasTheirCore) {
  HOLDFAST_NEEDS_ONE_SERVER("it is bound to a core");
  std::thread on_one_core([this] {
    stay_on_this_core();  // and so does all that is started from here
    auto neighbour = start({.tcp = true});
    const client redis{neighbour.tcp_url()};
    const auto work = [&redis](int number, int pairs) {
      const auto own = redis.mutex("lock " + std::to_string(number));
      for (int i = 0; i < pairs; ++i) own.acquire().release().value();
    };
    work(0, 100);  // by now it is known
    const auto before = own_processor_time();
    const auto before_in_background = processor_time_in_background();
    std::vector<std::thread> eight;
    for (int i = 0; i < 8; ++i) eight.emplace_back(work, i, 500);
    for (auto& one : eight) one.join();
    const auto in_background = processor_time_in_background() - before_in_background;
    EXPECT_LT(in_background, (own_processor_time() - before) / 8);
  });
  on_one_core.join();
}

// A thread that looks for its answer again and again does so for client_options::spin.
TEST_P(Reading, LooksForAShortTimeAndThenSleeps) {
  auto stuck = start();
  for (const auto spin : {0us, 50us}) {
    const client patient{stuck.url(), {.response_timeout = 1min, .spin = spin}};
    const auto wanted = patient.mutex("a");
    wanted.acquire().release().value();
    stuck.freeze();
    const auto before = own_processor_time();
    expect_reason(wanted.try_acquire({.timeout = 500ms}), errc::timed_out);
    EXPECT_LT(own_processor_time() - before, 100ms) << spin.count() << " us";
    stuck.thaw();
  }
}

}  // namespace
}  // namespace holdfast::conformance
