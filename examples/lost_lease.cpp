// Work that stops when its lease is lost. Here an operator breaks the lock.
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <stop_token>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

using namespace std::chrono_literals;

namespace {

// Work in steps, with pauses that a lost lease ends at once.
int rebuild(std::stop_token lost) {
  std::mutex mutex;
  std::condition_variable_any pause;
  std::unique_lock guard{mutex};
  int steps = 0;
  while (!lost.stop_requested() && steps < 10'000) {
    ++steps;
    pause.wait_for(guard, lost, 10ms, [] { return false; });
  }
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  const auto lease = redis.mutex("rebuild", {.lease = 300ms}).acquire();

  holdfast::inspector{redis}.break_lock("rebuild", "to show what happens");
  const int steps = rebuild(lease.lost());  // a std::stop_token; fires before the lease can end
  if (!lease.held()) std::cout << "the lock was lost, stopped after " << steps << " steps\n";
  return lease.held() ? 1 : 0;
}
