// Who reads the answers: seen in how often the client's own thread is woken.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

// How often this process's background threads have gone to sleep and were woken.
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

}  // namespace
}  // namespace holdfast::conformance
