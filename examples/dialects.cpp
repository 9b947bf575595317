// A lock that a Java service and a Python job take too, each with its own library.
#include <iostream>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  using holdfast::dialect;

  // [snippet dialects]
  // What Java calls redisson.getLock("orders"), and Python redis.lock("report").
  const auto orders = redis.mutex("orders", {}, dialect::redisson());
  const auto report = redis.mutex("report", {}, dialect::redis_py());

  // Locks written by hand: SET job:nightly <32 digits> NX PX 60000.
  using namespace std::chrono_literals;
  const auto jobs = dialect::token({.key_prefix = "job:", .lease = 60s, .retry_interval = 200ms});
  const auto nightly = redis.mutex("nightly", {}, jobs);
  // [snippet end]

  const auto first = orders.acquire();
  const auto second = report.acquire();
  const auto third = nightly.acquire();
  const auto status = holdfast::inspector{redis}.status("nightly", jobs);
  std::cout << "token: " << first.token().to_string() << ", nightly "
            << (status.state == holdfast::lock_state::held ? "held" : "free") << " by "
            << status.owner.id.size() << " digits shown\n";
  return second.held() && third.held() ? 0 : 1;
}
