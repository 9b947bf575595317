// Two threads take two locks in opposite orders: one is told, gives back what it has, and tries
// again.
#include <atomic>
#include <iostream>
#include <latch>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv), {.detect_deadlocks = true}};
  std::atomic<int> told = 0, done = 0;
  std::latch both_have_one{2};
  // [snippet deadlock]
  const auto use_both = [&](const holdfast::lock& first, const holdfast::lock& second) {
    for (bool again = false;; again = true) {
      const auto one = first.acquire();
      if (!again) both_have_one.arrive_and_wait();
      const auto other = second.try_acquire({.timeout = std::chrono::seconds{30}});
      if (other) return ++done;
      if (other.error().reason() != holdfast::errc::would_deadlock) throw other.error();
      ++told;  // and give back the one that we have
    }
  };
  // [snippet end]
  {
    const auto a = redis.mutex("a"), b = redis.mutex("b");
    const std::jthread here{use_both, a, b}, there{use_both, b, a};
  }
  std::cout << done << " done, " << told << " told\n";
  return done == 2 ? 0 : 1;
}
