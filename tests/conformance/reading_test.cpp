// Who reads the answers, and how he waits for them.
#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

// How often the background threads of this process have gone to sleep.
std::uint64_t sleeps_in_background() {
  std::uint64_t all = 0;
  for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream status{thread.path() / "status"};
    std::string word;
    bool ours = false;
    while (status >> word) {
      if (word == "Name:") ours = (status >> word) && word == "holdfast-io";
      std::uint64_t count = 0;
      if (ours && word == "voluntary_ctxt_switches:" && status >> count) all += count;
    }
  }
  return all;
}

// Of all threads of this process.
microseconds own_processor_time() { return microseconds{std::clock()}; }
static_assert(CLOCKS_PER_SEC == 1'000'000);  // as POSIX has it

using Reading = mutex_test;
HOLDFAST_ON_EACH_SERVER(Reading);

TEST_P(Reading, IsTheCallersOwnAgainWhenACrowdHasGone) {
  constexpr int pairs = 1000;
  const auto take_turns = [this](int number) {
    const auto own = redis().mutex("lock " + std::to_string(number));
    for (int i = 0; i < pairs; ++i) own.acquire().release().value();
  };
  std::atomic<int> busy{15};
  std::vector<std::thread> crowd;
  for (int i = busy; i > 0; --i) {
    crowd.emplace_back([&, i] {
      take_turns(i);
      --busy;
    });
  }
  // This one never pauses: between the crowd and it alone nothing is quiet.
  while (busy > 0) take_turns(0);
  const auto before = sleeps_in_background();
  take_turns(0);
  const auto after = sleeps_in_background();
  for (auto& one : crowd) one.join();
  EXPECT_LT(after - before, pairs / 4);
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
