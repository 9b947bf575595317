// A lease that is not renewed: it ends by itself unless it is extended.
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  const auto import = redis.mutex("import", {.lease = 200ms, .renewal = holdfast::renewal::none});
  auto lease = import.acquire();
  const auto extended = lease.extend(500ms);  // at least so long from now; never shortens
  if (!extended || lease.remaining() < 250ms) return 1;
  std::cout << "extended\n";

  std::mutex mutex;
  std::condition_variable_any end;
  std::unique_lock guard{mutex};
  end.wait_for(guard, lease.lost(), 20s, [] { return false; });
  const auto released = lease.release();
  std::cout << (released ? "released" : released.error().what()) << '\n';
  return !released && released.error().reason() == holdfast::errc::lost ? 0 : 1;
}
