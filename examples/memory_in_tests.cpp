// A test that needs no server: a program loses its lock.
#include <chrono>
#include <iostream>
#include <string>

#include <holdfast/holdfast.hpp>

namespace {

// The tested code: works under the lock as long as it has it.
std::string work(const holdfast::client& redis) {
  const auto held = redis.mutex("orders", {.lease = std::chrono::milliseconds{500}}).acquire();
  holdfast::inspector{redis}.break_lock("orders", "to see what the work does");
  const auto lost = held.lost();
  while (held.held() && !lost.stop_requested()) continue;
  return "stopped";
}

}  // namespace

int main() {
  // [snippet memory]
  const holdfast::client one{"memory:orders test"};
  const holdfast::client other{"memory:orders test"};  // as another process would be
  const auto held = one.mutex("orders").acquire();
  const auto refused = other.mutex("orders").try_acquire();
  // [snippet end]
  const bool excludes = !refused && refused.error().reason() == holdfast::errc::busy;
  std::cout << (excludes ? "busy" : "both") << ", " << work(holdfast::client{"memory:another test"})
            << '\n';
  return 0;
}
